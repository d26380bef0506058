//! Any metadata job that the engine can issue, every knob of it in the study's hands.

use std::path::PathBuf;

use fslab_engine::{
    Content, Digest, DirectoryTiming, FileKind, FileSizes, MetadataJob, MetadataOperation,
    MetadataSync, NameStyle, Names, Order, RunContext, Sharing, TreeShape, Workers, run_metadata,
};
use fslab_model::{Bytes, Headline, Need, PhaseKind};
use serde::{Deserialize, Serialize};

use crate::parameters::{demand_inside, sized_footprint};
use crate::workload::{Definition, Finished, RunError, WorkloadParameters};

pub(crate) struct Files;

/// Bytes of the longest name that has a random part.
const STYLED_NAME_BYTES: u32 = 19;
/// Directories that a turnover keeps where a study does not say.
const KEPT_DIRECTORIES: u64 = 4;

/// Parameters of `files`. Each is defined where the engine's [`MetadataJob`] defines it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FilesParameters {
    operation: MetadataOperation,
    #[serde(skip_serializing_if = "is_default")]
    then: Vec<MetadataOperation>,
    directory: PathBuf,
    files: u64,
    files_per_directory: u64,
    fan_out: u64,
    depth: u32,
    #[serde(skip_serializing_if = "is_default")]
    name_style: NameStyle,
    names: Names,
    order: Order,
    file_size: FileSizes,
    record: Bytes,
    truncated: Bytes,
    sync: MetadataSync,
    content: Content,
    #[serde(skip_serializing_if = "is_default")]
    generation: u32,
    #[serde(skip_serializing_if = "is_default")]
    kind: FileKind,
    verify: bool,
    #[serde(skip_serializing_if = "is_default")]
    digest: Option<Digest>,
    #[serde(skip_serializing_if = "is_default")]
    directories: DirectoryTiming,
    #[serde(skip_serializing_if = "is_default")]
    remove_directories: bool,
    #[serde(skip_serializing_if = "is_usual")]
    kept_directories: u64,
    threads: u32,
    workers: Workers,
    sharing: Sharing,
    #[serde(skip_serializing_if = "is_default")]
    base_per_worker: bool,
}

/// Parameters that came later are left out of plans where they have no effect, so that plans that
/// were made before are still the same.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_usual(value: &u64) -> bool {
    *value == KEPT_DIRECTORIES
}

impl Default for FilesParameters {
    fn default() -> Self {
        let tree = TreeShape::flat("files", 1000, 200);
        let job = MetadataJob::new(MetadataOperation::Create, tree);
        Self {
            operation: job.operation,
            then: job.then,
            directory: job.tree.base,
            files: job.tree.files,
            files_per_directory: job.tree.files_per_directory,
            fan_out: job.tree.fan_out,
            depth: job.tree.depth,
            name_style: job.name_style,
            names: job.names,
            order: job.order,
            file_size: job.file_bytes,
            record: Bytes(job.record_bytes),
            truncated: Bytes(job.truncated_bytes),
            sync: job.sync,
            content: job.content,
            generation: job.generation,
            kind: job.kind,
            verify: job.verify,
            digest: job.digest,
            directories: job.directories,
            remove_directories: job.remove_directories,
            kept_directories: KEPT_DIRECTORIES,
            threads: job.threads,
            workers: job.workers,
            sharing: job.sharing,
            base_per_worker: job.base_per_worker,
        }
    }
}

impl FilesParameters {
    fn job(&self) -> MetadataJob {
        MetadataJob {
            operation: self.operation,
            then: self.then.clone(),
            tree: TreeShape {
                base: self.directory.clone(),
                files: self.files,
                files_per_directory: self.files_per_directory,
                fan_out: self.fan_out,
                depth: self.depth,
            },
            name_style: self.name_style,
            names: self.names,
            order: self.order,
            file_bytes: self.file_size.clone(),
            record_bytes: self.record.0,
            truncated_bytes: self.truncated.0,
            sync: self.sync,
            content: self.content,
            generation: self.generation,
            kind: self.kind,
            verify: self.verify,
            digest: self.digest,
            directories: self.directories,
            remove_directories: self.remove_directories,
            kept_directories: self.kept_directories,
            threads: self.threads,
            workers: self.workers,
            sharing: self.sharing,
            base_per_worker: self.base_per_worker,
        }
    }

    /// How many files there are at a time at most.
    fn files_held(&self) -> u64 {
        let trees = if self.base_per_worker {
            self.threads
        } else {
            1
        };
        let of_one = match self.operation {
            MetadataOperation::Turnover => {
                let kept = self
                    .kept_directories
                    .saturating_mul(self.files_per_directory);
                self.files.min(kept)
            }
            _ if self.kind != FileKind::File => 1,
            _ => self.files,
        };
        of_one.saturating_mul(trees.into())
    }
}

impl WorkloadParameters for FilesParameters {
    fn settle(&mut self, _size: Bytes) -> Result<(), String> {
        demand_inside(&self.directory)?;
        // The engine knows what makes no sense; a plan should know it before a disk is formatted.
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        sized_footprint(self.files_held(), &self.file_size)
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        None
    }

    fn needs(&self) -> Vec<Need> {
        use MetadataOperation as Operation;
        let mut needs = vec![Need::FileBytes(Bytes(self.file_size.longest()))];
        let steps = std::iter::once(&self.operation).chain(&self.then);
        needs.extend(steps.filter_map(|step| match step {
            Operation::Link => Some(Need::HardLinks(2)),
            Operation::Symlink | Operation::Readlink => Some(Need::Symlinks),
            Operation::Chmod | Operation::Chown => Some(Need::Permissions),
            Operation::SetXattr | Operation::GetXattr => Some(Need::ExtendedAttributes),
            _ => None,
        }));
        needs.extend(match self.kind {
            FileKind::File => None,
            FileKind::Link => Some(Need::HardLinks(self.files)),
            FileKind::Symlink => Some(Need::Symlinks),
        });
        needs.extend(
            (self.name_style != NameStyle::Number).then_some(Need::NameBytes(STYLED_NAME_BYTES)),
        );
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
