//! Jobs on names, attributes and small files.

use super::{Digest, DirectoryTiming, FileKind, NameStyle, Refusal};
use super::{FileSizes, Sharing, TreeShape, Workers};
use crate::Content;
use fslab_model::is_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One operation on every file or directory of a tree.
///
/// Made by [`MetadataJob::new`], then modified.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataJob {
    /// The operation.
    pub operation: MetadataOperation,
    /// Further operations on each file, timed together with the first as one operation.
    pub then: Vec<MetadataOperation>,
    /// The tree of files.
    pub tree: TreeShape,
    /// Naming of the files.
    pub name_style: NameStyle,
    /// The names that are used.
    pub names: Names,
    /// Order of the files.
    pub order: Order,
    /// Lengths of the files, for operations that write, read or allocate them.
    pub file_bytes: FileSizes,
    /// Record length of writes and reads; at most 128 MiB.
    pub record_bytes: u64,
    /// Length for [`MetadataOperation::Truncate`].
    pub truncated_bytes: u64,
    /// Calls that make the changes durable.
    pub sync: MetadataSync,
    /// Compressibility and duplication of the data.
    pub content: Content,
    /// How often the files' contents were replaced before; determines the data written or expected.
    pub generation: u32,
    /// Kind of files made by [`MetadataOperation::Create`].
    pub kind: FileKind,
    /// Compares data read with data written; by the digest, if there is one.
    pub verify: bool,
    /// Computes a digest of each file while reading it.
    pub digest: Option<Digest>,
    /// When the directories of created files are made.
    pub directories: DirectoryTiming,
    /// Also removes the directories of unlinked files, and the base at the end. The time is part of
    /// the job's, and recorded as `remove-directory`. In readdir order each directory is removed
    /// right after its files, else all after the last file, deepest first.
    pub remove_directories: bool,
    /// Number of directories kept by [`MetadataOperation::Turnover`].
    pub kept_directories: u64,
    /// Number of threads or processes.
    pub threads: u32,
    /// Threads or processes.
    pub workers: Workers,
    /// `Own`: each thread has a range of files, so mostly separate directories. `Shared`: the files
    /// of each directory are dealt out to all threads.
    pub sharing: Sharing,
    /// Each worker has a separate tree, in `p0`, `p1` and so on below the base.
    pub base_per_worker: bool,
    /// System calls have the absolute path of a file, as in mdtest; otherwise one relative to the
    /// open base.
    pub absolute_paths: bool,
    /// After so many nanoseconds each thread waits for the others, and then works until it has done
    /// as many files as the fastest. Later jobs on the tree use what is there.
    pub stonewall_ns: Option<u64>,
    /// In a load of several ranks, each works on the files of the rank that is so many after it.
    pub rank_shift: u32,
}

/// Operation on each file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
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
    SetXattr,
    /// getxattr(2) of the value set.
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
    /// The order of directory listings. The listing is part of the job, and recorded as `list`. A
    /// directory that threads share is listed by each, which then takes its part of the files.
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
    /// The latency of an operation includes its syncs, and a created file is closed after them;
    /// otherwise syncs are recorded separately.
    #[serde(skip_serializing_if = "is_default")]
    pub as_one: bool,
    /// Handling of a file system that does not support fsync(2) of directories.
    #[serde(skip_serializing_if = "is_default")]
    pub directory_refused: Refusal,
}

/// The items that an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Items {
    /// All files.
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
    /// All operations.
    pub const ALL: &[Self] = &[
        Self::Mkdir,
        Self::Create,
        Self::Replace,
        Self::Open,
        Self::Stat,
        Self::Read,
        Self::List,
        Self::Rename,
        Self::Link,
        Self::Symlink,
        Self::Readlink,
        Self::Chmod,
        Self::Chown,
        Self::Utimens,
        Self::SetXattr,
        Self::GetXattr,
        Self::Truncate,
        Self::Fallocate,
        Self::FsyncFile,
        Self::FsyncDirectory,
        Self::Unlink,
        Self::Rmdir,
        Self::Turnover,
        Self::RemoveAll,
    ];

    /// Name of its latencies in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mkdir => "mkdir",
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Open => "open",
            Self::Stat => "stat",
            Self::Read => "read",
            Self::List => "list",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Symlink => "symlink",
            Self::Readlink => "readlink",
            Self::Chmod => "chmod",
            Self::Chown => "chown",
            Self::Utimens => "utimens",
            Self::SetXattr => "setxattr",
            Self::GetXattr => "getxattr",
            Self::Truncate => "truncate",
            Self::Fallocate => "fallocate",
            Self::FsyncFile => "fsync-file",
            Self::FsyncDirectory => "fsync-directory",
            Self::Unlink => "unlink",
            Self::Rmdir => "rmdir",
            Self::Turnover => "turnover",
            Self::RemoveAll => "remove-all",
        }
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

impl MetadataJob {
    /// `operation` on every file or directory of `tree` by number, with one thread; files are
    /// empty, and nothing is synced.
    #[must_use]
    pub fn new(operation: MetadataOperation, tree: TreeShape) -> Self {
        Self {
            operation,
            then: Vec::new(),
            tree,
            name_style: NameStyle::default(),
            names: Names::Files,
            order: Order::Sequential,
            file_bytes: FileSizes::Fixed(0),
            record_bytes: 1 << 20,
            truncated_bytes: 0,
            sync: MetadataSync::default(),
            content: Content::default(),
            generation: 0,
            kind: FileKind::default(),
            verify: false,
            digest: None,
            directories: DirectoryTiming::default(),
            remove_directories: false,
            kept_directories: 4,
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
        let mut tree = self.tree.clone();
        if !self.base_per_worker {
            tree.files = tree.files.saturating_mul(ranks.into());
        }
        Self {
            threads: self.threads.saturating_mul(ranks),
            tree,
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
        (self.operation.creates() || self.reads_data()) && self.file_bytes.longest() > 0
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
        threads == 1 || self.sharing == Sharing::Own && self.tree.leaves() >= u64::from(threads)
    }
}
