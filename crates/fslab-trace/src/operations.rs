//! Translates the name and arguments of a call into an operation.

use crate::arguments::{bracketed, number, octal};
use crate::call_context::CallContext;
use crate::calls::{Call, quoted};
use crate::event::LinkTarget;
use crate::{Operation, Place, TracePath};

impl CallContext<'_> {
    pub(crate) fn data_operation(&mut self) -> Option<Operation> {
        let call = self.call;
        let argument = |index| call.argument(index);
        let handle = self.handle(0);
        Some(match call.name.as_str() {
            "read" | "pread64" | "readv" | "preadv" | "preadv2" => Operation::Read {
                handle: handle?,
                length: self.length()?,
                offset: self.offset(),
            },
            "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" => Operation::Write {
                handle: handle?,
                length: self.length()?,
                offset: self.offset(),
            },
            "lseek" => Operation::Seek {
                handle: handle?,
                offset: argument(1).parse().ok()?,
                whence: argument(2).to_owned(),
            },
            "mmap" => self.map()?,
            "sendfile" => Operation::Copy {
                handle: self.handle(1)?,
                to: handle?,
                length: number(argument(3))?,
                offset: bracketed(argument(2)),
                to_offset: None,
                range: false,
            },
            "copy_file_range" => Operation::Copy {
                handle: handle?,
                to: self.handle(2)?,
                length: number(argument(4))?,
                offset: bracketed(argument(1)),
                to_offset: bracketed(argument(3)),
                range: true,
            },
            "fsync" | "fdatasync" | "sync_file_range" | "syncfs" => Operation::Sync {
                handle: handle?,
                call: call.name.clone(),
            },
            "ftruncate" => Operation::Truncate {
                place: Place::Handle { handle: handle? },
                length: number(argument(1))?,
            },
            "truncate" => Operation::Truncate {
                place: self.path_place(None, 0, true)?,
                length: number(argument(1))?,
            },
            "fallocate" => Operation::Allocate {
                handle: handle?,
                mode: argument(1).to_owned(),
                offset: number(argument(2))?,
                length: number(argument(3))?,
            },
            "getdents64" | "getdents" => self.list(handle?)?,
            _ => return None,
        })
    }

    pub(crate) fn name_operation(&mut self) -> Option<Operation> {
        let call = self.call;
        let argument = |index| call.argument(index);
        Some(match call.name.as_str() {
            "mkdir" => Operation::Mkdir {
                path: self.path(None, 0)?,
                mode: octal(argument(1)),
            },
            "mkdirat" => Operation::Mkdir {
                path: self.path(Some(0), 1)?,
                mode: octal(argument(2)),
            },
            "rmdir" => Operation::Rmdir {
                path: self.path(None, 0)?,
            },
            "unlink" => Operation::Unlink {
                path: self.path(None, 0)?,
            },
            "unlinkat" if argument(2).contains("AT_REMOVEDIR") => Operation::Rmdir {
                path: self.path(Some(0), 1)?,
            },
            "unlinkat" => Operation::Unlink {
                path: self.path(Some(0), 1)?,
            },
            "rename" => rename(call, self.path(None, 0)?, self.path(None, 1)?),
            "renameat" | "renameat2" => {
                rename(call, self.path(Some(0), 1)?, self.path(Some(2), 3)?)
            }
            "link" => Operation::Link {
                path: self.path(None, 0)?,
                to: self.path(None, 1)?,
            },
            "linkat" if argument(1) != "\"\"" => Operation::Link {
                path: self.path(Some(0), 1)?,
                to: self.path(Some(2), 3)?,
            },
            "symlink" => Operation::Symlink {
                target: self.target()?,
                path: self.path(None, 1)?,
            },
            "symlinkat" => Operation::Symlink {
                target: self.target()?,
                path: self.path(Some(1), 2)?,
            },
            "readlink" => Operation::Readlink {
                path: self.path(None, 0)?,
            },
            "readlinkat" => Operation::Readlink {
                path: self.path(Some(0), 1)?,
            },
            _ => return None,
        })
    }

    pub(crate) fn attribute_operation(&mut self) -> Option<Operation> {
        let call = self.call;
        let argument = |index| call.argument(index);
        let follows = |index| !argument(index).contains("AT_SYMLINK_NOFOLLOW");
        Some(match call.name.as_str() {
            "stat" => Operation::Stat {
                place: self.path_place(None, 0, true)?,
            },
            "lstat" => Operation::Stat {
                place: self.path_place(None, 0, false)?,
            },
            "fstat" => Operation::Stat {
                place: self.handle_place(0)?,
            },
            "newfstatat" => Operation::Stat {
                place: self.place(follows(3))?,
            },
            "statx" => Operation::Stat {
                place: self.place(follows(2))?,
            },
            "access" => Operation::Access {
                path: self.path(None, 0)?,
                mode: argument(1).to_owned(),
            },
            "faccessat" | "faccessat2" => Operation::Access {
                path: self.path(Some(0), 1)?,
                mode: argument(2).to_owned(),
            },
            "chmod" => Operation::Chmod {
                place: self.path_place(None, 0, true)?,
                mode: octal(argument(1)),
            },
            "fchmod" => Operation::Chmod {
                place: self.handle_place(0)?,
                mode: octal(argument(1)),
            },
            "fchmodat" | "fchmodat2" => Operation::Chmod {
                place: self.path_place(Some(0), 1, true)?,
                mode: octal(argument(2)),
            },
            "chown" => chown(call, self.path_place(None, 0, true)?, 1),
            "lchown" => chown(call, self.path_place(None, 0, false)?, 1),
            "fchown" => chown(call, self.handle_place(0)?, 1),
            "fchownat" => chown(call, self.place(follows(4))?, 2),
            "utimensat" if argument(1) == "NULL" => Operation::Touch {
                place: self.handle_place(0)?,
            },
            "utimensat" => Operation::Touch {
                place: self.place(follows(3))?,
            },
            "futimesat" => Operation::Touch {
                place: self.path_place(Some(0), 1, true)?,
            },
            "utime" | "utimes" => Operation::Touch {
                place: self.path_place(None, 0, true)?,
            },
            _ => return None,
        })
    }

    fn map(&mut self) -> Option<Operation> {
        let call = self.call;
        let handle = self.handle(4)?;
        let shared = call.argument(3).contains("MAP_SHARED");
        if shared && call.argument(2).contains("PROT_WRITE") {
            self.count_as("mmap for writing: what is stored through it");
        }
        Some(Operation::Map {
            handle,
            offset: number(call.argument(5))?,
            length: number(call.argument(1))?,
        })
    }

    fn list(&mut self, handle: u32) -> Option<Operation> {
        if let Some(path) = self.translator.paths.get(&handle).cloned() {
            self.translator.done.listed.insert(path);
        }
        let length = number(self.call.argument(2))?;
        Some(Operation::List { handle, length })
    }

    /// The target of a symbolic link, in the first argument.
    fn target(&self) -> Option<LinkTarget> {
        let text = quoted(self.call.argument(0))?;
        let below = text
            .starts_with(b"/")
            .then(|| TracePath::below(&self.translator.root, &text))
            .flatten();
        Some(below.map_or_else(
            || LinkTarget::Text(String::from_utf8_lossy(&text).into_owned()),
            LinkTarget::Below,
        ))
    }

    /// Bytes requested: the third argument, or the sum of a vector's lengths.
    fn length(&self) -> Option<u64> {
        let call = self.call;
        if !call.name.contains('v') {
            return number(call.argument(2));
        }
        let parts = call.argument(1).split("iov_len=").skip(1);
        parts
            .map(|part| {
                let end = part
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(part.len());
                part[..end].parse::<u64>().ok()
            })
            .sum()
    }

    fn offset(&self) -> Option<u64> {
        // preadv2 and pwritev2 take -1 for the current position, which is no `u64`.
        self.call
            .name
            .starts_with('p')
            .then(|| number(self.call.argument(3)))?
    }
}

fn rename(call: &Call, path: TracePath, to: TracePath) -> Operation {
    let flags = match call.name.as_str() {
        "renameat2" => call.argument(4),
        _ => "0",
    };
    Operation::Rename {
        path,
        to,
        flags: flags.to_owned(),
    }
}

/// A change of owner; the ids start at the argument `first`.
fn chown(call: &Call, place: Place, first: usize) -> Operation {
    let id = |index| call.argument(index).parse::<u32>().ok();
    Operation::Chown {
        place,
        user: id(first),
        group: id(first + 1),
    }
}
