//! A trace: where it comes from, the files that were there, what was done, the files that were
//! left.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{CallOutcome, EntryKind, Operation, TraceEvent, TracePath, TreeEntry};

/// Where a trace comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The command as it was run.
    pub command: Vec<String>,
    /// The folder that was traced.
    pub root: String,
    /// Where the command began, relative to it; `None` where that was outside.
    pub directory: Option<TracePath>,
    /// The file system that it was on, as the kernel names it.
    pub file_system: String,
    /// The kernel that it ran under.
    pub kernel: String,
    /// When it began, in seconds since 1970.
    pub started_unix_s: u64,
    /// How long it ran, being listened to.
    pub took_ns: u64,
    /// The program that listened, and its version.
    pub recorder: String,
    /// How the command ended.
    pub exit: String,
    /// How many threads there were.
    pub threads: u32,
    /// How many open files there were.
    pub handles: u32,
    /// Calls that touched the folder and are not in the trace.
    pub unseen: BTreeMap<String, u64>,
}

/// What a name was when the command had ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalFile {
    /// The name.
    pub path: TracePath,
    /// What it was; `None` where it was gone.
    pub kind: Option<EntryKind>,
    /// Its length, for a file.
    pub bytes: u64,
}

/// A trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Where it comes from.
    pub header: Header,
    /// What was there when the command began, of the names that it used; directories before what
    /// is in them.
    pub files: Vec<TreeEntry>,
    /// What was done, in the order in which it began.
    pub events: Vec<TraceEvent>,
    /// What had become of every name that it used.
    pub left: Vec<FinalFile>,
}

impl Trace {
    /// The most bytes that the folder may hold while it is played: what was there, what is written,
    /// and a block for each name.
    #[must_use]
    pub fn footprint_bytes(&self) -> u64 {
        let there = self.files.iter().map(|file| file.bytes);
        let grown = self.events.iter().map(TraceEvent::grows_by);
        let names = (self.files.len() + self.left.len()) as u64;
        // A trace may be somebody else's, and its lengths anything.
        there
            .chain(grown)
            .chain([names.saturating_mul(4096)])
            .fold(0, u64::saturating_add)
    }

    /// The largest file that there may be.
    #[must_use]
    pub fn largest_bytes(&self) -> u64 {
        let before = self.files.iter().map(|file| file.bytes);
        let after = self.left.iter().map(|file| file.bytes);
        before.chain(after).max().unwrap_or(0)
    }

    /// Whether it makes or needs symbolic links.
    #[must_use]
    pub fn has_symlinks(&self) -> bool {
        let made = |event: &TraceEvent| {
            matches!(event.operation, Operation::Symlink { .. }) && event.outcome.is_done()
        };
        self.files
            .iter()
            .any(|file| file.kind == EntryKind::Symlink)
            || self.events.iter().any(made)
    }

    /// Whether it makes or needs second names of files.
    #[must_use]
    pub fn has_hard_links(&self) -> bool {
        let made = |event: &TraceEvent| {
            matches!(event.operation, Operation::Link { .. }) && event.outcome.is_done()
        };
        self.files.iter().any(|file| file.same_as.is_some()) || self.events.iter().any(made)
    }

    /// The longest run of bytes that one operation moves.
    #[must_use]
    pub fn longest_transfer_bytes(&self) -> u64 {
        let length = |event: &TraceEvent| match event.operation {
            Operation::Read { length, .. }
            | Operation::Write { length, .. }
            | Operation::Map { length, .. }
            | Operation::List { length, .. } => length,
            _ => 0,
        };
        self.events.iter().map(length).max().unwrap_or(0)
    }
}

impl TraceEvent {
    /// The bytes by which files may have grown.
    fn grows_by(&self) -> u64 {
        match (&self.operation, &self.outcome) {
            (Operation::Allocate { length, .. }, CallOutcome::Result(_)) => *length,
            (Operation::Write { .. } | Operation::Copy { .. }, CallOutcome::Result(moved)) => {
                *moved
            }
            _ => 0,
        }
    }
}
