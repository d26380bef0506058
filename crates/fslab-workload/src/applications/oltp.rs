//! The job `oltp`, after filebench: many readers, some writers with O_DSYNC, and a log; each is
//! limited by the progress of the others.
//!
//! ```text
//!     reader   reads a record of a data file; at most AHEAD_BATCHES ahead of writers and log
//!     writer   after every `reads_per_batch` reads of all, writes `batch` records, one by one
//!     log      after every `reads_per_log` reads of all, writes a record of the log
//! ```
//!
//! The original's writers issue a batch at once by aio and burn processor time in between; here
//! they write one record after the other and burn none.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use fslab_engine::{
    EngineError, EngineKind, Filler, OperationKind, Random, RunContext, ThreadRecorder, mix,
    run_recorded_threads,
};
use fslab_model::{Bytes, Need};
use fslab_sys::{Descriptors, flag_bits, sync_file_system};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flows::{EngineResult, io_error};
use super::{Part, synthetic_application};
use crate::job::Job;
use crate::parameters::{Size, ensure_inside};
use crate::workload::{Finished, RunError};

/// Batches of reads that readers may be ahead of the slowest writer, and of the log.
const AHEAD_BATCHES: u64 = 2;
/// Interval at which a waiting thread checks for a stop.
const STOP_POLL: Duration = Duration::from_millis(50);
/// Bytes per write(2) while files are created.
const FILL_BYTES: usize = 1 << 20;
/// Size of the original's data files.
const FILE_SIZE: u64 = 10 << 20;
const THREADS_MAX: u32 = 4096;
/// Names have four digits.
const DATA_FILES_MAX: u32 = 10_000;

/// Parameters of `fb-oltp`, with the numbers of filebench's oltp.f.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OltpParameters {
    /// The directory of the files, below the root.
    directory: PathBuf,
    /// Data files: 1 to 10000.
    data_files: u32,
    /// Size of each data file; 0 for the original's 10 MiB, or less if it does not fit.
    #[schemars(with = "Size")]
    file_size: Bytes,
    /// Size of the log; 0 for that of a data file.
    #[schemars(with = "Size")]
    log_size: Bytes,
    /// Bytes of each read and write of data.
    #[schemars(with = "Size")]
    record: Bytes,
    /// Bytes of each write to the log.
    #[schemars(with = "Size")]
    log_record: Bytes,
    /// Reading threads: at least 1.
    readers: u32,
    /// Writing threads.
    writers: u32,
    /// Reads of all readers together.
    operations: u64,
    /// Records per batch of a writer.
    batch: u64,
    /// Reads of all readers between two batches.
    reads_per_batch: u64,
    /// Reads of all readers between two writes to the log.
    reads_per_log: u64,
    /// "all", "prepare" (only create the files) or "play" (use the files of an earlier phase).
    part: Part,
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
            part: Part::default(),
        }
    }
}

