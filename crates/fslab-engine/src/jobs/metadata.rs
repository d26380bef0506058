//! Jobs that work on names, attributes and small files.

use super::{Digest, DirectoryTiming, FileKind, NameStyle, Refusal};
use super::{FileSizes, Sharing, TreeShape, Workers};
use crate::Content;
use serde::{Deserialize, Serialize};

/// One operation on every file, or every directory, of a tree.
///
/// Make one with [`MetadataJob::new`], and set what differs.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataJob {
    /// What is done.
    pub operation: MetadataOperation,
    /// What else is done to each file right after it; all of it is timed as one operation.
    pub then: Vec<MetadataOperation>,
    /// To which files.
    pub tree: TreeShape,
    /// How they are named.
    pub name_style: NameStyle,
    /// To which of their names.
    pub names: Names,
    /// In what order.
    pub order: Order,
    /// How long the files are, for those operations that write, read or reserve them.
    pub file_bytes: FileSizes,
    /// Length of the records in which they are written and read; at most 128 MiB.
    pub record_bytes: u64,
    /// What [`MetadataOperation::Truncate`] cuts files to.
    pub truncated_bytes: u64,
    /// Which calls make the changes durable.
    pub sync: MetadataSync,
    /// What is written, as to compression and deduplication.
    pub content: Content,
    /// How many times the content of the files was replaced before; decides what is written, and
    /// what is expected.
    pub generation: u32,
    /// What [`MetadataOperation::Create`] makes.
    pub kind: FileKind,
    /// Compare what is read with what was written; where there is a digest, by that.
    pub verify: bool,
    /// A digest of each file that is read, made while it is read.
    pub digest: Option<Digest>,
    /// When the directories of created files are made.
    pub directories: DirectoryTiming,
    /// Unlinked files take their directories with them, and at the end the base. The time is part
    /// of the job's, and recorded as `remove-directory`. In readdir order each goes right after its
    /// files, else all go after the last file, the deepest first.
    pub remove_directories: bool,
    /// How many directories [`MetadataOperation::Turnover`] keeps.
    pub kept_directories: u64,
    /// How many threads, or processes.
    pub threads: u32,
    /// Which of the two.
    pub workers: Workers,
    /// `Own`: each thread has a range of files, so mostly directories of its own. `Shared`: the
    /// files of each directory are dealt out among all.
    pub sharing: Sharing,
    /// Each thread has a whole tree of its own, in `p0`, `p1`, ... below the base.
    pub base_per_worker: bool,
}

/// What is done to each file, or to each directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetadataOperation {
    /// mkdir(2) of every directory below the base.
    Mkdir,
    /// open(2) of a new file, its data if it has any, close(2). Missing directories are made before
    /// the clock starts.
    Create,
    /// open(2) of the old file, unlink(2), close(2), then as `Create`.
    Replace,
    /// open(2) for reading, close(2).
    Open,
    /// stat(2); lstat(2) of the names that [`Names::Symlinks`] stands for.
    Stat,
    /// open(2), read(2) to the end, close(2).
    Read,
    /// open(2), getdents(2) to the end, close(2), of the base and every directory.
    List,
    /// rename(2) to the name that [`Names::Renamed`] stands for, or back where the job works on
    /// those.
    Rename,
    /// link(2): the file gets the name that [`Names::Links`] stands for.
    Link,
    /// symlink(2): the name that [`Names::Symlinks`] stands for leads to the file.
    Symlink,
    /// readlink(2) of those.
    Readlink,
    /// chmod(2).
    Chmod,
    /// chown(2), to the caller's own user and group.
    Chown,
    /// utimensat(2), to the current time.
    Utimens,
    /// setxattr(2) of a value of 32 bytes.
    SetXattr,
    /// getxattr(2) of that.
    GetXattr,
    /// truncate(2).
    Truncate,
    /// open(2), fallocate(2), close(2).
    Fallocate,
    /// open(2), fsync(2), close(2).
    FsyncFile,
    /// open(2), fsync(2), close(2), of the base and every directory.
    FsyncDirectory,
    /// unlink(2). The directories stay.
    Unlink,
    /// rmdir(2) of every directory below the base, the deepest first.
    Rmdir,
    /// mkdir(2) of one directory after the other, each filled with files; once there are
    /// [`MetadataJob::kept_directories`] of them, the oldest is emptied in the job's order and
    /// removed before the next is made. An operation is a file created or unlinked.
    Turnover,
    /// Everything below the base, whoever made it, is unlinked and removed, depth first, in the
    /// order in which directories list it. `lost+found` stays where it stands in the base itself,
    /// and so do other file systems that are mounted below it, as an error. An operation is a file
    /// or a directory removed.
    RemoveAll,
}

