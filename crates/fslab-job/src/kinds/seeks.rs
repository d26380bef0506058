//! The job `seeks`, as in bonnie++: several workers read records at random offsets of one shared
//! file. Of each worker the first, eleventh, twenty-first record and so on has one byte changed, is
//! written back and synced. Workers take operations from one pool. An operation is a read or an
//! `update`; the fsync of an update is timed and has its own latency.

use std::path::PathBuf;

use fslab_engine::limits::{RECORD_BYTES_MAX, THREADS_MAX};
use fslab_engine::{
    Access, Amount, DataJob, Direction, RunContext, Sharing, SyncPolicy, Workers, run_data,
};
use fslab_model::{Bytes, Need, PhaseKind, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data::{Closing, round_to_records};
use super::io::longest_file;
use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::{ensure_inside, is_true};

/// Reads of records at random offsets of one file by several workers, some of them changed, written
/// back and synced, as in bonnie++.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SeeksParameters {
    /// Path below the file system's root.
    file: PathBuf,
    /// Size of the file, or a share of the file system's size.
    file_size: Size,
    /// Bytes of each segment of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1))]
    segment: Option<Bytes>,
    /// Size of one record.
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_BYTES_MAX))]
    record: Bytes,
    /// Operations of all workers together.
    #[schemars(range(min = 1))]
    operations: u64,
    /// Number of workers.
    #[schemars(range(min = 1, max = THREADS_MAX))]
    threads: u32,
    /// The kind of workers.
    workers: Workers,
    /// Operations of a worker per update, the first one included; 0 for no updates.
    update_every: u64,
    /// The sync after an update.
    sync: Closing,
    /// pread(2) and pwrite(2); otherwise lseek(2), read(2) and write(2).
    #[serde(skip_serializing_if = "is_true")]
    #[schemars(extend("default" = true))]
    positioned: bool,
}

impl Default for SeeksParameters {
    fn default() -> Self {
        Self {
            file: "data".into(),
            file_size: Size::Written("1/4".into()),
            segment: None,
            record: Bytes::kib(8),
            operations: 8192,
            threads: 5,
            workers: Workers::Processes,
            update_every: 10,
            sync: Closing::Fsync,
            positioned: true,
        }
    }
}

impl SeeksParameters {
    fn job(&self) -> DataJob {
        let (direction, updated) = match self.update_every {
            0 => (Direction::Read, None),
            every => (Direction::ReadUpdate { every }, self.sync.call()),
        };
        DataJob {
            direction,
            access: Access::RandomUniform,
            amount: Amount::TotalOperations(self.operations),
            segment: self.segment,
            positioned: self.positioned,
            sync: SyncPolicy {
                updated,
                ..SyncPolicy::NONE
            },
            threads: self.threads,
            workers: self.workers,
            sharing: Sharing::Shared,
            ..DataJob::read(self.file.clone(), self.file_size.bytes(), self.record.0)
        }
    }
}

impl Job for SeeksParameters {
    const NAME: &'static str = "seeks";

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.file)?;
        self.file_size = round_to_records(&self.file_size, self.record, size)?;
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        Bytes(self.file_size.bytes())
    }

    fn data_files(&self, _ranks: u32) -> Option<Vec<PathBuf>> {
        Some(self.job().files())
    }

    fn needs(&self) -> Vec<Need> {
        vec![longest_file(self.file_size.bytes(), self.segment)]
    }

    fn kind(&self) -> Option<PhaseKind> {
        Some(match self.update_every {
            0 => PhaseKind::Read,
            _ => PhaseKind::Mixed,
        })
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_data(context, &self.job())?.into())
    }
}
