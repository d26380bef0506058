//! Jobs on names, attributes and small files.

use super::{Digest, DirectoryTiming, FileKind, NameStyle, Refusal};
use std::path::PathBuf;

use super::limits::{RECORD_BYTES_MAX, THREADS_MAX, TREE_FILES_MAX, TREE_LEVELS_MAX};
use super::{FileSizes, Sharing, TreeShape, Workers};
use crate::Content;
use fslab_model::{Bytes, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One operation on every file or directory of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MetadataJob {
    /// The operation on every file.
    pub operation: MetadataOperation,
    /// Further operations on each file, timed with the first as one, which is recorded as
    /// `compound`.
    #[serde(skip_serializing_if = "is_default")]
    pub then: Vec<MetadataOperation>,
    /// The root of the tree, below that of the file system.
    pub directory: PathBuf,
    /// Number of files.
    #[schemars(range(min = 1, max = TREE_FILES_MAX))]
    pub files: u64,
    /// Files in each directory; 0 for all in one.
    pub files_per_directory: u64,
    /// Directories in each directory.
    pub fan_out: u64,
    /// Levels of directories.
    #[schemars(range(max = TREE_LEVELS_MAX))]
    pub depth: u32,
    /// How files are named.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = NameStyle::Number))]
    pub name_style: NameStyle,
    /// By which names files are used.
    pub names: Names,
    /// The order of files.
    pub order: Order,
    /// Bytes of each file: a size like "4KiB", a list of sizes, which are taken in turn, or a
    /// distribution.
    pub file_size: FileSizes,
    /// Bytes per read(2) or write(2).
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_BYTES_MAX))]
    pub record: Bytes,
    /// Length after "truncate", in bytes.
    pub truncated: Bytes,
    /// Calls that make changes durable.
    pub sync: MetadataSync,
    /// How far the data written can be compressed and deduplicated.
    pub content: Content,
    /// Generation of the content: another number gives other data.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = 0))]
    pub generation: u32,
    /// What is created.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = FileKind::File))]
    pub kind: FileKind,
    /// Compare what is read with what was written; needs records of a multiple of 4 KiB.
    pub verify: bool,
    /// The digest of each file that is read. Default: none.
    #[serde(skip_serializing_if = "is_default")]
    pub digest: Option<Digest>,
    /// When directories are made.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = DirectoryTiming::default()))]
    pub directories: DirectoryTiming,
    /// With "unlink": also remove the directories and the base, timed and recorded as
    /// `remove-directory`: in readdir order each right after its files, else all after the last
    /// file, deepest first.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub remove_directories: bool,
    /// With "turnover": directories that exist at a time.
    #[serde(skip_serializing_if = "is_default_kept")]
    #[schemars(extend("default" = KEPT_DIRECTORIES))]
    pub kept_directories: u64,
    /// Threads, or processes.
    #[schemars(range(min = 1, max = THREADS_MAX))]
    pub threads: u32,
    /// The kind of workers.
    pub workers: Workers,
    /// How threads share the files: "own" or "shared". With "own" each has its own directories, if
    /// there are at least as many as threads.
    pub sharing: Sharing,
    /// Each thread or process has its own tree of `files` files, in `p0`, `p1`, ...
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub base_per_worker: bool,
    /// Use absolute paths, as mdtest does; otherwise paths relative to the open directory.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub absolute_paths: bool,
    /// After this time each thread works until it has done as many files as the fastest:
    /// `stonewall = "300s"`, as mdtest's -W. `files` is the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub stonewall_ns: Option<u64>,
    /// In a load of several ranks, work on the files of the rank so many after this one.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = 0))]
    pub rank_shift: u32,
}

/// Default of the directories that a turnover keeps.
const KEPT_DIRECTORIES: u64 = 4;

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_default_kept(value: &u64) -> bool {
    *value == KEPT_DIRECTORIES
}

