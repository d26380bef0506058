//! The job `io`: a data job of the engine with all of its settings.

use std::path::{Path, PathBuf};

use fslab_engine::limits::{RECORD_BYTES_MAX, THREADS_MAX};
use fslab_engine::{
    Access, Advice, Amount, Content, DataJob, Direction, EngineKind, OpenMode, OpenSync, Pace,
    Preparation, RunContext, Sharing, StdioTuning, SyncPolicy, UringTuning, Workers, lay_out,
    lays_out, run_data,
};
use fslab_model::{Bytes, Need, PhaseKind, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data::{kind_of, longest_file};
use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::{Size, ensure_inside, parse_engine};

/// Reads and writes of a file with all settings of the engine.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IoParameters {
    /// The engine instead of the plan's: "psync", "uring", "mmap" or "stdio".
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<String>,
    /// Path below the root of the file system.
    file: PathBuf,
    /// Size of each file in bytes, or as a share of the file system's size.
    file_size: Size,
    /// The file is cut into files of this size, a multiple of the record: NAME.000, NAME.001, ...
    /// Not with uring.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1))]
    segment: Option<Bytes>,
    /// Bytes of one record.
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_BYTES_MAX))]
    record: Bytes,
    /// Offset of the first record in bytes.
    offset: u64,
    /// What is done with each record. `mix`: percent of reads. `read-update`: reads, of
    /// which each thread's first, and one in so many after it, are updates. Updates not with uring.
    direction: Direction,
    /// The order of records. `zipf`: few records have most of the accesses. `hot-cold`: a part of
    /// the file has so many percent of the accesses.
    access: Access,
    /// When a thread has done enough; `total-operations` is one pool that all threads take from. A
    /// time can be written `{ time = "10s" }`.
    amount: Amount,
    /// After this time each thread waits for the others, and then works until it has done as much
    /// as the fastest: `stonewall = "300s"`, as IOR's -D with wear-out. Later phases on the file
    /// use what is there. The file's size is the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    stonewall_ns: Option<u64>,
    /// Load before the measurement, whose operations are not counted: nanoseconds, or `ramp_up =
    /// "2s"`.
    ramp_up_ns: u64,
    /// When operations are issued. At a rate, fixed or as a Poisson process, latency is counted
    /// from the intended start.
    pace: Pace,
    /// How the file is opened. With "create", a file that is read and is missing or short is
    /// written before the phase is timed.
    open: OpenMode,
    /// Space that is reserved before the phase is timed.
    preparation: Preparation,
    /// pread(2) and pwrite(2); otherwise lseek(2), read(2) and write(2). Only psync has the choice.
    positioned: bool,
    /// O_DIRECT: without the page cache.
    direct: bool,
    /// O_DSYNC or O_SYNC.
    open_sync: OpenSync,
    /// A hint to the kernel by posix_fadvise(2).
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<Advice>,
    /// Calls that make data durable: { every = { operations = N, call = CALL }, updated = CALL,
    /// closing = CALL }, each CALL "fsync", "fdatasync", "file-range" or "msync"; on macOS also
    /// "barrier" and "drive". `operations` counts writes, not reads.
    sync: SyncPolicy,
    /// How far the data written can be compressed and deduplicated.
    content: Content,
    /// Generation of the content: another number gives other data.
    generation: u32,
    /// Compare what is read with what was written, and name file, offset, expected and found; needs
    /// records of a multiple of 4 KiB.
    verify: bool,
    /// Accept blocks of an earlier generation when verifying.
    older_generations: bool,
    /// Threads, or processes.
    #[schemars(range(min = 1, max = THREADS_MAX))]
    threads: u32,
    /// Whether workers are threads of one process, or processes.
    workers: Workers,
    /// How threads share files.
    sharing: Sharing,
    /// In a load of several ranks, work on the part of the rank that is so many after this one.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = 0))]
    rank_shift: u32,
    /// Settings of the io_uring engine.
    uring: UringTuning,
    /// Settings of the stdio engine.
    stdio: StdioTuning,
}

