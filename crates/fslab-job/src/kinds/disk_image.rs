//! The job `disk-image`: I/O of a virtual machine on its disk image. Aligned records at uniformly
//! random offsets of one large existing file are read or overwritten in a random mix; an fsync,
//! which is timed, follows every `sync_every` writes and the last one. Reads, writes and fsyncs
//! have separate latencies.

use std::path::PathBuf;

use fslab_engine::limits::{RECORD_BYTES_MAX, THREADS_MAX};
use fslab_engine::{
    Access, Amount, DataJob, Direction, OpenMode, RunContext, Sharing, SyncCall, SyncEvery,
    SyncPolicy, Workers, run_data,
};
use fslab_model::{Bytes, Need, PhaseKind, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data::round_to_records;
use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::ensure_inside;

/// Reads and overwrites of records at random offsets of one large file, with an fsync every so many
/// writes, as a virtual machine does on its disk.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DiskImageParameters {
    /// Path below the file system's root.
    file: PathBuf,
    /// Size of the file, or a share of the file system's size.
    file_size: Size,
    /// Size of one record: the image's cluster or the guest's block.
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_BYTES_MAX))]
    record: Bytes,
    /// Records per thread; 0 for as many as the file has.
    operations: u64,
    /// Percent of the operations that read.
    #[schemars(range(max = 100))]
    read_percent: u8,
    /// Writes of a thread between two fsyncs; one more fsync follows at the end. 0 for none.
    sync_every: u64,
    /// O_DIRECT: bypass the page cache.
    direct: bool,
    /// Threads or processes that work on the image.
    #[schemars(range(min = 1, max = THREADS_MAX))]
    threads: u32,
    /// The kind of workers.
    workers: Workers,
}

impl Default for DiskImageParameters {
    fn default() -> Self {
        Self {
            file: "data".into(),
            file_size: Size::Written("1/4".into()),
            record: Bytes::kib(4),
            operations: 0,
            read_percent: 70,
            sync_every: 64,
            direct: false,
            threads: 1,
            workers: Workers::Threads,
        }
    }
}

impl DiskImageParameters {
    fn job(&self) -> DataJob {
        DataJob {
            direction: Direction::Mix {
                read_percent: self.read_percent,
            },
            access: Access::RandomUniform,
            amount: Amount::Operations(self.operations),
            open: OpenMode::Existing,
            direct: self.direct,
            sync: self.sync(),
            generation: 4,
            threads: self.threads,
            workers: self.workers,
            sharing: Sharing::Shared,
            ..DataJob::write(self.file.clone(), self.file_size.bytes(), self.record.0)
        }
    }

    fn sync(&self) -> SyncPolicy {
        if self.sync_every == 0 || self.read_percent >= 100 {
            return SyncPolicy::NONE;
        }
        SyncPolicy {
            every: Some(SyncEvery {
                operations: self.sync_every,
                call: SyncCall::Fsync,
            }),
            ..SyncPolicy::CLOSING_FSYNC
        }
    }
}

impl Job for DiskImageParameters {
    const NAME: &'static str = "disk-image";

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.file)?;
        self.file_size = round_to_records(&self.file_size, self.record, size)?;
        if self.operations == 0 {
            self.operations = self.file_size.bytes() / self.record.0;
        }
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        Bytes(self.file_size.bytes())
    }

    fn data_files(&self, _ranks: u32) -> Option<Vec<PathBuf>> {
        Some(self.job().files())
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(self.file_size.bytes()))]
    }

    fn kind(&self) -> Option<PhaseKind> {
        Some(match self.read_percent {
            0 => PhaseKind::Write,
            100 => PhaseKind::Read,
            _ => PhaseKind::Mixed,
        })
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_data(context, &self.job())?.into())
    }
}
