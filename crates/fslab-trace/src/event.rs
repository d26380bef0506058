//! What a program did to files: one event for each system call, and what came of it.

use serde::{Deserialize, Serialize};

use crate::TracePath;

/// One call, by one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// The thread, numbered from 0 in the order in which they began.
    pub thread: u32,
    /// When it began, since the recording began.
    pub at_ns: u64,
    /// How long it took.
    pub took_ns: u64,
    /// What was asked for.
    #[serde(flatten)]
    pub operation: Operation,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: CallOutcome,
}

impl TraceEvent {
    /// When it was over.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.at_ns.saturating_add(self.took_ns)
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallOutcome {
    /// What it returned, where that is a number of the file's; else 0.
    Result(u64),
    /// The name of its errno: `ENOENT`.
    Error(String),
}

impl CallOutcome {
    /// Whether the call did what it was asked.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Result(_))
    }
}

/// What a call is about: a name, or an open file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// An open file.
    Handle {
        /// Its number.
        handle: u32,
    },
    /// A name.
    Path {
        /// The name.
        path: TracePath,
        /// Whether a symbolic link of that name stands for what it points to.
        follow: bool,
    },
}

/// What was asked for. Open files have numbers that are given once in a trace, so that what a
/// descriptor meant is never a matter of time: a duplicate has a number of its own, and so has what
/// a child inherits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum Operation {
    /// open(2) and its kin.
    Open {
        /// The name.
        path: TracePath,
        /// Where the name led to, if that is another one: through symbolic links.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        real: Option<TracePath>,
        /// As strace writes them: `O_WRONLY|O_CREAT`.
        flags: String,
        /// Permissions of a new file.
        mode: u32,
        /// The number of the open file; `None` where it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handle: Option<u32>,
    },
    /// close(2).
    Close {
        /// Which.
        handle: u32,
    },
    /// dup(2) and its kin.
    Duplicate {
        /// Of what.
        handle: u32,
        /// The number of the duplicate.
        to: u32,
    },
    /// read(2), pread(2) and their kin.
    Read {
        /// From what.
        handle: u32,
        /// Bytes asked for.
        length: u64,
        /// `None` for those that go on where the one before ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
    },
    /// write(2), pwrite(2) and their kin.
    Write {
        /// To what.
        handle: u32,
        /// Bytes asked for.
        length: u64,
        /// `None` for those that go on where the one before ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
    },
    /// lseek(2).
    Seek {
        /// Of what.
        handle: u32,
        /// By how much.
        offset: i64,
        /// From where, as strace writes it: `SEEK_SET`.
        whence: String,
    },
    /// mmap(2) of a file; its pages are read.
    Map {
        /// Of what.
        handle: u32,
        /// From where.
        offset: u64,
        /// How much.
        length: u64,
    },
    /// sendfile(2) or copy_file_range(2) from one file to another.
    Copy {
        /// From what.
        handle: u32,
        /// To what.
        to: u32,
        /// Bytes asked for.
        length: u64,
        /// Where it reads; `None` for where the one before ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// Where it writes; the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to_offset: Option<u64>,
        /// Whether it was copy_file_range(2), which may share blocks.
        range: bool,
    },
    /// fsync(2), fdatasync(2), sync_file_range(2), syncfs(2).
    Sync {
        /// Of what.
        handle: u32,
        /// Which of them.
        call: String,
    },
    /// truncate(2), ftruncate(2).
    Truncate {
        /// Of what.
        #[serde(flatten)]
        place: Place,
        /// To how much.
        length: u64,
    },
    /// fallocate(2).
    Allocate {
        /// Of what.
        handle: u32,
        /// As strace writes it: `0`, `FALLOC_FL_KEEP_SIZE`.
        mode: String,
        /// From where.
        offset: u64,
        /// How much.
        length: u64,
    },
    /// stat(2) and its kin.
    Stat {
        /// Of what.
        #[serde(flatten)]
        place: Place,
    },
    /// access(2) and its kin.
    Access {
        /// The name.
        path: TracePath,
        /// As strace writes it: `R_OK|W_OK`.
        mode: String,
    },
    /// readlink(2).
    Readlink {
        /// The name.
        path: TracePath,
    },
    /// getdents(2): one filling of a buffer.
    List {
        /// Of what.
        handle: u32,
        /// Size of the buffer.
        length: u64,
    },
    /// mkdir(2).
    Mkdir {
        /// The name.
        path: TracePath,
        /// Its permissions.
        mode: u32,
    },
    /// rmdir(2).
    Rmdir {
        /// The name.
        path: TracePath,
    },
    /// unlink(2).
    Unlink {
        /// The name.
        path: TracePath,
    },
    /// rename(2) and its kin.
    Rename {
        /// The name.
        path: TracePath,
        /// The new name.
        to: TracePath,
        /// As strace writes them: `0`, `RENAME_NOREPLACE`.
        flags: String,
    },
    /// link(2).
    Link {
        /// The file's name.
        path: TracePath,
        /// Its new one.
        to: TracePath,
    },
    /// symlink(2).
    Symlink {
        /// The text of the link.
        target: LinkTarget,
        /// The link's name.
        path: TracePath,
    },
    /// chmod(2) and its kin.
    Chmod {
        /// Of what.
        #[serde(flatten)]
        place: Place,
        /// The permissions.
        mode: u32,
    },
    /// chown(2) and its kin.
    Chown {
        /// Of what.
        #[serde(flatten)]
        place: Place,
        /// The new user; `None` for the old one.
        user: Option<u32>,
        /// The new group; `None` for the old one.
        group: Option<u32>,
    },
    /// utimensat(2) and its kin: both times become now.
    Touch {
        /// Of what.
        #[serde(flatten)]
        place: Place,
    },
    /// A thread or a process begins: fork(2), clone(2).
    Spawn {
        /// Its number.
        child: u32,
        /// What it inherits, each with its new number; nothing where the two share all open files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        inherited: Vec<(u32, u32)>,
    },
    /// A process became another program: what is closed then.
    Exec {
        /// Which.
        closed: Vec<u32>,
    },
    /// Waited for the end of a thread: wait4(2).
    Wait {
        /// Its number.
        child: u32,
    },
    /// A thread ended: what is closed with the last of its process.
    Exit {
        /// Which.
        closed: Vec<u32>,
    },
}

/// The text of a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkTarget {
    /// An absolute name below the folder that was traced: elsewhere it must lead to the same place.
    Below(TracePath),
    /// Anything else, as it was; bytes that are not UTF-8 are replaced.
    Text(String),
}

impl Operation {
    /// The name by which it is counted.
    #[must_use]
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
            // The sync of a file by its own name, since these are what one waits for.
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

    /// Whether it is one on the file system, not one on processes.
    #[must_use]
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
    /// The open files that it names.
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

    /// The thread that it brings into being, or waits for.
    #[must_use]
    pub fn child(&self) -> Option<u32> {
        match self {
            Self::Spawn { child, .. } | Self::Wait { child } => Some(*child),
            _ => None,
        }
    }
}
