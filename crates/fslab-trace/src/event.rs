//! Events of a trace: one system call each, with its outcome.

use serde::{Deserialize, Serialize};

use crate::TracePath;

/// One system call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// The thread, numbered from 0 in the order of their start.
    pub thread: u32,
    /// Start of the call, since the start of the recording.
    pub at_ns: u64,
    /// Duration of the call.
    pub took_ns: u64,
    #[serde(flatten)]
    pub operation: Operation,
    #[serde(flatten)]
    pub outcome: CallOutcome,
}

impl TraceEvent {
    /// End of the call, since the start of the recording.
    pub fn end_ns(&self) -> u64 {
        self.at_ns.saturating_add(self.took_ns)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallOutcome {
    /// Success: bytes moved or the new position, for calls that return one; else 0.
    Result(u64),
    /// Failure: the errno's name, such as `ENOENT`.
    Error(String),
}

impl CallOutcome {
    /// True if the call succeeded.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Result(_))
    }
}

/// The object of a call: a path or an open file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// An open file.
    Handle {
        /// Its number.
        handle: u32,
    },
    Path {
        path: TracePath,
        /// True if a symbolic link is followed.
        follow: bool,
    },
}

/// An operation. Open files have unique numbers in a trace, which are never reused as descriptors
/// are: a duplicate has its own, and so has each one that a child inherits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum Operation {
    /// open(2) and variants.
    Open {
        path: TracePath,
        /// The path after symbolic links, if different.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        real: Option<TracePath>,
        /// Flags in strace's notation: `O_WRONLY|O_CREAT`.
        flags: String,
        /// Permission bits of a new file.
        mode: u32,
        /// Number of the open file; `None` if the call failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handle: Option<u32>,
    },
    /// close(2).
    Close {
        /// The open file.
        handle: u32,
    },
    /// dup(2) and variants.
    Duplicate {
        /// The open file.
        handle: u32,
        /// Number of the duplicate.
        to: u32,
    },
    /// read(2), pread(2) and variants.
    Read {
        /// The open file.
        handle: u32,
        /// Bytes requested.
        length: u64,
        /// First byte; `None` for the current position.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
    },
    /// write(2), pwrite(2) and variants.
    Write {
        /// The open file.
        handle: u32,
        /// Bytes requested.
        length: u64,
        /// First byte; `None` for the current position.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
    },
    /// lseek(2).
    Seek {
        /// The open file.
        handle: u32,
        /// Distance in bytes.
        offset: i64,
        /// Origin in strace's notation: `SEEK_SET`.
        whence: String,
    },
    /// mmap(2) of a file; its pages count as read.
    Map {
        /// The open file.
        handle: u32,
        /// First byte.
        offset: u64,
        /// Length in bytes.
        length: u64,
    },
    /// sendfile(2) or copy_file_range(2) from one file to another.
    Copy {
        /// The open file.
        handle: u32,
        /// The destination.
        to: u32,
        /// Bytes requested.
        length: u64,
        /// First byte read; `None` for the current position.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// First byte written; `None` for the current position.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to_offset: Option<u64>,
        /// True for copy_file_range(2), which may share blocks.
        range: bool,
    },
    /// fsync(2), fdatasync(2), sync_file_range(2), syncfs(2).
    Sync {
        /// The open file.
        handle: u32,
        /// The call's name.
        call: String,
    },
    /// truncate(2), ftruncate(2).
    Truncate {
        /// The path or open file.
        #[serde(flatten)]
        place: Place,
        /// New length.
        length: u64,
    },
    /// fallocate(2).
    Allocate {
        /// The open file.
        handle: u32,
        /// Mode in strace's notation: `0`, `FALLOC_FL_KEEP_SIZE`.
        mode: String,
        /// First byte.
        offset: u64,
        /// Length in bytes.
        length: u64,
    },
    /// stat(2) and variants.
    Stat {
        /// The path or open file.
        #[serde(flatten)]
        place: Place,
    },
    /// access(2) and variants.
    Access {
        path: TracePath,
        /// Mode in strace's notation: `R_OK|W_OK`.
        mode: String,
    },
    /// readlink(2).
    Readlink { path: TracePath },
    /// getdents(2): one buffer of directory entries.
    List {
        /// The open file.
        handle: u32,
        /// Size of the buffer in bytes.
        length: u64,
    },
    /// mkdir(2).
    Mkdir {
        path: TracePath,
        /// Permission bits.
        mode: u32,
    },
    /// rmdir(2).
    Rmdir { path: TracePath },
    /// unlink(2).
    Unlink { path: TracePath },
    /// rename(2) and variants.
    Rename {
        path: TracePath,
        /// The new path.
        to: TracePath,
        /// Flags in strace's notation: `0`, `RENAME_NOREPLACE`.
        flags: String,
    },
    /// link(2).
    Link {
        /// The file's path.
        path: TracePath,
        /// The additional path.
        to: TracePath,
    },
    /// symlink(2).
    Symlink {
        /// The link's target.
        target: LinkTarget,
        /// The link's path.
        path: TracePath,
    },
    /// chmod(2) and variants.
    Chmod {
        /// The path or open file.
        #[serde(flatten)]
        place: Place,
        /// Permission bits.
        mode: u32,
    },
    /// chown(2) and variants.
    Chown {
        /// The path or open file.
        #[serde(flatten)]
        place: Place,
        /// New user id; `None` leaves it.
        user: Option<u32>,
        /// New group id; `None` leaves it.
        group: Option<u32>,
    },
    /// utimensat(2) and variants; a replay sets both times to now.
    Touch {
        /// The path or open file.
        #[serde(flatten)]
        place: Place,
    },
    /// Creation of a thread or process: fork(2), clone(2).
    Spawn {
        /// Number of the new thread.
        child: u32,
        /// Inherited open files (old number, new number); empty if the table is shared.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        inherited: Vec<(u32, u32)>,
    },
    /// execve(2).
    Exec {
        /// Open files that were closed.
        closed: Vec<u32>,
    },
    /// Wait for the end of a thread: wait4(2).
    Wait {
        /// Number of the ended thread.
        child: u32,
    },
    /// End of a thread. Files are closed with the last thread of a process.
    Exit {
        /// Open files that were closed.
        closed: Vec<u32>,
    },
}

