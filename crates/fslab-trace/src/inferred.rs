//! The files that must exist before a trace of another tool, which lists none: what its operations
//! found without having made it.
//!
//! A file is as long as the farthest byte that was read from it before it was written. What is
//! below a name makes it a directory. The end state is not known, so nothing is compared with it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{EntryKind, Operation, Place, TraceEvent, TracePath, TreeEntry};

/// The names that exist, and those that have to be made before.
#[derive(Default)]
struct Names {
    /// What exists now: bytes of a file.
    live: HashMap<TracePath, u64>,
    /// What existed before the first event, by the name that it had then.
    before: BTreeMap<TracePath, Found>,
    /// The name that a living file had before the first event.
    origin: HashMap<TracePath, TracePath>,
    directories: BTreeSet<TracePath>,
    open: HashMap<u32, OpenName>,
    /// The shared positions of open files.
    positions: Vec<u64>,
}

#[derive(Clone, Copy, Default)]
struct Found {
    bytes: u64,
}

#[derive(Clone)]
struct OpenName {
    path: TracePath,
    position: usize,
    /// True if the file may have existed although it was opened to be made.
    may_exist: bool,
}

/// The entries, directories before their content.
pub(crate) fn files_before(events: &[TraceEvent]) -> Vec<TreeEntry> {
    let mut names = Names::default();
    for event in events.iter().filter(|event| event.outcome.is_done()) {
        names.event(event);
    }
    names.entries()
}

impl Names {
    fn event(&mut self, event: &TraceEvent) {
        let moved = match event.outcome {
            crate::CallOutcome::Result(moved) => moved,
            crate::CallOutcome::Error(_) => 0,
        };
        match &event.operation {
            Operation::Open {
                path,
                real,
                flags,
                handle: Some(handle),
                ..
            } => self.open(real.as_ref().unwrap_or(path), flags, *handle),
            Operation::Close { handle } => {
                self.open.remove(handle);
            }
            Operation::Duplicate { handle, to } => self.share(*handle, *to),
            Operation::Spawn { inherited, .. } => {
                inherited
                    .iter()
                    .for_each(|(old, new)| self.share(*old, *new));
            }
            Operation::Read { handle, offset, .. } => self.transfer(*handle, *offset, moved, false),
            Operation::Write { handle, offset, .. } => self.transfer(*handle, *offset, moved, true),
            Operation::Map {
                handle,
                offset,
                length,
            } => self.transfer(*handle, Some(*offset), (*length).min(1), false),
            Operation::Copy {
                handle,
                to,
                offset,
                to_offset,
                ..
            } => {
                self.transfer(*handle, *offset, moved, false);
                self.transfer(*to, *to_offset, moved, true);
            }
            Operation::Seek { handle, .. } => {
                if let Some(open) = self.open.get(handle) {
                    self.positions[open.position] = moved;
                }
            }
            Operation::List { handle, .. } => {
                if let Some(open) = self.open.get(handle) {
                    self.directories.insert(open.path.clone());
                }
            }
            operation => self.name_event(operation),
        }
    }

    fn name_event(&mut self, operation: &Operation) {
        match operation {
            Operation::Mkdir { path, .. } | Operation::Symlink { path, .. } => {
                self.live.insert(path.clone(), 0);
                self.parents(path);
            }
            Operation::Rmdir { path } => {
                self.found(path);
                self.directories.insert(path.clone());
                self.live.remove(path);
            }
            Operation::Unlink { path } => {
                self.found(path);
                self.live.remove(path);
                self.origin.remove(path);
            }
            Operation::Rename { path, to, .. } => self.rename(path, to),
            Operation::Link { path, to } => {
                self.found(path);
                let bytes = self.live.get(path).copied().unwrap_or_default();
                self.live.insert(to.clone(), bytes);
                self.parents(to);
            }
            Operation::Access { path, .. } | Operation::Readlink { path } => self.found(path),
            Operation::Stat {
                place: Place::Path { path, .. },
            }
            | Operation::Truncate {
                place: Place::Path { path, .. },
                ..
            } => self.found(path),
            _ => {}
        }
    }

