//! The job `small-files`: one operation on every file of a tree of files of one size.

use std::path::PathBuf;

use fslab_engine::limits::TREE_FILES_MAX;
use fslab_engine::{
    Content, MetadataJob, MetadataOperation, MetadataSync, RunContext, TreeShape, run_metadata,
};
use fslab_model::{Bytes, Need, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::{ensure_inside, tree_footprint};

/// One operation on every file of a tree of files of one size.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SmallFilesParameters {
    /// The root of the tree, below that of the file system.
    directory: PathBuf,
    /// Number of files.
    #[schemars(range(min = 1, max = TREE_FILES_MAX))]
    files: u64,
    /// Files in each directory; 0 for all in one.
    files_per_directory: u64,
    /// Bytes of each file.
    file_size: Bytes,
    /// The operation on every file: "create", "list" (its directory), "stat", "read", "chmod",
    /// "unlink" and others of the engine.
    operation: MetadataOperation,
    /// Compressibility and duplication of the data written.
    #[serde(skip_serializing_if = "is_default")]
    content: Content,
    /// syncfs(2) after the last operation, timed.
    closing_syncfs: bool,
}

impl Default for SmallFilesParameters {
    fn default() -> Self {
        Self {
            directory: "tree".into(),
            files: 10_000,
            files_per_directory: 200,
            file_size: Bytes::kib(4),
            operation: MetadataOperation::Stat,
            closing_syncfs: false,
            content: Content::default(),
        }
    }
}

impl Job for SmallFilesParameters {
    const NAME: &'static str = "small-files";
    const RANKS: bool = true;

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        tree_footprint(self.files, self.file_size.0)
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::FileBytes(self.file_size)];
        let is_chmod = self.operation == MetadataOperation::Chmod;
        needs.extend(is_chmod.then_some(Need::Permissions));
        needs
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &self.job())?.into())
    }
}

impl SmallFilesParameters {
    fn job(&self) -> MetadataJob {
        let tree = TreeShape::flat(&self.directory, self.files, self.files_per_directory);
        MetadataJob {
            file_size: self.file_size.0.into(),
            content: self.content,
            sync: MetadataSync {
                closing_syncfs: self.closing_syncfs,
                ..MetadataSync::default()
            },
            ..MetadataJob::new(self.operation, tree)
        }
    }
}