/// Operation on each file or directory.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum MetadataOperation {
    /// mkdir(2) of every directory below the base.
    Mkdir,
    /// open(2) of a new file, write(2) if it has data, close(2). Missing directories are made
    /// before the measurement.
    Create,
    /// open(2) of the old file, unlink(2), close(2), then as `create`.
    Replace,
    /// open(2) for reading, close(2).
    Open,
    /// stat(2); lstat(2) with `names = "symlinks"`.
    Stat,
    /// open(2), read(2) to the end, close(2).
    Read,
    /// open(2), getdents(2) to the end, close(2), of the base and every directory.
    List,
    /// rename(2) to the name of `names = "renamed"`, or back if the job uses those names.
    Rename,
    /// link(2) to the name of `names = "links"`.
    Link,
    /// symlink(2) at the name of `names = "symlinks"`, pointing to the file.
    Symlink,
    /// readlink(2) of the name of `names = "symlinks"`.
    Readlink,
    /// chmod(2).
    Chmod,
    /// chown(2) to the caller's user and group.
    Chown,
    /// utimensat(2) to the current time.
    Utimens,
    /// setxattr(2) of a 32-byte value.
    #[strum(serialize = "setxattr")]
    SetXattr,
    /// getxattr(2) of the value set.
    #[strum(serialize = "getxattr")]
    GetXattr,
    /// truncate(2).
    Truncate,
    /// open(2), fallocate(2), close(2).
    Fallocate,
    /// open(2), fsync(2), close(2).
    FsyncFile,
    /// open(2), fsync(2), close(2), of the base and every directory.
    FsyncDirectory,
    /// unlink(2). Directories stay.
    Unlink,
    /// rmdir(2) of every directory below the base, deepest first.
    Rmdir,
    /// mkdir(2) of directories in turn, each filled with files. Once there are
    /// `kept_directories`, the oldest is emptied in the job's order and removed
    /// before the next is made. An operation is a file created or unlinked.
    Turnover,
    /// Removes everything below the base, depth first, in the order of directory listings.
    /// `lost+found` in the base is kept; file systems mounted below the base are kept and cause an
    /// error. An operation is a file or directory removed.
    RemoveAll,
}

/// The name by which a file is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    /// The name of its creation.
    Files,
    /// The name given by the operation "rename".
    Renamed,
    /// The name given by the operation "link".
    Links,
    /// The name given by the operation "symlink".
    Symlinks,
}

/// The order of files or directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// By number, the order of creation.
    Sequential,
    /// Random, without replacement; for directories within each level.
    Random,
    /// The order of directory listings, which are timed and recorded as `list`. Each thread lists
    /// a shared directory and takes its part of the files.
    Readdir,
}

/// Calls that make changes durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MetadataSync {
    /// fsync(2) of each created file before it is closed.
    pub fsync_file: bool,
    /// fsync(2) of the directory after each change in it.
    pub fsync_directory: bool,
    /// syncfs(2) after the last operation; its time is part of the job's.
    pub closing_syncfs: bool,
    /// The latency of an operation includes its syncs; otherwise they are recorded separately.
    #[serde(skip_serializing_if = "is_default")]
    pub as_one: bool,
    /// Handling of a file system that does not support fsync(2) of directories.
    #[serde(skip_serializing_if = "is_default")]
    pub directory_refused: Refusal,
}

/// The items that an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Items {
    Files,
    /// Each directory below the base.
    Directories,
    /// The base, and each directory below it.
    BaseAndDirectories,
    /// One directory after another, with all files.
    Turnover,
    /// Everything below the base.
    Everything,
}

impl Names {
    /// First letter of such names.
    pub(crate) fn letter(self) -> u8 {
        match self {
            Self::Files => b'f',
            Self::Renamed => b'r',
            Self::Links => b'l',
            Self::Symlinks => b's',
        }
    }
}

impl MetadataOperation {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Name of its latencies in results.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub(crate) fn items(self) -> Items {
        match self {
            Self::Mkdir | Self::Rmdir => Items::Directories,
            Self::List | Self::FsyncDirectory => Items::BaseAndDirectories,
            Self::Turnover => Items::Turnover,
            Self::RemoveAll => Items::Everything,
            _ => Items::Files,
        }
    }

    /// True if it creates files.
    pub(crate) fn creates(self) -> bool {
        matches!(self, Self::Create | Self::Replace | Self::Turnover)
    }

    pub(crate) fn reads_data(self) -> bool {
        self == Self::Read
    }

    /// True if it gives each file another name.
    pub(crate) fn gives_a_name(self) -> bool {
        matches!(self, Self::Rename | Self::Link | Self::Symlink)
    }

