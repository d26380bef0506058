//! Prepares the operations of a trace for issuing: names become C strings, flags become bits, and
//! each step has its waits.

use std::collections::BTreeMap;
use std::ffi::CString;

use fslab_sys::{errno_number, flag_bits};
use fslab_trace::{
    CallOutcome, LinkTarget, Operation, Place, Schedule, Step, Trace, TraceEvent, TracePath, Wait,
};

use super::deviations::Expected;

/// A system call with its arguments.
#[derive(Debug)]
pub(super) enum Syscall {
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
    /// Start of a thread; inherited files are duplicated.
    Spawn {
        child: u32,
        inherited: Vec<(u32, u32)>,
    },
    /// Files closed by the end of a process or by execve(2).
    CloseAll(Vec<u32>),
    /// No call: only the step's waits.
    Nothing,
}

/// The object of a call.
#[derive(Debug)]
pub(super) enum Subject {
    File(u32),
    Name { name: CString, follow: bool },
}

/// The target of a symbolic link.
#[derive(Debug)]
pub(super) enum LinkText {
    Plain(CString),
    /// A path below the directory, whose path is prepended.
    Below(Vec<u8>),
}

/// One operation of a thread.
#[derive(Debug)]
pub(super) struct ScriptStep {
    pub(super) operation: Syscall,
    /// Index of its kind in [`Script::kinds`]; `None` for operations on processes.
    pub(super) kind: Option<usize>,
    pub(super) expected: Expected,
    pub(super) waits: Vec<Wait>,
    pub(super) think_ns: u64,
}

/// All operations of a trace.
#[derive(Debug)]
pub(super) struct Script {
    /// The steps of each recorded thread.
    pub(super) lanes: Vec<Vec<ScriptStep>>,
    /// Names of the kinds of operations.
    pub(super) kinds: Vec<&'static str>,
    pub(super) notes: Vec<String>,
}

impl Script {
    /// The script of `trace`.
    pub(super) fn of(trace: &Trace) -> Result<Self, String> {
        let mut builder = ScriptBuilder::default();
        let mut lanes = Vec::new();
        for lane in Schedule::of(trace).lanes {
            let steps = lane
                .steps
                .into_iter()
                .map(|step| builder.step(&trace.events[step.event], step));
            lanes.push(steps.collect::<Result<_, _>>()?);
        }
        Ok(Self {
            lanes,
            kinds: builder.kinds,
            notes: builder.notes.into_values().collect(),
        })
    }

    /// Number of operations on files.
    pub(super) fn operations(&self) -> u64 {
        let steps = self.lanes.iter().flatten();
        steps.filter(|step| step.kind.is_some()).count() as u64
    }
}

#[derive(Default)]
struct ScriptBuilder {
    kinds: Vec<&'static str>,
    /// One sentence per kind.
    notes: BTreeMap<&'static str, String>,
}

