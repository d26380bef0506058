//! fio's iologs (`write_iolog`), versions 2 and 3, as traces: each line is a call on a named file.
//!
//! The files exist before, and are as long as their farthest access. Names are below the directory
//! of the replay, whatever they are. Calls have no duration. Version 3 has their times in
//! microseconds; version 2 has only waits.

use std::collections::BTreeMap;

use crate::{CallOutcome, EntryKind, Header, Operation, Trace, TraceEvent, TracePath, TreeEntry};

/// The version in the first line: `fio version 3 iolog`.
pub(crate) fn version(first: &str) -> Option<&str> {
    first.strip_prefix("fio version ")?.strip_suffix(" iolog")
}

/// The trace of an iolog; an error in words.
pub(crate) fn trace(text: &str) -> Result<Trace, String> {
    let mut lines = (1..).zip(text.lines().map(str::trim));
    let mut lines = lines.by_ref().filter(|(_, line)| !line.is_empty());
    let version = lines.next().and_then(|(_, first)| version(first));
    let is_timed = match version {
        Some("2") => false,
        Some("3") => true,
        other => {
            let found = other.unwrap_or_default();
            return Err(format!(
                "it is an iolog of version {found}; fslab reads 2 and 3"
            ));
        }
    };
    let mut iolog = Iolog::default();
    for (number, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let read = match is_timed {
            true => iolog.timed(&words),
            false => iolog.line(&words),
        };
        let shown: String = line.chars().take(60).collect();
        read.ok_or_else(|| {
            format!(
                "line {number} is no line of an iolog of version {}: {shown:?}",
                if is_timed { 3 } else { 2 }
            )
        })?;
    }
    Ok(iolog.finish(is_timed))
}

#[derive(Default)]
struct Iolog {
    at_ns: u64,
    events: Vec<TraceEvent>,
    /// The open file of each name.
    open: BTreeMap<TracePath, u32>,
    /// The end of the farthest access of each file.
    ends: BTreeMap<TracePath, u64>,
    handles: u32,
    unseen: BTreeMap<String, u64>,
}

impl Iolog {
    fn timed(&mut self, words: &[&str]) -> Option<()> {
        let (time, rest) = words.split_first()?;
        let time: u64 = time.parse().ok()?;
        // Lines of several threads can be out of order.
        self.at_ns = self.at_ns.max(time.checked_mul(1000)?);
        self.line(rest)
    }

    /// `NAME ACTION` or `NAME ACTION OFFSET LENGTH`.
    fn line(&mut self, words: &[&str]) -> Option<()> {
        let [name, action, numbers @ ..] = words else {
            return None;
        };
        let absolute = [b"/", name.as_bytes()].concat();
        let path = TracePath::below(b"/", &absolute)?;
        let numbers: Option<Vec<u64>> = numbers.iter().map(|it| it.parse().ok()).collect();
        let numbers = numbers?;
        if *action == "wait" {
            let [us, ..] = &*numbers else { return None };
            self.at_ns = self.at_ns.checked_add(us.checked_mul(1000)?)?;
            return Some(());
        }
        if path.is_root() {
            return None;
        }
        match (*action, &*numbers) {
            ("add", []) => {
                self.ends.entry(path).or_default();
            }
            ("open", []) => self.open(path),
            ("close", []) => {
                if let Some(handle) = self.open.remove(&path) {
                    self.add(Operation::Close { handle }, 0);
                }
            }
            ("read" | "write" | "trim", [offset, length]) => {
                self.transfer(action, &path, *offset, *length)?;
            }
            ("sync" | "datasync", _) => {
                let handle = self.handle(&path);
                let call = match *action {
                    "sync" => "fsync",
                    _ => "fdatasync",
                };
                self.add(
                    Operation::Sync {
                        handle,
                        call: call.to_owned(),
                    },
                    0,
                );
            }
            ("sync_file_range", _) => {
                let count = self.unseen.entry("sync_file_range".to_owned());
                *count.or_default() += 1;
            }
            _ => return None,
        }
        Some(())
    }

    fn transfer(&mut self, action: &str, path: &TracePath, offset: u64, length: u64) -> Option<()> {
        let end = offset.checked_add(length)?;
        i64::try_from(end).ok()?;
        let handle = self.handle(path);
        let known = self.ends.entry(path.clone()).or_default();
        *known = (*known).max(end);
        let at = Some(offset);
        let (operation, result) = match action {
            "read" => {
                let read = Operation::Read {
                    handle,
                    length,
                    offset: at,
                };
                (read, length)
            }
            "write" => {
                let write = Operation::Write {
                    handle,
                    length,
                    offset: at,
                };
                (write, length)
            }
            _ => {
                let punch = Operation::Allocate {
                    handle,
                    mode: "FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE".to_owned(),
                    offset,
                    length,
                };
                (punch, 0)
            }
        };
        self.add(operation, result);
        Some(())
    }

    /// The open file of a name, opened now if the log does not say when.
    fn handle(&mut self, path: &TracePath) -> u32 {
        if !self.open.contains_key(path) {
            self.open(path.clone());
        }
        self.open[path]
    }

    fn open(&mut self, path: TracePath) {
        if self.open.contains_key(&path) {
            return;
        }
        let handle = self.handles;
        self.handles += 1;
        self.ends.entry(path.clone()).or_default();
        self.open.insert(path.clone(), handle);
        let open = Operation::Open {
            path,
            real: None,
            flags: "O_RDWR".to_owned(),
            mode: 0,
            handle: Some(handle),
        };
        self.add(open, 0);
    }

    fn add(&mut self, operation: Operation, result: u64) {
        self.events.push(TraceEvent {
            thread: 0,
            at_ns: self.at_ns,
            took_ns: 0,
            operation,
            outcome: CallOutcome::Result(result),
        });
    }

    fn finish(mut self, is_timed: bool) -> Trace {
        for handle in std::mem::take(&mut self.open).into_values() {
            self.add(Operation::Close { handle }, 0);
        }
        let mut files: BTreeMap<TracePath, TreeEntry> = BTreeMap::new();
        for (path, bytes) in self.ends {
            for parent in path.ancestors() {
                files.insert(parent.clone(), entry(parent, EntryKind::Directory, 0));
            }
            let file = entry(path.clone(), EntryKind::File, bytes);
            files.entry(path).or_insert(file);
        }
        Trace {
            header: Header {
                command: vec!["fio".to_owned()],
                root: "/".to_owned(),
                directory: Some(TracePath::default()),
                recorder: format!("iolog of fio, version {}", if is_timed { 3 } else { 2 }),
                took_ns: self.at_ns,
                threads: 1,
                handles: self.handles,
                unseen: self.unseen,
                ..Header::default()
            },
            files: files.into_values().collect(),
            events: self.events,
            final_files: Vec::new(),
        }
    }
}

/// A name that exists before a replay.
pub(crate) fn entry(path: TracePath, kind: EntryKind, bytes: u64) -> TreeEntry {
    TreeEntry {
        path,
        kind,
        bytes,
        mode: if kind == EntryKind::Directory {
            0o755
        } else {
            0o644
        },
        same_as: None,
        target: None,
    }
}
