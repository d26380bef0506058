//! The SHA-512 of every file that `write-files` wrote. The processor's time is a part of it, though
//! not in virtual time, where it is nothing.

use std::path::PathBuf;

use fslab_engine::{Digest, MetadataJob, MetadataOperation, RunContext, TreeShape, run_metadata};
use fslab_model::{Bytes, Headline, Need, PhaseKind};
use serde::{Deserialize, Serialize};

use crate::parameters::{Size, demand_inside, sized_footprint};
use crate::size_series::{halving_sizes, series, settle_sizes};
use crate::workload::{Definition, Finished, RunError, WorkloadParameters};

pub(crate) struct Hash;

/// Which files, as `write-files` has them, and in what records they are read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HashParameters {
    directory: PathBuf,
    sizes: Vec<Size>,
    each: u64,
    record: Bytes,
    /// Whether digests are compared with those of what was written, which are computed before the
    /// clock starts.
    verify: bool,
}

impl Default for HashParameters {
    fn default() -> Self {
        Self {
            directory: "files".into(),
            sizes: halving_sizes(),
            each: 2,
            record: Bytes::kib(8),
            verify: true,
        }
    }
}

impl HashParameters {
    fn files(&self) -> u64 {
        self.each.saturating_mul(self.sizes.len() as u64)
    }

    fn job(&self) -> MetadataJob {
        let tree = TreeShape::flat(self.directory.clone(), self.files(), 0);
        MetadataJob {
            file_bytes: series(&self.sizes, self.each),
            record_bytes: self.record.0,
            digest: Some(Digest::Sha512),
            verify: self.verify,
            ..MetadataJob::new(MetadataOperation::Read, tree)
        }
    }
}

impl WorkloadParameters for HashParameters {
    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        demand_inside(&self.directory)?;
        settle_sizes(&mut self.sizes, self.each, size)?;
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        sized_footprint(self.files(), &series(&self.sizes, self.each))
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        Some(self.job().paths())
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(series(&self.sizes, 1).longest()))]
    }
}

impl Definition for Hash {
    type Parameters = HashParameters;
    const NAME: &'static str = "hash";
    const TITLE: &'static str = "SHA-512 of every file that write-files wrote";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::Throughput;

    fn run(parameters: &HashParameters, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.job())?.into())
    }
}
