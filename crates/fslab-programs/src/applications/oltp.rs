//! The job `oltp`, after filebench: many readers, some writers with O_DSYNC, and a log; each is
//! limited by the progress of the others.
//!
//! ```text
//!     reader   reads a record of a data file; at most two batches ahead of writers and log
//!     writer   after every `reads_per_batch` reads of all, writes `batch` records, one by one
//!     log      after every `reads_per_log` reads of all, writes a record of the log
//! ```
//!
//! The original's writers issue a batch at once by aio and burn processor time in between; here
//! they write one record after the other and burn none.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use fslab_engine::{
    EngineError, EngineKind, Filler, OperationKind, Random, RunContext, ThreadRecorder, mix,
    run_recorded_threads,
};
use fslab_job::{Finished, Job, PhasePart, RunError, ensure_inside, synthetic_application};
use fslab_model::{Bytes, Need};
use fslab_sys::{Descriptors, flag_bits, sync_file_system};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flows::{EngineResult, io_error};
use super::oltp_progress::{Goal, Progress};

/// Bytes per write(2) while files are created.
const FILL_BYTES: usize = 1 << 20;
/// Size of the original's data files.
const FILE_SIZE: u64 = 10 << 20;
const THREADS_MAX: u32 = 4096;
/// Names have four digits.
const DATA_FILES_MAX: u32 = 10_000;

/// A database's load after filebench's oltp.f: readers, writers with O_DSYNC and a log, each
/// limited by the progress of the others.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OltpParameters {
    /// The directory of the files, below the root.
    directory: PathBuf,
    /// Number of data files.
    #[schemars(range(min = 1, max = DATA_FILES_MAX))]
    data_files: u32,
    /// Size of each data file; 0 for the original's 10 MiB, or less if it does not fit.
    file_size: Bytes,
    /// Size of the log; 0 for that of a data file.
    log_size: Bytes,
    /// Bytes of each read and write of data.
    #[schemars(extend("minimum" = 1))]
    record: Bytes,
    /// Bytes of each write to the log.
    #[schemars(extend("minimum" = 1))]
    log_record: Bytes,
    /// Reading threads; readers and writers together are at most 4096.
    #[schemars(range(min = 1, max = THREADS_MAX))]
    readers: u32,
    /// Writing threads.
    #[schemars(range(max = THREADS_MAX))]
    writers: u32,
    /// Reads of all readers together.
    #[schemars(range(min = 1))]
    operations: u64,
    /// Records per batch of a writer.
    #[schemars(range(min = 1))]
    batch: u64,
    /// Reads of all readers between two batches.
    #[schemars(range(min = 1))]
    reads_per_batch: u64,
    /// Reads of all readers between two writes to the log.
    #[schemars(range(min = 1))]
    reads_per_log: u64,
    /// What the phase does.
    part: PhasePart,
}

impl Default for OltpParameters {
    fn default() -> Self {
        Self {
            directory: "oltp".into(),
            data_files: 10,
            file_size: Bytes(0),
            log_size: Bytes(0),
            record: Bytes::kib(2),
            log_record: Bytes::kib(256),
            readers: 200,
            writers: 10,
            operations: 10_000,
            batch: 100,
            reads_per_batch: 1_000,
            reads_per_log: 3_200,
            part: PhasePart::default(),
        }
    }
}

impl Job for OltpParameters {
    const NAME: &'static str = "oltp";

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        let record = self.record.0;
        if self.file_size.0 == 0 {
            let fitting = size.0 / 4 / (u64::from(self.data_files) + 1);
            let bytes = FILE_SIZE.min(fitting);
            self.file_size = Bytes(bytes - bytes % record);
        }
        if self.log_size.0 == 0 {
            self.log_size = self.file_size;
        }
        let least = [
            ("file_size", self.file_size.0, record),
            ("log_size", self.log_size.0, self.log_record.0),
        ];
        if let Some((name, value, least)) = least.iter().find(|(_, value, least)| value < least) {
            return Err(format!("{name} = {value}; at least {least}"));
        }
        if self.readers.saturating_add(self.writers) > THREADS_MAX {
            return Err(format!(
                "readers = {} and writers = {}; together they must be at most {THREADS_MAX}",
                self.readers, self.writers
            ));
        }
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        let data = self.file_size.0.saturating_mul(u64::from(self.data_files));
        Bytes(data.saturating_add(self.log_size.0))
    }

    fn data_files(&self, _ranks: u32) -> Option<Vec<PathBuf>> {
        let data =
            (0..self.data_files).map(|number| self.directory.join(format!("data{number:04}")));
        Some(data.collect())
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(self.file_size.max(self.log_size))]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        serve_transactions(self, context)
    }
}

