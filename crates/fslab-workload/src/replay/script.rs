//! The operations of a trace, ready to be issued: names are C strings, flags are bits, and what
//! each thread waits for is known.

use std::collections::BTreeMap;
use std::ffi::CString;

use fslab_sys::{errno_number, flag_bits};
use fslab_trace::{Deed, Event, Outcome, Place, Schedule, Step, Target, Trace, TracePath, Wait};

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
    pub(super) deed: Move,
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
    fn cue(&mut self, event: &Event, step: Step) -> Result<Cue, String> {
        let counts = matches!(
            event.deed,
            Deed::Read { .. } | Deed::Write { .. } | Deed::Copy { .. }
        );
        let expected = match &event.outcome {
            Outcome::Result(moved) if counts => Expected::Moved(*moved),
            Outcome::Result(_) => Expected::Done,
            Outcome::Error(name) => {
                let unknown = || format!("a trace with the errno {name}, which is not known");
                Expected::Errno(errno_number(name).ok_or_else(unknown)?)
            }
        };
        let kind = event
            .deed
            .is_file_operation()
            .then(|| self.kind(event.deed.name()));
        Ok(Cue {
            deed: self.deed(event)?,
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

    fn deed(&mut self, event: &Event) -> Result<Move, String> {
        Ok(match &event.deed {
            Deed::Open {
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
            Deed::Close { handle } => Move::Close(*handle),
            Deed::Duplicate { handle, to } => Move::Duplicate {
                file: *handle,
                to: *to,
            },
            Deed::Spawn { child, inherited } => Move::Spawn {
                child: *child,
                inherited: inherited.clone(),
            },
            Deed::Exec { closed } | Deed::Exit { closed } => Move::CloseAll(closed.clone()),
            Deed::Wait { .. } => Move::Nothing,
            deed => match self.of_data(deed)? {
                Some(deed) => deed,
                None => of_names(deed)?,
            },
        })
    }

    fn of_data(&mut self, deed: &Deed) -> Result<Option<Move>, String> {
        Ok(Some(match *deed {
            Deed::Read {
                handle: file,
                length,
                offset: at,
            } => Move::Read { file, length, at },
            Deed::Write {
                handle: file,
                length,
                offset: at,
            } => Move::Write { file, length, at },
            Deed::Seek {
                handle: file,
                offset,
                ref whence,
            } => Move::Seek {
                file,
                offset,
                whence: bits(whence)?,
            },
            Deed::Map {
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
            Deed::Copy {
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
            Deed::Copy {
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
            _ => return self.of_lengths(deed),
        }))
    }

    /// Syncs, listings, and what changes how much of a file there is.
    fn of_lengths(&mut self, deed: &Deed) -> Result<Option<Move>, String> {
        Ok(Some(match *deed {
            Deed::Sync { handle, ref call } => match call.as_str() {
                "fsync" => Move::Fsync(handle),
                "syncfs" => Move::Syncfs(handle),
                "fdatasync" => Move::Fdatasync(handle),
                _ => {
                    self.note("sync", "sync_file_range(2) is issued as fdatasync(2)");
                    Move::Fdatasync(handle)
                }
            },
            Deed::Truncate { ref place, length } => match place {
                Place::Handle { handle } => Move::SetLength {
                    file: *handle,
                    length,
                },
                Place::Path { path, .. } => Move::Truncate {
                    name: name(path),
                    length,
                },
            },
            Deed::Allocate {
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
            Deed::List {
                handle: file,
                length,
            } => Move::List { file, length },
            _ => return Ok(None),
        }))
    }
}

/// Operations on names and attributes.
fn of_names(deed: &Deed) -> Result<Move, String> {
    Ok(match deed {
        Deed::Stat { place } => Move::Stat(subject(place)),
        Deed::Access { path, mode } => Move::Access {
            name: name(path),
            mode: bits(mode)?,
        },
        Deed::Readlink { path } => Move::Readlink(name(path)),
        Deed::Mkdir { path, mode } => Move::Mkdir {
            name: name(path),
            mode: *mode,
        },
        Deed::Rmdir { path } => Move::Unlink {
            name: name(path),
            directory: true,
        },
        Deed::Unlink { path } => Move::Unlink {
            name: name(path),
            directory: false,
        },
        Deed::Rename { path, to, flags } => Move::Rename {
            name: name(path),
            to: name(to),
            flags: bits(flags)?,
        },
        Deed::Link { path, to } => Move::Link {
            name: name(path),
            to: name(to),
        },
        Deed::Symlink { target, path } => Move::Symlink {
            target: match target {
                Target::Below(path) => LinkText::Below(path.as_bytes().to_vec()),
                Target::Text(text) => LinkText::Plain(c_string(text.as_bytes())),
            },
            name: name(path),
        },
        Deed::Chmod { place, mode } => Move::Chmod {
            subject: subject(place),
            mode: *mode,
        },
        Deed::Chown { place, user, group } => Move::Chown {
            subject: subject(place),
            user: *user,
            group: *group,
        },
        Deed::Touch { place } => Move::Touch(subject(place)),
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
