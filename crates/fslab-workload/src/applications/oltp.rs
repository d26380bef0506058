//! The database of filebench: many readers, some writers whose writes are on the disk when they
//! return, and a log; each is held back by the others' progress.
//!
//! ```text
//!     reader   reads a record of a data file; does not run further ahead than AHEAD_BATCHES
//!     writer   after every `reads_per_batch` reads of all, writes `batch` records, one by one
//!     log      after every `reads_per_log` reads of all, writes a record of the log
//! ```
//!
//! The original's writers issue their batch at once by aio and burn processor time in between;
//! here they write one record after the other, and nothing is burnt.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use fslab_engine::{
    EngineError, EngineKind, Filler, Kind, Random, RunContext, ThreadRecorder, mix,
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
/// How often one who waits looks whether it must stop.
const PATIENCE: Duration = Duration::from_millis(50);
/// How data files are filled.
const FILL_BYTES: usize = 1 << 20;
/// The original's data files.
const FILE_SIZE: u64 = 10 << 20;
const THREADS_MAX: u32 = 4096;
/// Their names have four digits.
const DATA_FILES_MAX: u32 = 10_000;

/// Parameters of `fb-oltp`, with the numbers of filebench's oltp.f.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OltpParameters {
    /// Where the files are, below the root.
    directory: PathBuf,
    /// How many data files: 1 to 10000.
    data_files: u32,
    /// Size of each data file; 0 for the original's, or what fits.
    #[schemars(with = "Size")]
    file_size: Bytes,
    /// Size of the log; 0 for the same.
    #[schemars(with = "Size")]
    log_size: Bytes,
    /// Bytes of each read and write of data.
    #[schemars(with = "Size")]
    record: Bytes,
    /// Bytes of each write to the log.
    #[schemars(with = "Size")]
    log_record: Bytes,
    /// Threads that read: at least 1.
    readers: u32,
    /// Threads that write.
    writers: u32,
    /// Reads of all readers together.
    operations: u64,
    /// Records that a writer writes each time.
    batch: u64,
    /// Reads of all readers between two batches of writes.
    reads_per_batch: u64,
    /// Reads of all readers between two writes to the log.
    reads_per_log: u64,
    /// "all", "prepare" (only make the files) or "play" (use the files of an earlier phase).
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

    fn settle(&mut self, size: Bytes) -> Result<(), String> {
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
    let shop = OltpJob {
        parameters,
        context,
        base: &base,
        batches,
        logs,
    };
    if parameters.part != Part::Play {
        let made = shop.make()?;
        if parameters.part == Part::Prepare {
            return Ok(made.into());
        }
    }
    let mut finished = Finished::from(shop.run()?);
    let note = "writers write one record after the other, where the original has 100 in flight";
    finished.notes.push(note.into());
    Ok(finished)
}

/// What all threads see.
struct OltpJob<'a> {
    parameters: &'a OltpParameters,
    context: &'a RunContext,
    base: &'a Path,
    /// Batches of each writer, and records of the log, in all.
    batches: u64,
    logs: u64,
}

/// What a thread is.
enum Role {
    Log {
        kind: Kind,
        filler: Filler,
    },
    Writer {
        number: u32,
        kind: Kind,
        filler: Filler,
        random: Random,
    },
    Reader {
        kind: Kind,
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

    /// Data files for reading, then for writing, then the log: shared by all threads, which read
    /// and write at given offsets.
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
                let hands = WriterHands {
                    number,
                    kind,
                    filler,
                    random,
                };
                self.write(&files, &progress, hands, book, must_stop)
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
        kind: Kind,
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
            progress.logged(turn + 1);
        }
        Ok(())
    }

    fn write(
        &self,
        files: &Descriptors,
        progress: &Progress,
        mut hands: WriterHands,
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
                let (file, offset) = self.any(&mut hands.random);
                let data = hands
                    .filler
                    .bytes(batch << 32 | turn, offset, record as usize);
                let start_ns = ThreadRecorder::now_ns();
                let done = files.write(parameters.data_files + file, data, Some(offset));
                let end_ns = ThreadRecorder::now_ns();
                let count = done.map_err(|error| io_error("write", self.base, c"data", error))?;
                book.operation(hands.kind, start_ns, end_ns, count);
            }
            progress.written(hands.number, batch + 1);
        }
        Ok(())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one role, taken apart once"
    )]
    fn read(
        &self,
        files: &Descriptors,
        progress: &Progress,
        kind: Kind,
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

    /// Any record of any data file.
    fn any(&self, random: &mut Random) -> (u32, u64) {
        let (files, record) = (self.parameters.data_files, self.parameters.record.0);
        let file = u32::try_from(random.below(u64::from(files))).expect("below a number of files");
        let records = self.parameters.file_size.0 / record;
        (file, random.below(records) * record)
    }
}