/// Runs one phase.
pub(crate) fn serve_transactions(
    parameters: &OltpParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    let goal = Goal {
        batches: parameters.operations / parameters.reads_per_batch,
        logs: parameters.operations / parameters.reads_per_log,
        reads_per_batch: parameters.reads_per_batch,
        reads_per_log: parameters.reads_per_log,
    };
    if context.engine == EngineKind::Null {
        let writes = goal.batches * parameters.batch * u64::from(parameters.writers);
        let operations = parameters.operations + writes + goal.logs;
        return Ok(synthetic_application(
            context.seed,
            operations,
            operations * parameters.record.0,
        ));
    }
    let base = context.root.join(&parameters.directory);
    let job = OltpJob {
        parameters,
        context,
        base: &base,
        goal,
    };
    if parameters.part != PhasePart::Play {
        let made = job.make()?;
        if parameters.part == PhasePart::Prepare {
            return Ok(made.into());
        }
    }
    let mut finished = Finished::from(job.run()?);
    let note = "writers write one record after the other, where the original has 100 in flight";
    finished.notes.push(note.into());
    Ok(finished)
}

/// State shared by all threads.
struct OltpJob<'a> {
    parameters: &'a OltpParameters,
    context: &'a RunContext,
    base: &'a Path,
    goal: Goal,
}

/// The role of a thread.
enum Role {
    Log(LogState),
    Writer(WriterState),
    Reader(ReaderState),
}

struct LogState {
    kind: OperationKind,
    filler: Filler,
}

struct WriterState {
    number: u32,
    kind: OperationKind,
    filler: Filler,
    random: Random,
}

struct ReaderState {
    kind: OperationKind,
    buffer: Vec<u8>,
    random: Random,
}

/// What the work of a thread needs besides its role.
struct Work<'a> {
    files: &'a Descriptors,
    progress: &'a Progress,
    book: &'a mut ThreadRecorder,
    must_stop: &'a dyn Fn() -> bool,
}

