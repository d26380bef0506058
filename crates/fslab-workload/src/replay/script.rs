//! The operations of a trace, ready to be issued: names are C strings, flags are bits, and what
//! each thread waits for is known.

use std::collections::BTreeMap;
use std::ffi::CString;

use fslab_sys::{errno_number, flag_bits};
use fslab_trace::{
    CallOutcome, LinkTarget, Operation, Place, Schedule, Step, Trace, TraceEvent, TracePath, Wait,
};

use super::deviations::Expected;

/// What is about to be asked of the file system.
#[derive(Debug)]
pub(super) enum Move {
    Open {
        name: CString,
        flags: i32,
        mode: u32,
        file: Option<u32>,
    },
    Close(u32),
    Duplicate {
        file: u32,
        to: u32,
    },
    Read {
        file: u32,
        length: u64,
        at: Option<u64>,
    },
    Write {
        file: u32,
        length: u64,
        at: Option<u64>,
    },
    Seek {
        file: u32,
        offset: i64,
        whence: i32,
    },
    Map {
        file: u32,
        offset: u64,
        length: u64,
    },
    Send {
        file: u32,
        at: Option<u64>,
        to: u32,
        length: u64,
    },
    Copy {
        file: u32,
        at: Option<u64>,
        to: u32,
        to_at: Option<u64>,
        length: u64,
    },
    Fsync(u32),
    Fdatasync(u32),
    Syncfs(u32),
    SetLength {
        file: u32,
        length: u64,
    },
    Truncate {
        name: CString,
        length: u64,
    },
    Allocate {
        file: u32,
        mode: i32,
        offset: u64,
        length: u64,
    },
    Stat(Subject),
    Access {
        name: CString,
        mode: i32,
    },
    Readlink(CString),
    List {
        file: u32,
        length: u64,
    },
    Mkdir {
        name: CString,
        mode: u32,
    },
    Unlink {
        name: CString,
        directory: bool,
    },
    Rename {
        name: CString,
        to: CString,
        flags: i32,
    },
    Link {
        name: CString,
        to: CString,
    },
    Symlink {
        target: LinkText,
        name: CString,
    },
    Chmod {
        subject: Subject,
        mode: u32,
    },
    Chown {
        subject: Subject,
        user: Option<u32>,
        group: Option<u32>,
    },
    Touch(Subject),
    /// A thread begins; what it inherits is duplicated.
    Spawn {
        child: u32,
        inherited: Vec<(u32, u32)>,
    },
    /// A process ends or becomes another program: what is closed by that.
    CloseAll(Vec<u32>),
    /// Only waits.
    Nothing,
}

/// What a call is about.
#[derive(Debug)]
pub(super) enum Subject {
    File(u32),
    Name { name: CString, follow: bool },
}

/// The text of a symbolic link.
#[derive(Debug)]
pub(super) enum LinkText {
    Plain(CString),
    /// Below the folder: its path is put before.
    Below(Vec<u8>),
}

/// One operation.
#[derive(Debug)]
pub(super) struct Cue {
    pub(super) operation: Move,
    /// The kind of operation, as a place in [`Script::kinds`]; `None` for what is none.
    pub(super) kind: Option<usize>,
    pub(super) expected: Expected,
    pub(super) waits: Vec<Wait>,
    pub(super) think_ns: u64,
}

/// A whole trace.
#[derive(Debug)]
pub(super) struct Script {
    /// The operations of each recorded thread.
    pub(super) lanes: Vec<Vec<Cue>>,
    /// The names of the kinds of operations that occur.
    pub(super) kinds: Vec<&'static str>,
    pub(super) notes: Vec<String>,
}

impl Script {
    /// The script of `trace`.
    pub(super) fn of(trace: &Trace) -> Result<Self, String> {
        let mut writer = Writer::default();
        let mut lanes = Vec::new();
        for lane in Schedule::of(trace).lanes {
            let cues = lane
                .steps
                .into_iter()
                .map(|step| writer.cue(&trace.events[step.event], step));
            lanes.push(cues.collect::<Result<_, _>>()?);
        }
        Ok(Self {
            lanes,
            kinds: writer.kinds,
            notes: writer.notes.into_values().collect(),
        })
    }

    /// How many operations on files there are.
    pub(super) fn operations(&self) -> u64 {
        let cues = self.lanes.iter().flatten();
        cues.filter(|cue| cue.kind.is_some()).count() as u64
    }
}

#[derive(Default)]
struct Writer {
    kinds: Vec<&'static str>,
    /// One sentence of each kind.
    notes: BTreeMap<&'static str, String>,
}

impl Writer {
    fn cue(&mut self, event: &TraceEvent, step: Step) -> Result<Cue, String> {
        let counts = matches!(
            event.operation,
            Operation::Read { .. } | Operation::Write { .. } | Operation::Copy { .. }
        );
        let expected = match &event.outcome {
            CallOutcome::Result(moved) if counts => Expected::Moved(*moved),
            CallOutcome::Result(_) => Expected::Done,
            CallOutcome::Error(name) => {
                let unknown = || format!("a trace with the errno {name}, which is not known");
                Expected::Errno(errno_number(name).ok_or_else(unknown)?)
            }
        };
        let kind = event
            .operation
            .is_file_operation()
            .then(|| self.kind(event.operation.name()));
        Ok(Cue {
            operation: self.operation(event)?,
            kind,
            expected,
            waits: step.waits,
            think_ns: step.think_ns,
        })
    }

    fn kind(&mut self, name: &'static str) -> usize {
        let known = self.kinds.iter().position(|kind| *kind == name);
        known.unwrap_or_else(|| {
            self.kinds.push(name);
            self.kinds.len() - 1
        })
    }

