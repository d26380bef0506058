//! The job `trees`: several processes, each with its own tree.

use std::path::PathBuf;

use fslab_engine::limits::{THREADS_MAX, TREE_FILES_MAX};
use fslab_engine::{
    Content, DirectoryTiming, FileSizes, MetadataJob, MetadataOperation, Order, RunContext,
    TreeShape, Workers, run_metadata,
};
use fslab_model::{Bytes, Need, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::{ensure_inside, sized_footprint};

/// One operation on every file of a tree by several processes, each with its own tree.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TreesParameters {
    /// Holds the trees `p0`, `p1`, ... of the processes.
    directory: PathBuf,
    /// Number of processes.
    #[schemars(range(min = 1, max = THREADS_MAX))]
    processes: u32,
    /// Files of each process.
    #[schemars(range(min = 1, max = TREE_FILES_MAX))]
    files: u64,
    /// Files in each directory; 0 for all in one.
    files_per_directory: u64,
    /// Bytes of each file: a size, a list of sizes, or a distribution of sizes.
    file_size: FileSizes,
    /// The order in which existing files are visited in each directory.
    order: Order,
    /// Include chown(2) and chmod(2) in the writing of a file.
    attributes: bool,
    /// Compressibility and duplication of the data written.
    #[serde(skip_serializing_if = "is_default")]
    content: Content,
    /// The operation on every file: "create", "read", "stat", "replace" or "unlink".
    operation: MetadataOperation,
}

impl Default for TreesParameters {
    fn default() -> Self {
        Self {
            directory: "trees".into(),
            processes: 1,
            files: 3500,
            files_per_directory: 200,
            file_size: FileSizes::LogUniform {
                min: 1024,
                max: 281_900,
            },
            order: Order::Readdir,
            attributes: true,
            content: Content::default(),
            operation: MetadataOperation::Stat,
        }
    }
}

impl TreesParameters {
    /// A job that applies `operation` to every file of every process.
    fn job_of(&self, operation: MetadataOperation) -> MetadataJob {
        let tree = TreeShape::flat(&self.directory, self.files, self.files_per_directory);
        MetadataJob {
            base_per_worker: true,
            threads: self.processes,
            workers: Workers::Processes,
            order: self.order,
            file_size: self.file_size.clone(),
            content: self.content,
            // One call reads or writes a file.
            record: Bytes(
                (self.file_size.longest().max(1))
                    .checked_next_multiple_of(4096)
                    .unwrap_or(u64::MAX),
            ),
            ..MetadataJob::new(operation, tree)
        }
    }

    /// A job that writes files also creates directories and sets owner and permissions.
    fn job(&self) -> MetadataJob {
        let job = self.job_of(self.operation);
        if !self.writes() {
            return job;
        }
        let replaces = self.operation == MetadataOperation::Replace;
        let attributes = [MetadataOperation::Chown, MetadataOperation::Chmod];
        MetadataJob {
            then: attributes.into_iter().filter(|_| self.attributes).collect(),
            directories: DirectoryTiming::InTime,
            // New content must differ from the old.
            generation: u32::from(replaces),
            order: if replaces {
                self.order
            } else {
                Order::Sequential
            },
            ..job
        }
    }

    fn writes(&self) -> bool {
        use MetadataOperation as Operation;
        matches!(self.operation, Operation::Create | Operation::Replace)
    }
}

impl Job for TreesParameters {
    const NAME: &'static str = "trees";
    const RANKS: bool = true;

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        let stat = self.job_of(MetadataOperation::Stat);
        stat.validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        let files = self.files.saturating_mul(self.processes.into());
        sized_footprint(files, &self.file_size)
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::FileBytes(Bytes(self.file_size.longest()))];
        // Also for reading: without permissions the files were never written.
        needs.extend(self.attributes.then_some(Need::Permissions));
        needs
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        let mut finished = Finished::from(run_metadata(context, &self.job())?);
        if self.writes() && !self.attributes {
            let note = "files are written without chown(2) and chmod(2)";
            finished.notes.push(note.into());
        }
        Ok(finished)
    }
}