    /// True if it changes the names in a directory.
    pub(super) fn changes_directory(self) -> bool {
        matches!(
            self,
            Self::Mkdir
                | Self::Create
                | Self::Replace
                | Self::Rename
                | Self::Link
                | Self::Symlink
                | Self::Unlink
                | Self::Rmdir
                | Self::Turnover
        )
    }

    /// True if it can follow another operation on the same file.
    pub(super) fn can_follow(self) -> bool {
        matches!(
            self,
            Self::Open
                | Self::Stat
                | Self::Read
                | Self::Chmod
                | Self::Chown
                | Self::Utimens
                | Self::FsyncFile
        )
    }
}

impl Default for MetadataJob {
    /// Creates 1000 empty files.
    fn default() -> Self {
        Self::new(
            MetadataOperation::Create,
            TreeShape::flat("files", 1000, 200),
        )
    }
}

impl MetadataJob {
    /// The shape of the tree.
    #[inline]
    pub(crate) fn tree(&self) -> TreeShape<'_> {
        TreeShape {
            base: &self.directory,
            files: self.files,
            files_per_directory: self.files_per_directory,
            fan_out: self.fan_out,
            depth: self.depth,
        }
    }

    /// `operation` on every file or directory of `tree` by number, with one thread; files are
    /// empty, and nothing is synced.
    pub fn new(operation: MetadataOperation, tree: TreeShape<'_>) -> Self {
        Self {
            operation,
            then: Vec::new(),
            directory: tree.base.to_owned(),
            files: tree.files,
            files_per_directory: tree.files_per_directory,
            fan_out: tree.fan_out,
            depth: tree.depth,
            name_style: NameStyle::default(),
            names: Names::Files,
            order: Order::Sequential,
            file_size: FileSizes::Fixed(0),
            record: Bytes::mib(1),
            truncated: Bytes(0),
            sync: MetadataSync::default(),
            content: Content::default(),
            generation: 0,
            kind: FileKind::default(),
            verify: false,
            digest: None,
            directories: DirectoryTiming::default(),
            remove_directories: false,
            kept_directories: KEPT_DIRECTORIES,
            threads: 1,
            workers: Workers::Threads,
            sharing: Sharing::Own,
            base_per_worker: false,
            absolute_paths: false,
            stonewall_ns: None,
            rank_shift: 0,
        }
    }

    /// The job of so many ranks: with all their threads, and as many files for each rank.
    pub(crate) fn of_ranks(&self, ranks: u32) -> Self {
        let factor = if self.base_per_worker { 1 } else { ranks };
        Self {
            threads: self.threads.saturating_mul(ranks),
            files: self.files.saturating_mul(factor.into()),
            ..self.clone()
        }
    }

    /// Name of its latencies in results.
    pub(crate) fn latency_name(&self) -> &'static str {
        if self.then.is_empty() {
            self.operation.as_str()
        } else {
            "compound"
        }
    }

    /// True if an operation is the calls of its kind and nothing else: no other operation, no sync
    /// and no comparison follows, and no directory is made on demand.
    pub(crate) fn is_single_step(&self) -> bool {
        let syncs = self.sync.fsync_file || self.sync.fsync_directory || self.sync.as_one;
        let makes_directories = self.directories == DirectoryTiming::InTime
            || self.operation == MetadataOperation::Turnover;
        self.then.is_empty() && !syncs && !self.verify && !makes_directories
    }

    /// True if files are read.
    pub(crate) fn reads_data(&self) -> bool {
        self.operation.reads_data() || self.then.contains(&MetadataOperation::Read)
    }

    /// True if its figures include bytes.
    pub(crate) fn moves_data(&self) -> bool {
        (self.operation.creates() || self.reads_data()) && self.file_size.longest() > 0
    }

    /// Number of threads that share a tree.
    pub(crate) fn threads_of_a_tree(&self) -> u32 {
        if self.base_per_worker {
            1
        } else {
            self.threads
        }
    }

    /// True if files are missing between others while each thread has made only its first.
    pub(crate) fn has_gaps(&self) -> bool {
        self.threads_of_a_tree() > 1 && self.sharing == Sharing::Own
    }

    /// True if no two threads use the same directory.
    pub(crate) fn directories_are_own(&self) -> bool {
        let threads = self.threads_of_a_tree();
        threads == 1 || self.sharing == Sharing::Own && self.tree().leaves() >= u64::from(threads)
    }
}