    fn note(&mut self, kind: &'static str, text: &str) {
        self.notes.entry(kind).or_insert_with(|| text.to_owned());
    }

    fn operation(&mut self, event: &TraceEvent) -> Result<Move, String> {
        Ok(match &event.operation {
            Operation::Open {
                path,
                flags,
                mode,
                handle,
                ..
            } => Move::Open {
                name: name(path),
                flags: bits(flags)?,
                mode: *mode,
                file: *handle,
            },
            Operation::Close { handle } => Move::Close(*handle),
            Operation::Duplicate { handle, to } => Move::Duplicate {
                file: *handle,
                to: *to,
            },
            Operation::Spawn { child, inherited } => Move::Spawn {
                child: *child,
                inherited: inherited.clone(),
            },
            Operation::Exec { closed } | Operation::Exit { closed } => {
                Move::CloseAll(closed.clone())
            }
            Operation::Wait { .. } => Move::Nothing,
            operation => match self.of_data(operation)? {
                Some(operation) => operation,
                None => of_names(operation)?,
            },
        })
    }

    fn of_data(&mut self, operation: &Operation) -> Result<Option<Move>, String> {
        Ok(Some(match *operation {
            Operation::Read {
                handle: file,
                length,
                offset: at,
            } => Move::Read { file, length, at },
            Operation::Write {
                handle: file,
                length,
                offset: at,
            } => Move::Write { file, length, at },
            Operation::Seek {
                handle: file,
                offset,
                ref whence,
            } => Move::Seek {
                file,
                offset,
                whence: bits(whence)?,
            },
            Operation::Map {
                handle: file,
                offset,
                length,
            } => {
                let text = "files that were mapped are read by pread(2), from end to end at once";
                self.note("map", text);
                Move::Map {
                    file,
                    offset,
                    length,
                }
            }
            Operation::Copy {
                handle: file,
                to,
                length,
                offset,
                range: false,
                ..
            } => Move::Send {
                file,
                at: offset,
                to,
                length,
            },
            Operation::Copy {
                handle: file,
                to,
                length,
                offset,
                to_offset,
                range: true,
            } => Move::Copy {
                file,
                at: offset,
                to,
                to_at: to_offset,
                length,
            },
            _ => return self.of_lengths(operation),
        }))
    }

    /// Syncs, listings, and what changes how much of a file there is.
    fn of_lengths(&mut self, operation: &Operation) -> Result<Option<Move>, String> {
        Ok(Some(match *operation {
            Operation::Sync { handle, ref call } => match call.as_str() {
                "fsync" => Move::Fsync(handle),
                "syncfs" => Move::Syncfs(handle),
                "fdatasync" => Move::Fdatasync(handle),
                _ => {
                    self.note("sync", "sync_file_range(2) is issued as fdatasync(2)");
                    Move::Fdatasync(handle)
                }
            },
            Operation::Truncate { ref place, length } => match place {
                Place::Handle { handle } => Move::SetLength {
                    file: *handle,
                    length,
                },
                Place::Path { path, .. } => Move::Truncate {
                    name: name(path),
                    length,
                },
            },
            Operation::Allocate {
                handle: file,
                ref mode,
                offset,
                length,
            } => Move::Allocate {
                file,
                mode: bits(mode)?,
                offset,
                length,
            },
            Operation::List {
                handle: file,
                length,
            } => Move::List { file, length },
            _ => return Ok(None),
        }))
    }
}

/// Operations on names and attributes.
fn of_names(operation: &Operation) -> Result<Move, String> {
    Ok(match operation {
        Operation::Stat { place } => Move::Stat(subject(place)),
        Operation::Access { path, mode } => Move::Access {
            name: name(path),
            mode: bits(mode)?,
        },
        Operation::Readlink { path } => Move::Readlink(name(path)),
        Operation::Mkdir { path, mode } => Move::Mkdir {
            name: name(path),
            mode: *mode,
        },
        Operation::Rmdir { path } => Move::Unlink {
            name: name(path),
            directory: true,
        },
        Operation::Unlink { path } => Move::Unlink {
            name: name(path),
            directory: false,
        },
        Operation::Rename { path, to, flags } => Move::Rename {
            name: name(path),
            to: name(to),
            flags: bits(flags)?,
        },
        Operation::Link { path, to } => Move::Link {
            name: name(path),
            to: name(to),
        },
        Operation::Symlink { target, path } => Move::Symlink {
            target: match target {
                LinkTarget::Below(path) => LinkText::Below(path.as_bytes().to_vec()),
                LinkTarget::Text(text) => LinkText::Plain(c_string(text.as_bytes())),
            },
            name: name(path),
        },
        Operation::Chmod { place, mode } => Move::Chmod {
            subject: subject(place),
            mode: *mode,
        },
        Operation::Chown { place, user, group } => Move::Chown {
            subject: subject(place),
            user: *user,
            group: *group,
        },
        Operation::Touch { place } => Move::Touch(subject(place)),
        other => {
            return Err(format!(
                "a trace with '{}', which is not issued",
                other.name()
            ));
        }
    })
}

fn subject(place: &Place) -> Subject {
    match place {
        Place::Handle { handle } => Subject::File(*handle),
        Place::Path { path, follow } => Subject::Name {
            name: name(path),
            follow: *follow,
        },
    }
}

fn name(path: &TracePath) -> CString {
    if path.is_root() {
        return c".".into();
    }
    c_string(path.as_bytes())
}

fn c_string(bytes: &[u8]) -> CString {
    // A path of a trace has no zero byte, or it would not have been read; a text is cut there.
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

fn bits(words: &str) -> Result<i32, String> {
    flag_bits(words).ok_or_else(|| format!("a trace with the flags '{words}', which are not known"))
}
