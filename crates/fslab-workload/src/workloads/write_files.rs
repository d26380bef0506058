//! Files of listed sizes are written into one directory, the first size first.

use std::path::PathBuf;

use fslab_engine::{MetadataJob, MetadataOperation, RunContext, TreeShape, run_metadata};
use fslab_model::{Bytes, Headline, Need, PhaseKind};
use serde::{Deserialize, Serialize};

use crate::parameters::{Size, demand_inside, sized_footprint};
use crate::size_series::{halving_sizes, series, settle_sizes};
use crate::workload::{Definition, Finished, RunError, WorkloadParameters};

pub(crate) struct WriteFiles;

/// Which files, and in what records they are written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WriteFilesParameters {
    directory: PathBuf,
    /// Sizes, or shares of the file system, in the order in which files are written.
    sizes: Vec<Size>,
    /// How many files of each size.
    each: u64,
    record: Bytes,
}

impl Default for WriteFilesParameters {
    fn default() -> Self {
        Self {
            directory: "files".into(),
            sizes: halving_sizes(),
            each: 2,
            record: Bytes::mib(1),
        }
    }
}

impl WriteFilesParameters {
    fn files(&self) -> u64 {
        self.each.saturating_mul(self.sizes.len() as u64)
    }

    fn job(&self) -> MetadataJob {
        let tree = TreeShape::flat(self.directory.clone(), self.files(), 0);
        MetadataJob {
            file_bytes: series(&self.sizes, self.each),
            record_bytes: self.record.0,
            ..MetadataJob::new(MetadataOperation::Create, tree)
        }
    }
}

impl WorkloadParameters for WriteFilesParameters {
    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        demand_inside(&self.directory)?;
        settle_sizes(&mut self.sizes, self.each, size)?;
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        sized_footprint(self.files(), &series(&self.sizes, self.each))
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        None
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(series(&self.sizes, 1).longest()))]
    }
}

impl Definition for WriteFiles {
    type Parameters = WriteFilesParameters;
    const NAME: &'static str = "write-files";
    const TITLE: &'static str = "files of listed sizes, written one after the other";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn run(parameters: &WriteFilesParameters, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.job())?.into())
    }
}