/// What a writer works with.
struct WriterHands {
    number: u32,
    kind: Kind,
    filler: Filler,
    random: Random,
}

/// How far readers, writers and the log are.
struct Progress {
    tickets: AtomicU64,
    reads: AtomicU64,
    /// Reads with a ticket below this may go on.
    limit: AtomicU64,
    behind: Mutex<Behind>,
    changed: Condvar,
    reads_per_batch: u64,
    reads_per_log: u64,
    batches: u64,
    logs: u64,
}

/// What those have done that readers must not leave behind.
struct Behind {
    batches: Vec<u64>,
    logs: u64,
}

impl Progress {
    fn new(shop: &OltpJob<'_>) -> Self {
        let progress = Self {
            tickets: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            behind: Mutex::new(Behind {
                batches: vec![0; shop.parameters.writers as usize],
                logs: 0,
            }),
            changed: Condvar::new(),
            reads_per_batch: shop.parameters.reads_per_batch,
            reads_per_log: shop.parameters.reads_per_log,
            batches: shop.batches,
            logs: shop.logs,
        };
        progress.update(|_| {});
        progress
    }

    /// Changes what is behind, and lets those go on that waited for it.
    fn update(&self, change: impl FnOnce(&mut Behind)) {
        let mut behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut behind);
        let slowest = behind.batches.iter().copied().min().unwrap_or(self.batches);
        // Who is done holds nobody back.
        let limit = |done: u64, all: u64, each: u64| match done {
            done if done >= all => u64::MAX,
            done => (done + AHEAD_BATCHES) * each,
        };
        let of_batches = limit(slowest, self.batches, self.reads_per_batch);
        let of_logs = limit(behind.logs, self.logs, self.reads_per_log);
        self.limit.store(of_batches.min(of_logs), Ordering::SeqCst);
        self.changed.notify_all();
    }

    fn written(&self, writer: u32, batches: u64) {
        self.update(|behind| behind.batches[writer as usize] = batches);
    }

    fn logged(&self, logs: u64) {
        self.update(|behind| behind.logs = logs);
    }

    /// One read more.
    fn read(&self) {
        let reads = self.reads.fetch_add(1, Ordering::SeqCst) + 1;
        if reads.is_multiple_of(self.reads_per_batch) || reads.is_multiple_of(self.reads_per_log) {
            let _behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
            self.changed.notify_all();
        }
    }

    /// Returns when so many reads are done; nothing where all is to end.
    fn await_reads(&self, reads: u64, must_stop: &dyn Fn() -> bool) -> Option<()> {
        self.wait(must_stop, || self.reads.load(Ordering::SeqCst) >= reads)
    }

    /// Returns when the read with that ticket may go on; nothing where all is to end.
    fn await_turn(&self, ticket: u64, must_stop: &dyn Fn() -> bool) -> Option<()> {
        let may_go = || ticket < self.limit.load(Ordering::SeqCst);
        if may_go() {
            return Some(());
        }
        self.wait(must_stop, may_go)
    }

    fn wait(&self, must_stop: &dyn Fn() -> bool, is_so: impl Fn() -> bool) -> Option<()> {
        let mut behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        while !is_so() {
            if must_stop() {
                return None;
            }
            let waited = self.changed.wait_timeout(behind, PATIENCE);
            behind = waited.unwrap_or_else(PoisonError::into_inner).0;
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
        parameters.settle(Bytes::gib(1)).expect("settles");
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
