//! Directories are filled with a set of files each; then, round after round, the oldest is removed
//! and a new one is filled. A failure names its round.

use std::path::PathBuf;

use fslab_engine::{MetadataJob, MetadataOperation, Order, RunContext, TreeShape, run_metadata};
use fslab_model::{Bytes, Need, definitions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::size_series::{halving_sizes, series, settle_sizes};
use crate::job::Job;
use crate::parameters::{Size, ensure_inside, sized_footprint};
use crate::workload::{Finished, RunError};

/// What a directory holds, how many there are, and how many are replaced.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FifoParameters {
    /// The directory of the directories, below the root.
    directory: PathBuf,
    /// The files of a directory: sizes, or shares of the file system.
    sizes: Vec<Size>,
    /// How many directories exist at a time.
    directories: u64,
    /// How many times the oldest is replaced.
    rounds: u64,
    /// Bytes per write(2).
    #[schemars(with = "Size")]
    record: Bytes,
    /// That in which the files of the oldest directory are removed.
    #[schemars(with = "serde_json::Value")]
    order: Order,
}

impl Default for FifoParameters {
    fn default() -> Self {
        Self {
            directory: "fifo".into(),
            sizes: halving_sizes(),
            directories: 4,
            rounds: 4,
            record: Bytes::mib(1),
            order: Order::Readdir,
        }
    }
}

impl FifoParameters {
    fn job(&self) -> MetadataJob {
        let in_one = self.sizes.len() as u64;
        let made = self.directories.saturating_add(self.rounds);
        let tree = TreeShape::flat(self.directory.clone(), in_one.saturating_mul(made), in_one);
        MetadataJob {
            file_bytes: series(&self.sizes, 1),
            record_bytes: self.record.0,
            kept_directories: self.directories,
            order: self.order,
            ..MetadataJob::new(MetadataOperation::Turnover, tree)
        }
    }

    /// Bytes of all directories that there are at a time.
    fn held_bytes(&self) -> u64 {
        let of_one = series(&self.sizes, 1).total_bytes(self.sizes.len() as u64);
        of_one.saturating_mul(self.directories)
    }
}

impl Job for FifoParameters {
    const NAME: &'static str = "fifo";

    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        settle_sizes(&mut self.sizes, 1, size)?;
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        let files = self.directories.saturating_mul(self.sizes.len() as u64);
        sized_footprint(files, &series(&self.sizes, 1))
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(series(&self.sizes, 1).longest()))]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        let mut finished = Finished::from(run_metadata(context, &self.job())?);
        // Each directory goes before the next one comes.
        finished.figures.insert(
            definitions::BYTES_HELD_MAX.name.into(),
            self.held_bytes() as f64,
        );
        Ok(finished)
    }
}