    /// Notes that a name existed.
    fn found(&mut self, path: &TracePath) {
        if path.is_root() || self.live.contains_key(path) {
            return;
        }
        self.live.insert(path.clone(), 0);
        self.before.entry(path.clone()).or_default();
        self.origin.insert(path.clone(), path.clone());
        self.parents(path);
    }

    fn parents(&mut self, path: &TracePath) {
        for parent in path.ancestors() {
            self.found(&parent);
            self.directories.insert(parent);
        }
    }

    fn open(&mut self, path: &TracePath, flags: &str, handle: u32) {
        let flags: BTreeSet<&str> = flags.split('|').collect();
        let makes = flags.contains("O_CREAT");
        let is_new = makes && !self.live.contains_key(path);
        match is_new {
            true => {
                self.live.insert(path.clone(), 0);
                self.parents(path);
            }
            false => self.found(path),
        }
        if flags.contains("O_DIRECTORY") {
            self.directories.insert(path.clone());
        }
        if flags.contains("O_TRUNC") {
            self.live.insert(path.clone(), 0);
            self.origin.remove(path);
        }
        let may_exist = is_new && !flags.contains("O_EXCL") && !flags.contains("O_TRUNC");
        self.positions.push(0);
        let open = OpenName {
            path: path.clone(),
            position: self.positions.len() - 1,
            may_exist,
        };
        self.open.insert(handle, open);
    }

    fn share(&mut self, handle: u32, to: u32) {
        if let Some(open) = self.open.get(&handle).cloned() {
            self.open.insert(to, open);
        }
    }

    fn transfer(&mut self, handle: u32, offset: Option<u64>, moved: u64, is_write: bool) {
        let Some(open) = self.open.get(&handle).cloned() else {
            return;
        };
        let position = &mut self.positions[open.position];
        let end = offset.unwrap_or(*position).saturating_add(moved);
        if offset.is_none() {
            *position = end;
        }
        let Some(bytes) = self.live.get_mut(&open.path).filter(|bytes| **bytes < end) else {
            return;
        };
        *bytes = end;
        if is_write || moved == 0 {
            return;
        }
        if open.may_exist {
            self.before.entry(open.path.clone()).or_default();
            self.origin.insert(open.path.clone(), open.path.clone());
        }
        let origin = self.origin.get(&open.path);
        if let Some(found) = origin.and_then(|origin| self.before.get_mut(origin)) {
            found.bytes = found.bytes.max(end);
        }
    }

    fn rename(&mut self, path: &TracePath, to: &TracePath) {
        self.found(path);
        self.parents(to);
        let below = |name: &TracePath| name.moved(path, to);
        let names: Vec<(TracePath, TracePath)> = self
            .live
            .keys()
            .filter_map(|name| Some((name.clone(), below(name)?)))
            .collect();
        for (old, new) in names {
            let bytes = self.live.remove(&old).unwrap_or_default();
            self.live.insert(new.clone(), bytes);
            if let Some(origin) = self.origin.remove(&old) {
                self.origin.insert(new, origin);
            }
        }
        for open in self.open.values_mut() {
            if let Some(moved) = open.path.moved(path, to) {
                open.path = moved;
            }
        }
    }

    fn entries(self) -> Vec<TreeEntry> {
        let entry = |(path, found): (TracePath, Found)| {
            let is_directory = self.directories.contains(&path);
            TreeEntry {
                path,
                kind: match is_directory {
                    true => EntryKind::Directory,
                    false => EntryKind::File,
                },
                bytes: if is_directory { 0 } else { found.bytes },
                mode: if is_directory { 0o755 } else { 0o644 },
                same_as: None,
                target: None,
            }
        };
        // Parents are before their content in the order of bytes.
        self.before.into_iter().map(entry).collect()
    }
}