impl Default for IoParameters {
    fn default() -> Self {
        let job = DataJob::write("data", 1, 1);
        Self {
            engine: None,
            file: job.file,
            file_size: Size::Written("1/4".into()),
            segment: job.segment_bytes.map(Bytes),
            record: Bytes::mib(1),
            offset: job.offset_bytes,
            direction: job.direction,
            access: job.access,
            amount: job.amount,
            stonewall_ns: job.stonewall_ns,
            ramp_up_ns: job.ramp_up_ns,
            pace: job.pace,
            open: OpenMode::Create,
            preparation: job.preparation,
            positioned: job.positioned,
            direct: job.direct,
            open_sync: job.open_sync,
            advice: job.advice,
            sync: job.sync,
            content: job.content,
            generation: job.generation,
            verify: job.verify,
            older_generations: job.older_generations,
            threads: job.threads,
            workers: job.workers,
            sharing: job.sharing,
            rank_shift: job.rank_shift,
            uring: job.uring,
            stdio: job.stdio,
        }
    }
}

impl IoParameters {
    /// The file, below the root.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// The engine of the parameters, else that of the plan.
    pub(super) fn engine(&self, context: &RunContext) -> EngineKind {
        // An unknown engine was refused while planning.
        let named = parse_engine(self.engine.as_deref()).ok().flatten();
        named.unwrap_or(context.engine)
    }

    /// The job.
    pub(super) fn job(&self) -> DataJob {
        DataJob {
            file: self.file.clone(),
            file_bytes: self.file_size.bytes(),
            segment_bytes: self.segment.map(|segment| segment.0),
            record_bytes: self.record.0,
            offset_bytes: self.offset,
            direction: self.direction,
            access: self.access,
            amount: self.amount,
            stonewall_ns: self.stonewall_ns,
            ramp_up_ns: self.ramp_up_ns,
            pace: self.pace,
            open: self.open,
            preparation: self.preparation,
            positioned: self.positioned,
            direct: self.direct,
            open_sync: self.open_sync,
            advice: self.advice,
            sync: self.sync,
            content: self.content,
            generation: self.generation,
            verify: self.verify,
            older_generations: self.older_generations,
            threads: self.threads,
            workers: self.workers,
            sharing: self.sharing,
            rank_shift: self.rank_shift,
            uring: self.uring,
            stdio: self.stdio,
        }
    }
}

impl Job for IoParameters {
    const NAME: &'static str = "io";
    const RANKS: bool = true;

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.file)?;
        let is_share = self.file_size.is_share();
        let mut bytes = self.file_size.resolve(size)?;
        if is_share && self.sharing == Sharing::Interleaved {
            // Its records are dealt out in full.
            bytes -= bytes % self.record.0;
        }
        self.file_size = Size::Bytes(bytes);
        parse_engine(self.engine.as_deref())?;
        // Validated while planning, before a disk is formatted.
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        let files = match self.sharing {
            Sharing::Own => u64::from(self.threads),
            Sharing::Shared | Sharing::Interleaved => 1,
        };
        Bytes(
            self.file_size
                .bytes()
                .saturating_add(self.offset)
                .saturating_mul(files),
        )
    }

    fn data_files(&self, ranks: u32) -> Option<Vec<PathBuf>> {
        Some(self.job().of_ranks(ranks).files())
    }

    fn needs(&self) -> Vec<Need> {
        let end = self.file_size.bytes().saturating_add(self.offset);
        vec![longest_file(end, self.segment)]
    }

    fn kind(&self) -> Option<PhaseKind> {
        Some(kind_of(self.direction))
    }

    fn lays_out(&self) -> bool {
        lays_out(&self.job())
    }

    fn lay_out(&self, context: &RunContext) -> Result<u64, RunError> {
        Ok(lay_out(context, &self.job())?)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        let context = RunContext {
            engine: self.engine(context),
            ..context.clone()
        };
        Ok(run_data(&context, &self.job())?.into())
    }
}
