//! The job `sized-files`: writes files of listed sizes in one directory, or reads and digests them.

use std::path::PathBuf;

use fslab_engine::limits::RECORD_BYTES_MAX;
use fslab_engine::{
    Content, Digest, MetadataJob, MetadataOperation, RunContext, TreeShape, run_metadata,
};
use fslab_model::{Bytes, Need, Size, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::size_series::{halving_sizes, resolve_sizes, series};
use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::{ensure_inside, sized_footprint};

/// Writes files of listed sizes in one directory, or reads and digests them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SizedFilesParameters {
    /// The directory of the files, below the root.
    directory: PathBuf,
    /// Sizes in bytes, or shares of the file system, in the order of the files.
    sizes: Vec<Size>,
    /// Files of each size.
    #[schemars(range(min = 1))]
    each: u64,
    /// Bytes per read(2) or write(2).
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_BYTES_MAX))]
    record: Bytes,
    /// Compressibility and duplication of the data written.
    #[serde(skip_serializing_if = "is_default")]
    content: Content,
    /// Compare digests with those of the data written, which are computed before the phase is
    /// timed.
    verify: bool,
    /// What is done with each file: "create" or "read".
    operation: MetadataOperation,
    /// The digest of each file that is read. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Digest>,
}

impl Default for SizedFilesParameters {
    fn default() -> Self {
        Self {
            directory: "files".into(),
            sizes: halving_sizes(),
            each: 2,
            record: Bytes::mib(1),
            verify: false,
            content: Content::default(),
            operation: MetadataOperation::Create,
            digest: None,
        }
    }
}

impl SizedFilesParameters {
    fn files(&self) -> u64 {
        self.each.saturating_mul(self.sizes.len() as u64)
    }

    fn job(&self) -> MetadataJob {
        let tree = TreeShape::flat(&self.directory, self.files(), 0);
        MetadataJob {
            file_size: series(&self.sizes, self.each),
            record: self.record,
            content: self.content,
            digest: self.digest,
            verify: self.verify,
            ..MetadataJob::new(self.operation, tree)
        }
    }
}

impl Job for SizedFilesParameters {
    const NAME: &'static str = "sized-files";

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        resolve_sizes(&mut self.sizes, self.each, size)?;
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        sized_footprint(self.files(), &series(&self.sizes, self.each))
    }

    fn data_files(&self, _ranks: u32) -> Option<Vec<PathBuf>> {
        (self.operation == MetadataOperation::Read).then(|| self.job().paths())
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(series(&self.sizes, 1).longest()))]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &self.job())?.into())
    }
}
