//! What is translated so far.

use std::collections::{BTreeMap, BTreeSet};

use crate::processes::Threads;
use crate::{TraceEvent, TracePath};

/// The events on a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// Events in the order of their start.
    pub events: Vec<TraceEvent>,
    /// Number of open files.
    pub handles: u32,
    /// Number of threads.
    pub threads: u32,
    /// Calls on the directory that have no event, counted by name.
    pub unseen: BTreeMap<String, u64>,
    /// Paths that were used.
    pub touched: BTreeSet<TracePath>,
    /// Directories that were listed.
    pub listed: BTreeSet<TracePath>,
}

pub(crate) struct Translator {
    pub(crate) root: Vec<u8>,
    pub(crate) directory: Vec<u8>,
    pub(crate) start_ns: u64,
    pub(crate) threads: Threads,
    /// Paths of open files.
    pub(crate) paths: BTreeMap<u32, TracePath>,
    pub(crate) done: Translation,
}