impl Job for OltpParameters {
    const NAME: &'static str = "oltp";

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        let record = self.record.0.max(1);
        if self.file_size.0 == 0 {
            let fitting = size.0 / 4 / (u64::from(self.data_files) + 1);
            let bytes = FILE_SIZE.min(fitting);
            self.file_size = Bytes(bytes - bytes % record);
        }
        if self.log_size.0 == 0 {
            self.log_size = self.file_size;
        }
        let least = [
            ("data_files", u64::from(self.data_files), 1),
            ("record", self.record.0, 1),
            ("log_record", self.log_record.0, 1),
            ("readers", u64::from(self.readers), 1),
            ("operations", self.operations, 1),
            ("batch", self.batch, 1),
            ("reads_per_batch", self.reads_per_batch, 1),
            ("reads_per_log", self.reads_per_log, 1),
            ("file_size", self.file_size.0, record),
            ("log_size", self.log_size.0, self.log_record.0),
        ];
        if let Some((name, value, least)) = least.iter().find(|(_, value, least)| value < least) {
            return Err(format!("{name} = {value}; at least {least}"));
        }
        if self.data_files > DATA_FILES_MAX {
            return Err(format!(
                "data_files = {}; at most {DATA_FILES_MAX}",
                self.data_files
            ));
        }
        if self.readers.saturating_add(self.writers) > THREADS_MAX {
            return Err(format!(
                "readers = {}; at most {THREADS_MAX} threads",
                self.readers
            ));
        }
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        let data = self.file_size.0.saturating_mul(u64::from(self.data_files));
        Bytes(data.saturating_add(self.log_size.0))
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
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
    let batches = parameters.operations / parameters.reads_per_batch;
    let writes = batches * parameters.batch * u64::from(parameters.writers);
    let logs = parameters.operations / parameters.reads_per_log;
    if context.engine == EngineKind::Null {
        let operations = parameters.operations + writes + logs;
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
        batches,
        logs,
    };
    if parameters.part != Part::Play {
        let made = job.make()?;
        if parameters.part == Part::Prepare {
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
    /// Total batches of each writer, and total records of the log.
    batches: u64,
    logs: u64,
}

/// The role of a thread, with its buffers.
enum Role {
    Log {
        kind: OperationKind,
        filler: Filler,
    },
    Writer {
        number: u32,
        kind: OperationKind,
        filler: Filler,
        random: Random,
    },
    Reader {
        kind: OperationKind,
        buffer: Vec<u8>,
        random: Random,
    },
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
        let progress = Progress::new(self);
        let prepare = |thread: u32, book: &mut ThreadRecorder| {
            let seed = mix(self.context.seed, u64::from(thread));
            let record = parameters.record.0 as usize;
            Ok(match thread {
                0 => Role::Log {
                    kind: book.kind("log-write"),
                    filler: Filler::new(seed, parameters.log_record.0 as usize),
                },
                number if number <= parameters.writers => Role::Writer {
                    number: number - 1,
                    kind: book.kind("write"),
                    filler: Filler::new(seed, record),
                    random: Random::new(seed, 1),
                },
                _ => Role::Reader {
                    kind: book.kind("read"),
                    buffer: vec![0; record],
                    random: Random::new(seed, 2),
                },
            })
        };
        let work = |role: Role, book: &mut ThreadRecorder, must_stop: &dyn Fn() -> bool| match role
        {
            Role::Log { kind, filler } => {
                self.log(&files, &progress, kind, filler, book, must_stop)
            }
            Role::Writer {
                number,
                kind,
                filler,
                random,
            } => {
                let worker = WriterState {
                    number,
                    kind,
                    filler,
                    random,
                };
                self.write(&files, &progress, worker, book, must_stop)
            }
            Role::Reader {
                kind,
                buffer,
                random,
            } => self.read(&files, &progress, kind, buffer, random, book, must_stop),
        };
        let threads = 1 + parameters.writers + parameters.readers;
        run_recorded_threads(self.context, threads, prepare, work)
    }

    fn log(
        &self,
        files: &Descriptors,
        progress: &Progress,
        kind: OperationKind,
        mut filler: Filler,
        book: &mut ThreadRecorder,
        must_stop: &dyn Fn() -> bool,
    ) -> EngineResult<()> {
        let record = self.parameters.log_record.0;
        let records = self.parameters.log_size.0 / record;
        for turn in 0..self.logs {
            progress
                .await_reads((turn + 1) * self.parameters.reads_per_log, must_stop)
                .ok_or_else(|| EngineError::interrupted(self.base))?;
            let offset = turn % records * record;
            let data = filler.bytes(turn, offset, record as usize);
            let start_ns = ThreadRecorder::now_ns();
            let done = files.write(2 * self.parameters.data_files, data, Some(offset));
            let end_ns = ThreadRecorder::now_ns();
            let count = done.map_err(|error| io_error("write", self.base, c"log", error))?;
            book.operation(kind, start_ns, end_ns, count);
            progress.log_written(turn + 1);
        }
        Ok(())
    }

    fn write(
        &self,
        files: &Descriptors,
        progress: &Progress,
        mut worker: WriterState,
        book: &mut ThreadRecorder,
        must_stop: &dyn Fn() -> bool,
    ) -> EngineResult<()> {
        let parameters = self.parameters;
        let record = parameters.record.0;
        for batch in 0..self.batches {
            progress
                .await_reads((batch + 1) * parameters.reads_per_batch, must_stop)
                .ok_or_else(|| EngineError::interrupted(self.base))?;
            for turn in 0..parameters.batch {
                if must_stop() {
                    return Err(EngineError::interrupted(self.base));
                }
                let (file, offset) = self.any(&mut worker.random);
                let data = worker
                    .filler
                    .bytes(batch << 32 | turn, offset, record as usize);
                let start_ns = ThreadRecorder::now_ns();
                let done = files.write(parameters.data_files + file, data, Some(offset));
                let end_ns = ThreadRecorder::now_ns();
                let count = done.map_err(|error| io_error("write", self.base, c"data", error))?;
                book.operation(worker.kind, start_ns, end_ns, count);
            }
            progress.written(worker.number, batch + 1);
        }
        Ok(())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of one role, destructured by the caller"
    )]
    fn read(
        &self,
        files: &Descriptors,
        progress: &Progress,
        kind: OperationKind,
        mut buffer: Vec<u8>,
        mut random: Random,
        book: &mut ThreadRecorder,
        must_stop: &dyn Fn() -> bool,
    ) -> EngineResult<()> {
        loop {
            let ticket = progress.tickets.fetch_add(1, Ordering::Relaxed);
            if ticket >= self.parameters.operations {
                return Ok(());
            }
            if must_stop() || progress.await_turn(ticket, must_stop).is_none() {
                return Err(EngineError::interrupted(self.base));
            }
            let (file, offset) = self.any(&mut random);
            let start_ns = ThreadRecorder::now_ns();
            let done = files.read(file, &mut buffer, Some(offset));
            let end_ns = ThreadRecorder::now_ns();
            let count = done.map_err(|error| io_error("read", self.base, c"data", error))?;
            book.operation(kind, start_ns, end_ns, count);
            progress.read();
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

/// Buffers of a writer.
struct WriterState {
    number: u32,
    kind: OperationKind,
    filler: Filler,
    random: Random,
}

/// Progress of readers, writers and the log.
struct Progress {
    tickets: AtomicU64,
    reads: AtomicU64,
    /// Reads with a ticket below this may proceed.
    limit: AtomicU64,
    completed: Mutex<Completed>,
    changed: Condvar,
    reads_per_batch: u64,
    reads_per_log: u64,
    batches: u64,
    logs: u64,
}

/// What writers and the log have completed.
struct Completed {
    batches: Vec<u64>,
    logs: u64,
}

impl Progress {
    fn new(job: &OltpJob<'_>) -> Self {
        let progress = Self {
            tickets: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            completed: Mutex::new(Completed {
                batches: vec![0; job.parameters.writers as usize],
                logs: 0,
            }),
            changed: Condvar::new(),
            reads_per_batch: job.parameters.reads_per_batch,
            reads_per_log: job.parameters.reads_per_log,
            batches: job.batches,
            logs: job.logs,
        };
        progress.update(|_| {});
        progress
    }

    /// Updates the completed work and wakes the threads that wait for it.
    fn update(&self, change: impl FnOnce(&mut Completed)) {
        let mut completed = self
            .completed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        change(&mut completed);
        let slowest = completed
            .batches
            .iter()
            .copied()
            .min()
            .unwrap_or(self.batches);
        // A finished thread limits no other.
        let limit = |done: u64, all: u64, each: u64| match done {
            done if done >= all => u64::MAX,
            done => (done + AHEAD_BATCHES) * each,
        };
        let of_batches = limit(slowest, self.batches, self.reads_per_batch);
        let of_logs = limit(completed.logs, self.logs, self.reads_per_log);
        self.limit.store(of_batches.min(of_logs), Ordering::SeqCst);
        self.changed.notify_all();
    }

    fn written(&self, writer: u32, batches: u64) {
        self.update(|completed| completed.batches[writer as usize] = batches);
    }

    fn log_written(&self, logs: u64) {
        self.update(|completed| completed.logs = logs);
    }

    /// Counts a read.
    fn read(&self) {
        let reads = self.reads.fetch_add(1, Ordering::SeqCst) + 1;
        if reads.is_multiple_of(self.reads_per_batch) || reads.is_multiple_of(self.reads_per_log) {
            let _completed = self
                .completed
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            self.changed.notify_all();
        }
    }

    /// Waits until `reads` reads are done; `None` on a stop.
    fn await_reads(&self, reads: u64, must_stop: &dyn Fn() -> bool) -> Option<()> {
        self.wait(must_stop, || self.reads.load(Ordering::SeqCst) >= reads)
    }

    /// Waits until the read with that ticket may proceed; `None` on a stop.
    fn await_turn(&self, ticket: u64, must_stop: &dyn Fn() -> bool) -> Option<()> {
        let may_go = || ticket < self.limit.load(Ordering::SeqCst);
        if may_go() {
            return Some(());
        }
        self.wait(must_stop, may_go)
    }

    fn wait(&self, must_stop: &dyn Fn() -> bool, is_so: impl Fn() -> bool) -> Option<()> {
        let mut completed = self
            .completed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        while !is_so() {
            if must_stop() {
                return None;
            }
            let waited = self.changed.wait_timeout(completed, STOP_POLL);
            completed = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(())
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
