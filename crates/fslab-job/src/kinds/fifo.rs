//! The job `fifo`: fills directories with a set of files each; then each round removes the oldest
//! directory and fills a new one. A failure names its round.

use std::path::PathBuf;

use fslab_engine::limits::RECORD_BYTES_MAX;
use fslab_engine::{MetadataJob, MetadataOperation, Order, RunContext, TreeShape, run_metadata};
use fslab_model::{Bytes, Need, Size, definitions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::size_series::{halving_sizes, resolve_sizes, series};
use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::{ensure_inside, sized_footprint};

/// Fills directories with a set of files each; then each round removes the oldest directory and
/// fills a new one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FifoParameters {
    /// The parent of the directories, below the root.
    directory: PathBuf,
    /// Sizes of the files of a directory, in bytes or as shares of the file system.
    sizes: Vec<Size>,
    /// Directories that exist at a time.
    #[schemars(range(min = 1))]
    directories: u64,
    /// Replacements of the oldest directory.
    rounds: u64,
    /// Bytes per write(2).
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_BYTES_MAX))]
    record: Bytes,
    /// The order in which the files of the oldest directory are removed.
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
        let each = self.sizes.len() as u64;
        let directories = self.directories.saturating_add(self.rounds);
        let files = each.saturating_mul(directories);
        let tree = TreeShape::flat(&self.directory, files, each);
        MetadataJob {
            file_size: series(&self.sizes, 1),
            record: self.record,
            kept_directories: self.directories,
            order: self.order,
            ..MetadataJob::new(MetadataOperation::Turnover, tree)
        }
    }

    /// Bytes of all directories that exist at a time.
    fn held_bytes(&self) -> u64 {
        let of_one = series(&self.sizes, 1).total_bytes(self.sizes.len() as u64);
        of_one.saturating_mul(self.directories)
    }
}

impl Job for FifoParameters {
    const NAME: &'static str = "fifo";

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        resolve_sizes(&mut self.sizes, 1, size)?;
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
        // The oldest directory is removed before a new one is created.
        finished.figures.insert(
            definitions::BYTES_HELD_MAX.name.into(),
            self.held_bytes() as f64,
        );
        Ok(finished)
    }
}
