//! The job `files`: every metadata job of the engine.

use std::path::PathBuf;

use fslab_engine::limits::{RECORD_BYTES_MAX, THREADS_MAX, TREE_FILES_MAX, TREE_LEVELS_MAX};
use fslab_engine::{
    Content, Digest, DirectoryTiming, FileKind, FileSizes, MetadataJob, MetadataOperation,
    MetadataSync, NameStyle, Names, Order, RunContext, Sharing, TreeShape, Workers, run_metadata,
};
use fslab_model::{Bytes, Need, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::{ensure_inside, sized_footprint};

/// Longest name with a random part, in bytes.
const STYLED_NAME_BYTES: u32 = 19;
/// Default of the directories that a turnover keeps.
const KEPT_DIRECTORIES: u64 = 4;

/// Any operation of the engine on every file of a tree.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FilesParameters {
    /// The operation on every file.
    operation: MetadataOperation,
    /// Further operations on each file, timed with the first as one, which is recorded as
    /// `compound`.
    #[serde(skip_serializing_if = "is_default")]
    then: Vec<MetadataOperation>,
    /// The root of the tree, below that of the file system.
    directory: PathBuf,
    /// Number of files.
    #[schemars(range(min = 1, max = TREE_FILES_MAX))]
    files: u64,
    /// Files in each directory; 0 for all in one.
    files_per_directory: u64,
    /// Directories in each directory.
    fan_out: u64,
    /// Levels of directories.
    #[schemars(range(max = TREE_LEVELS_MAX))]
    depth: u32,
    /// How files are named.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = NameStyle::Number))]
    name_style: NameStyle,
    /// By which names files are used.
    names: Names,
    /// The order of files.
    order: Order,
    /// Bytes of each file: a size like "4KiB", a list of sizes, which are taken in turn, or a
    /// distribution.
    file_size: FileSizes,
    /// Bytes per read(2) or write(2).
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_BYTES_MAX))]
    record: Bytes,
    /// Length after "truncate", in bytes.
    truncated: Bytes,
    /// Calls that make changes durable.
    sync: MetadataSync,
    /// How far the data written can be compressed and deduplicated.
    content: Content,
    /// Generation of the content: another number gives other data.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = 0))]
    generation: u32,
    /// What is created.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = FileKind::File))]
    kind: FileKind,
    /// Compare what is read with what was written; needs records of a multiple of 4 KiB.
    verify: bool,
    /// The digest of each file that is read. Default: none.
    #[serde(skip_serializing_if = "is_default")]
    digest: Option<Digest>,
    /// When directories are made.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = DirectoryTiming::default()))]
    directories: DirectoryTiming,
    /// With "unlink": remove the directories, too, and finally the base.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    remove_directories: bool,
    /// With "turnover": directories that exist at a time.
    #[serde(skip_serializing_if = "is_default_kept")]
    #[schemars(extend("default" = KEPT_DIRECTORIES))]
    kept_directories: u64,
    /// Threads, or processes.
    #[schemars(range(min = 1, max = THREADS_MAX))]
    threads: u32,
    /// Whether workers are threads of one process, or processes.
    workers: Workers,
    /// How threads share the files: "own" or "shared". With "own" each has its own directories, if
    /// there are at least as many as threads.
    sharing: Sharing,
    /// Each thread or process has its own tree of `files` files, in `p0`, `p1`, ...
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    base_per_worker: bool,
    /// Use absolute paths, as mdtest does; otherwise paths relative to the open folder, which take
    /// the kernel less time.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    absolute_paths: bool,
    /// After this time each thread waits for the others, and then works until it has done as many
    /// files as the fastest: `stonewall = "300s"`, as mdtest's -W. Later phases on the folder use
    /// what is there. `files` is the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    stonewall_ns: Option<u64>,
    /// In a load of several ranks, work on the files of the rank that is so many after this one.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = 0))]
    rank_shift: u32,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_default_kept(value: &u64) -> bool {
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
            absolute_paths: job.absolute_paths,
            stonewall_ns: job.stonewall_ns,
            rank_shift: job.rank_shift,
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
            absolute_paths: self.absolute_paths,
            stonewall_ns: self.stonewall_ns,
            rank_shift: self.rank_shift,
        }
    }

    /// The most files that exist at a time.
    fn files_max(&self) -> u64 {
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

impl Job for FilesParameters {
    const NAME: &'static str = "files";
    const RANKS: bool = true;

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        // Validated while planning, before a disk is formatted.
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        sized_footprint(self.files_max(), &self.file_size)
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

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &self.job())?.into())
    }
}
