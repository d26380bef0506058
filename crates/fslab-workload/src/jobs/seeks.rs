//! Several seekers read records at random places of one file, which they share; of each seeker the
//! first, the eleventh, the twenty-first record and so on has a byte changed, is written back where
//! it was, and is made durable by fsync. They take their turns from one pool, and the clock stops
//! with the last. An operation is one turn; a turn that updates is noted as `update`, and its fsync
//! as `fsync`, whose time is part of the phase's. These are the seeks of bonnie++.

use std::path::PathBuf;

use fslab_engine::{
    Access, Amount, DataJob, Direction, RunContext, Sharing, SyncPolicy, Workers, run_data,
};
use fslab_model::{Bytes, Need, PhaseKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data::{Closing, longest_file, whole_records};
use crate::job::Job;
use crate::parameters::{Size, ensure_inside, is_true};
use crate::workload::{Finished, RunError};

/// Parameters of `seeks`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SeeksParameters {
    /// Path below the file system's root.
    file: PathBuf,
    /// Its size, or a share of the file system's.
    file_size: Size,
    /// The file is cut into files of this size.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Size>")]
    segment: Option<Bytes>,
    /// Size of one record.
    #[schemars(with = "Size")]
    record: Bytes,
    /// How many turns there are, of all seekers together.
    operations: u64,
    /// How many seekers.
    threads: u32,
    /// Whether they are processes or threads.
    #[schemars(with = "serde_json::Value")]
    workers: Workers,
    /// One turn in so many updates, of each seeker the first; 0 for none.
    update_every: u64,
    /// What makes an updated record durable.
    sync: Closing,
    /// pread(2) and pwrite(2); else lseek(2), read(2) and write(2).
    #[serde(skip_serializing_if = "is_true")]
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
            segment_bytes: self.segment.map(|segment| segment.0),
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

    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.file)?;
        self.file_size = whole_records(&self.file_size, self.record, size)?;
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        Bytes(self.file_size.bytes())
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
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