/// Which of its names a file is reached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    /// That which it was created with.
    Files,
    /// That which [`MetadataOperation::Rename`] gives.
    Renamed,
    /// That which [`MetadataOperation::Link`] gives.
    Links,
    /// That which [`MetadataOperation::Symlink`] gives.
    Symlinks,
}

/// In what order files, or directories, are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// That of their numbers, in which they are created.
    Sequential,
    /// Random; each once. Directories are in random order within their level.
    Random,
    /// That in which their directories list them. The listing is part of the job, and recorded as
    /// `list`.
    Readdir,
}

/// Which calls make changes durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetadataSync {
    /// fsync(2) of each file that is created, before it is closed.
    pub fsync_file: bool,
    /// fsync(2) of the directory after each change in it.
    pub fsync_directory: bool,
    /// syncfs(2) after the last operation; its time is part of the job's.
    pub closing_syncfs: bool,
    /// The latency of an operation ends with its syncs, and a created file is closed behind them;
    /// else they are recorded by themselves.
    #[serde(skip_serializing_if = "is_default")]
    pub as_one: bool,
    /// What is done where directories cannot be synchronised.
    #[serde(skip_serializing_if = "is_default")]
    pub directory_refused: Refusal,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subjects {
    /// Each file.
    Files,
    /// Each directory below the base.
    Directories,
    /// The base, and each directory below it.
    BaseAndDirectories,
    /// One directory with all its files after the other.
    Turnover,
    /// Whatever is below the base.
    Everything,
}

impl Names {
    /// The letter that such names begin with.
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
    /// Every operation.
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

    /// The name under which its latencies are recorded.
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

    pub(crate) fn subjects(self) -> Subjects {
        match self {
            Self::Mkdir | Self::Rmdir => Subjects::Directories,
            Self::List | Self::FsyncDirectory => Subjects::BaseAndDirectories,
            Self::Turnover => Subjects::Turnover,
            Self::RemoveAll => Subjects::Everything,
            _ => Subjects::Files,
        }
    }

    /// Whether it makes new files.
    pub(crate) fn creates(self) -> bool {
        matches!(self, Self::Create | Self::Replace | Self::Turnover)
    }

    pub(crate) fn reads_data(self) -> bool {
        self == Self::Read
    }

    /// Whether each file gets another name by it.
    pub(crate) fn gives_a_name(self) -> bool {
        matches!(self, Self::Rename | Self::Link | Self::Symlink)
    }

    /// Whether the names in a directory change with it.
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

    /// Whether it can follow another operation on the same file.
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
    /// `operation` on every file, or every directory, of `tree`, in the order of their numbers, by
    /// one thread; files are empty, and nothing is synchronised.
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
        }
    }

    /// The name under which the latencies of its operations are recorded.
    pub(crate) fn latency_name(&self) -> &'static str {
        if self.then.is_empty() {
            self.operation.as_str()
        } else {
            "compound"
        }
    }

    /// Whether files are read.
    pub(crate) fn reads_data(&self) -> bool {
        self.operation.reads_data() || self.then.contains(&MetadataOperation::Read)
    }

    /// Whether bytes are one of its figures.
    pub(crate) fn moves_data(&self) -> bool {
        (self.operation.creates() || self.reads_data()) && self.file_bytes.longest() > 0
    }

    /// How many threads share one tree.
    pub(crate) fn threads_of_a_tree(&self) -> u32 {
        if self.base_per_worker {
            1
        } else {
            self.threads
        }
    }

    /// Whether no two threads meet in a directory.
    pub(super) fn directories_are_own(&self) -> bool {
        let threads = self.threads_of_a_tree();
        threads == 1 || self.sharing == Sharing::Own && self.tree.leaves() >= u64::from(threads)
    }
}
