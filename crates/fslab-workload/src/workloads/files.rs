//! Any metadata job that the engine can issue, every knob of it in the study's hands.

use std::path::PathBuf;

use fslab_engine::{
    Content, FileSizes, MetadataJob, MetadataOperation, MetadataSync, Names, Order, RunContext,
    Sharing, TreeShape, Workers, run_metadata,
};
use fslab_model::{Bytes, Headline, Need, PhaseKind};
use serde::{Deserialize, Serialize};

use crate::parameters::{demand_inside, tree_footprint};
use crate::workload::{Definition, Finished, RunError, WorkloadParameters};

pub(crate) struct Files;

/// Parameters of `files`. Each is defined where the engine's [`MetadataJob`] defines it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FilesParameters {
    operation: MetadataOperation,
    directory: PathBuf,
    files: u64,
    files_per_directory: u64,
    fan_out: u64,
    depth: u32,
    names: Names,
    order: Order,
    file_size: FileSizes,
    record: Bytes,
    truncated: Bytes,
    sync: MetadataSync,
    content: Content,
    verify: bool,
    threads: u32,
    workers: Workers,
    sharing: Sharing,
}

impl Default for FilesParameters {
    fn default() -> Self {
        let tree = TreeShape::flat("files", 1000, 200);
        let job = MetadataJob::new(MetadataOperation::Create, tree);
        Self {
            operation: job.operation,
            directory: job.tree.base,
            files: job.tree.files,
            files_per_directory: job.tree.files_per_directory,
            fan_out: job.tree.fan_out,
            depth: job.tree.depth,
            names: job.names,
            order: job.order,
            file_size: job.file_bytes,
            record: Bytes(job.record_bytes),
            truncated: Bytes(job.truncated_bytes),
            sync: job.sync,
            content: job.content,
            verify: job.verify,
            threads: job.threads,
            workers: job.workers,
            sharing: job.sharing,
        }
    }
}

impl FilesParameters {
    fn job(&self) -> MetadataJob {
        MetadataJob {
            operation: self.operation,
            tree: TreeShape {
                base: self.directory.clone(),
                files: self.files,
                files_per_directory: self.files_per_directory,
                fan_out: self.fan_out,
                depth: self.depth,
            },
            names: self.names,
            order: self.order,
            file_bytes: self.file_size.clone(),
            record_bytes: self.record.0,
            truncated_bytes: self.truncated.0,
            sync: self.sync,
            content: self.content,
            verify: self.verify,
            threads: self.threads,
            workers: self.workers,
            sharing: self.sharing,
        }
    }
}

impl WorkloadParameters for FilesParameters {
    fn settle(&mut self, _size: Bytes) -> Result<(), String> {
        demand_inside(&self.directory)?;
        // The engine knows what makes no sense; a plan should know it before a disk is formatted.
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        tree_footprint(self.files, self.file_size.longest())
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        None
    }

    fn needs(&self) -> Vec<Need> {
        use MetadataOperation as Operation;
        let mut needs = vec![Need::FileBytes(Bytes(self.file_size.longest()))];
        needs.extend(match self.operation {
            Operation::Link => Some(Need::HardLinks(2)),
            Operation::Symlink | Operation::Readlink => Some(Need::Symlinks),
            Operation::Chmod | Operation::Chown => Some(Need::Permissions),
            Operation::SetXattr | Operation::GetXattr => Some(Need::ExtendedAttributes),
            _ => None,
        });
        needs.extend(match self.names {
            Names::Links => Some(Need::HardLinks(2)),
            Names::Symlinks => Some(Need::Symlinks),
            Names::Files | Names::Renamed => None,
        });
        needs
    }
}

impl Definition for Files {
    type Parameters = FilesParameters;
    const NAME: &'static str = "files";
    const TITLE: &'static str = "any job on names, attributes and small files";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &FilesParameters, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.job())?.into())
    }
}