impl OltpJob<'_> {
    fn names(&self) -> Vec<CString> {
        let data = (0..self.parameters.data_files).map(|number| format!("data{number:04}"));
        data.chain(["log".to_owned()])
            .map(|name| CString::new(name).expect("names hold letters and digits"))
            .collect()
    }

    fn make(&self) -> EngineResult<fslab_engine::Measured> {
        let base = self.base;
        std::fs::create_dir(base).map_err(|e| EngineError::io("make directory", base, e))?;
        let files = Descriptors::below(base, 1).map_err(|e| EngineError::io("open", base, e))?;
        let mut filler = Filler::new(self.context.seed, FILL_BYTES);
        let mut book = ThreadRecorder::new(self.context);
        let kind = book.kind("write");
        let used = fslab_sys::ResourceUse::of_process();
        book.begin(ThreadRecorder::now_ns());
        for (number, name) in (0..).zip(self.names()) {
            let failed = |error| io_error("create", base, &name, error);
            let is_log = number == u64::from(self.parameters.data_files);
            let size = if is_log {
                self.parameters.log_size
            } else {
                self.parameters.file_size
            };
            files
                .open(Some(0), &name, super::flows::CREATE, 0o600)
                .map_err(failed)?;
            let mut offset = 0;
            while offset < size.0 {
                if self.context.stop.is_raised() {
                    return Err(EngineError::interrupted(base));
                }
                let length = (size.0 - offset).min(FILL_BYTES as u64) as usize;
                let start_ns = ThreadRecorder::now_ns();
                let data = filler.bytes(number, offset, length);
                let count = files.write(0, data, None).map_err(failed)?;
                book.operation(kind, start_ns, ThreadRecorder::now_ns(), count);
                offset += count;
            }
            files.close(0).map_err(failed)?;
        }
        sync_file_system(base).map_err(|error| EngineError::io("sync", base, error))?;
        let used = fslab_sys::ResourceUse::of_process().since(used);
        Ok(ThreadRecorder::measured(vec![book], used, true))
    }

    /// Opens the data files for reading, then for writing, then the log. All threads share them and
    /// use given offsets.
    fn open(&self) -> EngineResult<Descriptors> {
        let count = self.parameters.data_files;
        let files = Descriptors::below(self.base, 2 * count as usize + 1)
            .map_err(|error| EngineError::io("open", self.base, error))?;
        let durable = flag_bits("O_WRONLY|O_DSYNC").unwrap_or_default();
        for (number, name) in (0..).zip(self.names()) {
            let failed = |error| io_error("open", self.base, &name, error);
            if number < count {
                files.open(Some(number), &name, 0, 0).map_err(failed)?;
            }
            files
                .open(Some(count + number), &name, durable, 0)
                .map_err(failed)?;
        }
        Ok(files)
    }

    fn run(&self) -> EngineResult<fslab_engine::Measured> {
        let parameters = self.parameters;
        let files = self.open()?;
        let progress = Progress::new(self.goal, parameters.writers);
        let prepare = |thread: u32, book: &mut ThreadRecorder| {
            let seed = mix(self.context.seed, u64::from(thread));
            let record = parameters.record.0 as usize;
            Ok(match thread {
                0 => Role::Log(LogState {
                    kind: book.kind("log-write"),
                    filler: Filler::new(seed, parameters.log_record.0 as usize),
                }),
                number if number <= parameters.writers => Role::Writer(WriterState {
                    number: number - 1,
                    kind: book.kind("write"),
                    filler: Filler::new(seed, record),
                    random: Random::new(seed, 1),
                }),
                _ => Role::Reader(ReaderState {
                    kind: book.kind("read"),
                    buffer: vec![0; record],
                    random: Random::new(seed, 2),
                }),
            })
        };
        let work = |role: Role, book: &mut ThreadRecorder, must_stop: &dyn Fn() -> bool| {
            let mut work = Work {
                files: &files,
                progress: &progress,
                book,
                must_stop,
            };
            match role {
                Role::Log(state) => self.log(&mut work, state),
                Role::Writer(state) => self.write(&mut work, state),
                Role::Reader(state) => self.read(&mut work, state),
            }
        };
        let threads = 1 + parameters.writers + parameters.readers;
        run_recorded_threads(self.context, threads, prepare, work)
    }

    fn log(&self, work: &mut Work<'_>, mut state: LogState) -> EngineResult<()> {
        let record = self.parameters.log_record.0;
        let records = self.parameters.log_size.0 / record;
        for turn in 0..self.goal.logs {
            let reads = (turn + 1) * self.goal.reads_per_log;
            let awaited = work.progress.await_reads(reads, work.must_stop);
            awaited.ok_or_else(|| EngineError::interrupted(self.base))?;
            let offset = turn % records * record;
            let data = state.filler.bytes(turn, offset, record as usize);
            let file = 2 * self.parameters.data_files;
            let start_ns = ThreadRecorder::now_ns();
            let done = work.files.write(file, data, Some(offset));
            let end_ns = ThreadRecorder::now_ns();
            let count = done.map_err(|error| io_error("write", self.base, c"log", error))?;
            work.book.operation(state.kind, start_ns, end_ns, count);
            work.progress.log_written(turn + 1);
        }
        Ok(())
    }

    fn write(&self, work: &mut Work<'_>, mut state: WriterState) -> EngineResult<()> {
        let parameters = self.parameters;
        let record = parameters.record.0 as usize;
        for batch in 0..self.goal.batches {
            let reads = (batch + 1) * self.goal.reads_per_batch;
            let awaited = work.progress.await_reads(reads, work.must_stop);
            awaited.ok_or_else(|| EngineError::interrupted(self.base))?;
            for turn in 0..parameters.batch {
                if (work.must_stop)() {
                    return Err(EngineError::interrupted(self.base));
                }
                let (file, offset) = self.any(&mut state.random);
                let data = state.filler.bytes(batch << 32 | turn, offset, record);
                let file = parameters.data_files + file;
                let start_ns = ThreadRecorder::now_ns();
                let done = work.files.write(file, data, Some(offset));
                let end_ns = ThreadRecorder::now_ns();
                let count = done.map_err(|error| io_error("write", self.base, c"data", error))?;
                work.book.operation(state.kind, start_ns, end_ns, count);
            }
            work.progress.written(state.number, batch + 1);
        }
        Ok(())
    }

    fn read(&self, work: &mut Work<'_>, mut state: ReaderState) -> EngineResult<()> {
        loop {
            let ticket = work.progress.next_ticket();
            if ticket >= self.parameters.operations {
                return Ok(());
            }
            let is_stopped = (work.must_stop)();
            if is_stopped || work.progress.await_turn(ticket, work.must_stop).is_none() {
                return Err(EngineError::interrupted(self.base));
            }
            let (file, offset) = self.any(&mut state.random);
            let start_ns = ThreadRecorder::now_ns();
            let done = work.files.read(file, &mut state.buffer, Some(offset));
            let end_ns = ThreadRecorder::now_ns();
            let count = done.map_err(|error| io_error("read", self.base, c"data", error))?;
            work.book.operation(state.kind, start_ns, end_ns, count);
            work.progress.read();
        }
    }

    /// A random record of a random data file: file number and offset.
    fn any(&self, random: &mut Random) -> (u32, u64) {
        let (files, record) = (self.parameters.data_files, self.parameters.record.0);
        let file = u32::try_from(random.below(u64::from(files))).expect("below a number of files");
        let records = self.parameters.file_size.0 / record;
        (file, random.below(records) * record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_writers_and_the_log_keep_their_proportions() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut parameters = OltpParameters {
            data_files: 3,
            file_size: Bytes::kib(256),
            log_record: Bytes::kib(64),
            readers: 5,
            writers: 2,
            operations: 1_000,
            batch: 10,
            reads_per_batch: 100,
            reads_per_log: 320,
            ..OltpParameters::default()
        };
        parameters.resolve(Bytes::gib(1)).expect("resolves");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 3);
        let finished = serve_transactions(&parameters, &context).expect("there is room");
        let count = |name: &str| {
            finished
                .measured
                .latency(name)
                .map_or(0, fslab_model::LatencyHistogram::count)
        };
        assert_eq!(
            (count("read"), count("write"), count("log-write")),
            (1_000, 200, 3)
        );
        assert_eq!(finished.measured.operations, 1_203);
    }
}
