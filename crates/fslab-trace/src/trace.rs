//! A trace: its origin, the initial files, the events, the final files.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::folder_listing::FinalFile;
use crate::{CallOutcome, EntryKind, Operation, TraceEvent, TracePath, TreeEntry};

/// Where and how a trace was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The traced directory, absolute.
    pub root: String,
    /// The command's working directory relative to `root`; `None` if outside.
    #[schemars(with = "Option<String>")]
    pub directory: Option<TracePath>,
    /// The file system of `root`, by the kernel's name.
    pub file_system: String,
    /// The kernel's release.
    pub kernel: String,
    /// Start of the recording, in seconds since 1970.
    pub started_unix_s: u64,
    /// Duration of the command under strace.
    pub took_ns: u64,
    /// The tracer and its version.
    pub recorder: String,
    /// The command's exit status.
    pub exit: String,
    /// Number of threads.
    pub threads: u32,
    /// Number of open files.
    pub handles: u32,
    /// Calls on the directory that have no event, counted by name.
    pub unseen: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Where and how it was recorded.
    pub header: Header,
    /// Initial state of the paths that the command used, directories before their content.
    pub files: Vec<TreeEntry>,
    /// Calls in the order of their start.
    pub events: Vec<TraceEvent>,
    /// Final state of the paths that the command used.
    pub final_files: Vec<FinalFile>,
}

impl Trace {
    /// Upper bound of the bytes that a replay needs: initial files, bytes written, and 4 KiB for
    /// each name.
    pub fn footprint_bytes(&self) -> u64 {
        let there = self.files.iter().map(|file| file.bytes);
        let grown = self.events.iter().map(TraceEvent::growth_bytes);
        let names = (self.files.len() + self.final_files.len()) as u64;
        // A trace is untrusted: its lengths may be any number.
        there
            .chain(grown)
            .chain([names.saturating_mul(4096)])
            .fold(0, u64::saturating_add)
    }

    /// Length of the largest initial or final file.
    pub fn largest_bytes(&self) -> u64 {
        let before = self.files.iter().map(|file| file.bytes);
        let after = self.final_files.iter().map(|file| file.bytes);
        before.chain(after).max().unwrap_or(0)
    }

    /// True if it creates or needs symbolic links.
    pub fn has_symlinks(&self) -> bool {
        let made = |event: &TraceEvent| {
            matches!(event.operation, Operation::Symlink { .. }) && event.outcome.is_done()
        };
        self.files
            .iter()
            .any(|file| file.kind == EntryKind::Symlink)
            || self.events.iter().any(made)
    }

    /// True if it creates or needs hard links.
    pub fn has_hard_links(&self) -> bool {
        let made = |event: &TraceEvent| {
            matches!(event.operation, Operation::Link { .. }) && event.outcome.is_done()
        };
        self.files.iter().any(|file| file.same_as.is_some()) || self.events.iter().any(made)
    }

    /// Bytes of the longest transfer of one operation.
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
    /// Upper bound of the bytes that the call added to files.
    fn growth_bytes(&self) -> u64 {
        match (&self.operation, &self.outcome) {
            (Operation::Allocate { length, .. }, CallOutcome::Result(_)) => *length,
            (Operation::Write { .. } | Operation::Copy { .. }, CallOutcome::Result(moved)) => {
                *moved
            }
            _ => 0,
        }
    }
}
