//! Jobs that work on names, attributes and small files.

use super::data::THREADS_MAX;
use super::{FileSizes, Sharing, TreeShape, Workers};
use crate::{Content, EngineError};
use serde::{Deserialize, Serialize};

/// One operation on every file, or every directory, of a tree.
///
/// Make one with [`MetadataJob::new`], and set what differs.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataJob {
    /// What is done.
    pub operation: MetadataOperation,
    /// To which files.
    pub tree: TreeShape,
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
    /// Compare what is read with what was written.
    pub verify: bool,
    /// How many threads, or processes.
    pub threads: u32,
    /// Which of the two.
    pub workers: Workers,
    /// `Own`: each thread has a range of files, so mostly directories of its own. `Shared`: the
    /// files of each directory are dealt out among all.
    pub sharing: Sharing,
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
    /// open(2) for reading, close(2).
    Open,
    /// stat(2).
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
    ];

    /// The name under which its latencies are recorded.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mkdir => "mkdir",
            Self::Create => "create",
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
        }
    }

    pub(crate) fn subjects(self) -> Subjects {
        match self {
            Self::Mkdir | Self::Rmdir => Subjects::Directories,
            Self::List | Self::FsyncDirectory => Subjects::BaseAndDirectories,
            _ => Subjects::Files,
        }
    }

    pub(crate) fn writes_data(self) -> bool {
        self == Self::Create
    }

    pub(crate) fn reads_data(self) -> bool {
        self == Self::Read
    }

    /// Whether each file gets another name by it.
    pub(crate) fn gives_a_name(self) -> bool {
        matches!(self, Self::Rename | Self::Link | Self::Symlink)
    }

    /// Whether the names in a directory change with it.
    fn changes_directory(self) -> bool {
        matches!(
            self,
            Self::Mkdir
                | Self::Create
                | Self::Rename
                | Self::Link
                | Self::Symlink
                | Self::Unlink
                | Self::Rmdir
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
            tree,
            names: Names::Files,
            order: Order::Sequential,
            file_bytes: FileSizes::Fixed(0),
            record_bytes: 1 << 20,
            truncated_bytes: 0,
            sync: MetadataSync::default(),
            content: Content::default(),
            verify: false,
            threads: 1,
            workers: Workers::Threads,
            sharing: Sharing::Own,
        }
    }

    /// Whether the job makes sense, whoever runs it.
    ///
    /// # Errors
    /// Of kind `BadInput`, with what makes no sense.
    pub fn validate(&self) -> Result<(), EngineError> {
        let fault = [
            self.tree.fault(),
            self.file_bytes.fault(),
            self.content.fault(),
            (self.record_bytes == 0 || self.record_bytes > 128 << 20)
                .then(|| format!("records of {} bytes", self.record_bytes)),
            (!(1..=THREADS_MAX).contains(&self.threads))
                .then(|| format!("{} threads, not 1 to {THREADS_MAX}", self.threads)),
            self.fault_in_combination(),
        ];
        match fault.into_iter().flatten().next() {
            None => Ok(()),
            Some(fault) => Err(EngineError::bad_input(format!(
                "the job '{}' on {} has {fault}",
                self.operation.as_str(),
                self.tree.base.display()
            ))),
        }
    }

    /// Whether each thread has directories of its own.
    pub(crate) fn directories_are_own(&self) -> bool {
        self.sharing == Sharing::Own && self.tree.leaves() >= u64::from(self.threads)
    }

    fn fault_in_combination(&self) -> Option<String> {
        let operation = self.operation;
        let of_files = operation.subjects() == Subjects::Files;
        if self.verify && !(operation.reads_data() && self.record_bytes.is_multiple_of(4096)) {
            return Some("verification of something else than reads of whole 4 KiB blocks".into());
        }
        if self.order == Order::Readdir && (!of_files || operation == MetadataOperation::Create) {
            return Some("readdir order, which only operations on existing files have".into());
        }
        if !of_files && self.threads > 1 && self.tree.levels() > 1 {
            return Some("several threads on directories within directories".into());
        }
        if self.verify && self.file_bytes.longest() > self.record_bytes {
            return Some("verification of files that are longer than a record".into());
        }
        if self.order == Order::Readdir && self.threads > 1 && !self.directories_are_own() {
            return Some("readdir order in directories that threads share".into());
        }
        if operation == MetadataOperation::Rename
            && matches!(self.names, Names::Links | Names::Symlinks)
        {
            return Some("a rename of links, for which there is no other name".into());
        }
        if self.sync.fsync_file && operation != MetadataOperation::Create {
            return Some("an fsync of each created file, but creates none".into());
        }
        if self.sync.fsync_directory && !operation.changes_directory() {
            return Some("an fsync of each changed directory, but changes none".into());
        }
        if operation == MetadataOperation::Fallocate && self.file_bytes.longest() == 0 {
            return Some("nothing to reserve: its files have 0 bytes".into());
        }
        None
    }
}