impl ScriptBuilder {
    fn step(&mut self, event: &TraceEvent, scheduled: Step) -> Result<ScriptStep, String> {
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
        Ok(ScriptStep {
            operation: self.operation(event)?,
            kind,
            expected,
            waits: scheduled.waits,
            think_ns: scheduled.think_ns,
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

    fn operation(&mut self, event: &TraceEvent) -> Result<Syscall, String> {
        Ok(match &event.operation {
            Operation::Open {
                path,
                flags,
                mode,
                handle,
                ..
            } => Syscall::Open {
                name: name(path),
                flags: bits(flags)?,
                mode: *mode,
                file: *handle,
            },
            Operation::Close { handle } => Syscall::Close(*handle),
            Operation::Duplicate { handle, to } => Syscall::Duplicate {
                file: *handle,
                to: *to,
            },
            Operation::Spawn { child, inherited } => Syscall::Spawn {
                child: *child,
                inherited: inherited.clone(),
            },
            Operation::Exec { closed } | Operation::Exit { closed } => {
                Syscall::CloseAll(closed.clone())
            }
            Operation::Wait { .. } => Syscall::Nothing,
            operation => match self.data_syscall(operation)? {
                Some(operation) => operation,
                None => path_syscall(operation)?,
            },
        })
    }

    fn data_syscall(&mut self, operation: &Operation) -> Result<Option<Syscall>, String> {
        Ok(Some(match *operation {
            Operation::Read {
                handle: file,
                length,
                offset: at,
            } => Syscall::Read { file, length, at },
            Operation::Write {
                handle: file,
                length,
                offset: at,
            } => Syscall::Write { file, length, at },
            Operation::Seek {
                handle: file,
                offset,
                ref whence,
            } => Syscall::Seek {
                file,
                offset,
                whence: bits(whence)?,
            },
            Operation::Map {
                handle: file,
                offset,
                length,
            } => {
                let text = "mapped files are read by pread(2), all of the mapping at once";
                self.note("map", text);
                Syscall::Map {
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
            } => Syscall::Send {
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
            } => Syscall::Copy {
                file,
                at: offset,
                to,
                to_at: to_offset,
                length,
            },
            _ => return self.sync_or_size_syscall(operation),
        }))
    }

    /// Syncs, listings, and calls that change a file's size or allocation.
    fn sync_or_size_syscall(&mut self, operation: &Operation) -> Result<Option<Syscall>, String> {
        Ok(Some(match *operation {
            Operation::Sync { handle, ref call } => match call.as_str() {
                "fsync" => Syscall::Fsync(handle),
                "syncfs" => Syscall::Syncfs(handle),
                "fdatasync" => Syscall::Fdatasync(handle),
                _ => {
                    self.note("sync", "sync_file_range(2) is issued as fdatasync(2)");
                    Syscall::Fdatasync(handle)
                }
            },
            Operation::Truncate { ref place, length } => match place {
                Place::Handle { handle } => Syscall::SetLength {
                    file: *handle,
                    length,
                },
                Place::Path { path, .. } => Syscall::Truncate {
                    name: name(path),
                    length,
                },
            },
            Operation::Allocate {
                handle: file,
                ref mode,
                offset,
                length,
            } => Syscall::Allocate {
                file,
                mode: bits(mode)?,
                offset,
                length,
            },
            Operation::List {
                handle: file,
                length,
            } => Syscall::List { file, length },
            _ => return Ok(None),
        }))
    }
}

/// Operations on names and attributes.
fn path_syscall(operation: &Operation) -> Result<Syscall, String> {
    Ok(match operation {
        Operation::Stat { place } => Syscall::Stat(subject(place)),
        Operation::Access { path, mode } => Syscall::Access {
            name: name(path),
            mode: bits(mode)?,
        },
        Operation::Readlink { path } => Syscall::Readlink(name(path)),
        Operation::Mkdir { path, mode } => Syscall::Mkdir {
            name: name(path),
            mode: *mode,
        },
        Operation::Rmdir { path } => Syscall::Unlink {
            name: name(path),
            directory: true,
        },
        Operation::Unlink { path } => Syscall::Unlink {
            name: name(path),
            directory: false,
        },
        Operation::Rename { path, to, flags } => Syscall::Rename {
            name: name(path),
            to: name(to),
            flags: bits(flags)?,
        },
        Operation::Link { path, to } => Syscall::Link {
            name: name(path),
            to: name(to),
        },
        Operation::Symlink { target, path } => Syscall::Symlink {
            target: match target {
                LinkTarget::Below(path) => LinkText::Below(path.as_bytes().to_vec()),
                LinkTarget::Text(text) => LinkText::Plain(c_string(text.as_bytes())),
            },
            name: name(path),
        },
        Operation::Chmod { place, mode } => Syscall::Chmod {
            subject: subject(place),
            mode: *mode,
        },
        Operation::Chown { place, user, group } => Syscall::Chown {
            subject: subject(place),
            user: *user,
            group: *group,
        },
        Operation::Touch { place } => Syscall::Touch(subject(place)),
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
    // Paths were checked for NUL when the trace was read; a link's target is cut at one.
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

fn bits(words: &str) -> Result<i32, String> {
    flag_bits(words).ok_or_else(|| format!("a trace with the flags '{words}', which are not known"))
}