/// The target of a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkTarget {
    /// An absolute path below the traced directory, stored relative to it, so that a replay
    /// elsewhere can adapt it.
    Below(TracePath),
    /// Any other target, unchanged except that bytes that are not UTF-8 are replaced.
    Text(String),
}

impl Operation {
    /// The name under which it is counted.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Close { .. } => "close",
            Self::Duplicate { .. } => "dup",
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Seek { .. } => "seek",
            Self::Map { .. } => "map",
            Self::Copy { .. } => "copy",
            // Syncs are counted by call, since their costs differ.
            Self::Sync { call, .. } => match call.as_str() {
                "fdatasync" => "fdatasync",
                "sync_file_range" => "sync-file-range",
                "syncfs" => "syncfs",
                _ => "fsync",
            },
            Self::Truncate { .. } => "truncate",
            Self::Allocate { .. } => "fallocate",
            Self::Stat { .. } => "stat",
            Self::Access { .. } => "access",
            Self::Readlink { .. } => "readlink",
            Self::List { .. } => "getdents",
            Self::Mkdir { .. } => "mkdir",
            Self::Rmdir { .. } => "rmdir",
            Self::Unlink { .. } => "unlink",
            Self::Rename { .. } => "rename",
            Self::Link { .. } => "link",
            Self::Symlink { .. } => "symlink",
            Self::Chmod { .. } => "chmod",
            Self::Chown { .. } => "chown",
            Self::Touch { .. } => "utimens",
            Self::Spawn { .. } => "spawn",
            Self::Exec { .. } => "exec",
            Self::Wait { .. } => "wait",
            Self::Exit { .. } => "exit",
        }
    }

    /// True for operations on files, false for those on processes.
    pub fn is_file_operation(&self) -> bool {
        !matches!(
            self,
            Self::Spawn { .. } | Self::Exec { .. } | Self::Wait { .. } | Self::Exit { .. }
        )
    }
}

impl Place {
    fn handle(&self) -> Option<u32> {
        match self {
            Self::Handle { handle } => Some(*handle),
            Self::Path { .. } => None,
        }
    }
}

impl Operation {
    /// Numbers of the open files that it refers to.
    pub fn handles(&self) -> impl Iterator<Item = u32> {
        let (one, other, more): (Option<u32>, Option<u32>, &[u32]) = match self {
            Self::Open { handle, .. } => (*handle, None, &[]),
            Self::Close { handle }
            | Self::Read { handle, .. }
            | Self::Write { handle, .. }
            | Self::Seek { handle, .. }
            | Self::Map { handle, .. }
            | Self::Sync { handle, .. }
            | Self::Allocate { handle, .. }
            | Self::List { handle, .. } => (Some(*handle), None, &[]),
            Self::Duplicate { handle, to } | Self::Copy { handle, to, .. } => {
                (Some(*handle), Some(*to), &[])
            }
            Self::Truncate { place, .. }
            | Self::Stat { place }
            | Self::Chmod { place, .. }
            | Self::Chown { place, .. }
            | Self::Touch { place } => (place.handle(), None, &[]),
            Self::Exec { closed } | Self::Exit { closed } => (None, None, closed),
            _ => (None, None, &[]),
        };
        let inherited: &[(u32, u32)] = match self {
            Self::Spawn { inherited, .. } => inherited,
            _ => &[],
        };
        let pairs = inherited.iter().flat_map(|(old, new)| [*old, *new]);
        one.into_iter()
            .chain(other)
            .chain(more.iter().copied())
            .chain(pairs)
    }

    /// The thread that it creates or waits for.
    pub fn child(&self) -> Option<u32> {
        match self {
            Self::Spawn { child, .. } | Self::Wait { child } => Some(*child),
            _ => None,
        }
    }
}
