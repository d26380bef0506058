//! Parameters of the workloads in which each of some processes works on a tree of its own.

use std::path::PathBuf;

use fslab_engine::{
    DirectoryTiming, FileSizes, MetadataJob, MetadataOperation, Order, TreeShape, Workers,
};
use fslab_model::{Bytes, Need};
use serde::{Deserialize, Serialize};

use crate::parameters::{demand_inside, sized_footprint};
use crate::workload::WorkloadParameters;

/// Small files of many sizes, so many for each process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OwnTrees {
    /// Holds the trees `p0`, `p1`, ... of the processes.
    directory: PathBuf,
    processes: u32,
    /// Of each process.
    files: u64,
    files_per_directory: u64,
    file_size: FileSizes,
    /// That in which existing files are visited, directory by directory.
    order: Order,
    /// Whether chown(2) and chmod(2) are a part of writing a file.
    pub(crate) attributes: bool,
}

impl Default for OwnTrees {
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
        }
    }
}

impl OwnTrees {
    /// A job that does `operation` to every file of every process.
    pub(crate) fn job(&self, operation: MetadataOperation) -> MetadataJob {
        let tree = TreeShape::flat(self.directory.clone(), self.files, self.files_per_directory);
        MetadataJob {
            base_per_worker: true,
            threads: self.processes,
            workers: Workers::Processes,
            order: self.order,
            file_bytes: self.file_size.clone(),
            // A file is written, and read, with one call.
            record_bytes: (self.file_size.longest().max(1))
                .checked_next_multiple_of(4096)
                .unwrap_or(u64::MAX),
            ..MetadataJob::new(operation, tree)
        }
    }

    /// A job that writes files, new ones in the place of old ones or not: directories, owner and
    /// permissions are a part of it.
    pub(crate) fn writing_job(&self, operation: MetadataOperation) -> MetadataJob {
        let then = if self.attributes {
            vec![MetadataOperation::Chown, MetadataOperation::Chmod]
        } else {
            Vec::new()
        };
        MetadataJob {
            then,
            directories: DirectoryTiming::InTime,
            ..self.job(operation)
        }
    }

    /// What a reader of the figures of a writing job must know.
    pub(crate) fn writing_notes(&self) -> Option<String> {
        (!self.attributes).then(|| "files are written without chown(2) and chmod(2)".into())
    }
}

impl WorkloadParameters for OwnTrees {
    fn settle(&mut self, _size: Bytes) -> Result<(), String> {
        demand_inside(&self.directory)?;
        let stat = self.job(MetadataOperation::Stat);
        stat.validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        let files = self.files.saturating_mul(self.processes.into());
        sized_footprint(files, &self.file_size)
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        None
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::FileBytes(Bytes(self.file_size.longest()))];
        // Where files cannot be written so, there are none to visit either.
        needs.extend(self.attributes.then_some(Need::Permissions));
        needs
    }
}
