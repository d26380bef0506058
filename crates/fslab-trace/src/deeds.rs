//! What a call on a file asked for: from its name and its arguments to a deed.

use crate::arguments::{bracketed, number, octal};
use crate::calls::{Call, quoted};
use crate::event::Target;
use crate::scene::Scene;
use crate::{Deed, Place, TracePath};

impl Scene<'_> {
    pub(crate) fn of_data(&mut self) -> Option<Deed> {
        let call = self.call;
        let argument = |index| call.argument(index);
        let handle = self.handle(0);
        Some(match call.name.as_str() {
            "read" | "pread64" | "readv" | "preadv" | "preadv2" => Deed::Read {
                handle: handle?,
                length: self.length()?,
                offset: self.offset(),
            },
            "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" => Deed::Write {
                handle: handle?,
                length: self.length()?,
                offset: self.offset(),
            },
            "lseek" => Deed::Seek {
                handle: handle?,
                offset: argument(1).parse().ok()?,
                whence: argument(2).to_owned(),
            },
            "mmap" => self.map()?,
            "sendfile" => Deed::Copy {
                handle: self.handle(1)?,
                to: handle?,
                length: number(argument(3))?,
                offset: bracketed(argument(2)),
                to_offset: None,
                range: false,
            },
            "copy_file_range" => Deed::Copy {
                handle: handle?,
                to: self.handle(2)?,
                length: number(argument(4))?,
                offset: bracketed(argument(1)),
                to_offset: bracketed(argument(3)),
                range: true,
            },
            "fsync" | "fdatasync" | "sync_file_range" | "syncfs" => Deed::Sync {
                handle: handle?,
                call: call.name.clone(),
            },
            "ftruncate" => Deed::Truncate {
                place: Place::Handle { handle: handle? },
                length: number(argument(1))?,
            },
            "truncate" => Deed::Truncate {
                place: self.path_place(None, 0, true)?,
                length: number(argument(1))?,
            },
            "fallocate" => Deed::Allocate {
                handle: handle?,
                mode: argument(1).to_owned(),
                offset: number(argument(2))?,
                length: number(argument(3))?,
            },
            "getdents64" | "getdents" => self.list(handle?)?,
            _ => return None,
        })
    }

    pub(crate) fn of_names(&mut self) -> Option<Deed> {
        let call = self.call;
        let argument = |index| call.argument(index);
        Some(match call.name.as_str() {
            "mkdir" => Deed::Mkdir {
                path: self.path(None, 0)?,
                mode: octal(argument(1)),
            },
            "mkdirat" => Deed::Mkdir {
                path: self.path(Some(0), 1)?,
                mode: octal(argument(2)),
            },
            "rmdir" => Deed::Rmdir {
                path: self.path(None, 0)?,
            },
            "unlink" => Deed::Unlink {
                path: self.path(None, 0)?,
            },
            "unlinkat" if argument(2).contains("AT_REMOVEDIR") => Deed::Rmdir {
                path: self.path(Some(0), 1)?,
            },
            "unlinkat" => Deed::Unlink {
                path: self.path(Some(0), 1)?,
            },
            "rename" => rename(call, self.path(None, 0)?, self.path(None, 1)?),
            "renameat" | "renameat2" => {
                rename(call, self.path(Some(0), 1)?, self.path(Some(2), 3)?)
            }
            "link" => Deed::Link {
                path: self.path(None, 0)?,
                to: self.path(None, 1)?,
            },
            "linkat" if argument(1) != "\"\"" => Deed::Link {
                path: self.path(Some(0), 1)?,
                to: self.path(Some(2), 3)?,
            },
            "symlink" => Deed::Symlink {
                target: self.target()?,
                path: self.path(None, 1)?,
            },
            "symlinkat" => Deed::Symlink {
                target: self.target()?,
                path: self.path(Some(1), 2)?,
            },
            "readlink" => Deed::Readlink {
                path: self.path(None, 0)?,
            },
            "readlinkat" => Deed::Readlink {
                path: self.path(Some(0), 1)?,
            },
            _ => return None,
        })
    }

    pub(crate) fn of_attributes(&mut self) -> Option<Deed> {
        let call = self.call;
        let argument = |index| call.argument(index);
        let follows = |index| !argument(index).contains("AT_SYMLINK_NOFOLLOW");
        Some(match call.name.as_str() {
            "stat" => Deed::Stat {
                place: self.path_place(None, 0, true)?,
            },
            "lstat" => Deed::Stat {
                place: self.path_place(None, 0, false)?,
            },
            "fstat" => Deed::Stat {
                place: self.handle_place(0)?,
            },
            "newfstatat" => Deed::Stat {
                place: self.place(follows(3))?,
            },
            "statx" => Deed::Stat {
                place: self.place(follows(2))?,
            },
            "access" => Deed::Access {
                path: self.path(None, 0)?,
                mode: argument(1).to_owned(),
            },
            "faccessat" | "faccessat2" => Deed::Access {
                path: self.path(Some(0), 1)?,
                mode: argument(2).to_owned(),
            },
            "chmod" => Deed::Chmod {
                place: self.path_place(None, 0, true)?,
                mode: octal(argument(1)),
            },
            "fchmod" => Deed::Chmod {
                place: self.handle_place(0)?,
                mode: octal(argument(1)),
            },
            "fchmodat" | "fchmodat2" => Deed::Chmod {
                place: self.path_place(Some(0), 1, true)?,
                mode: octal(argument(2)),
            },
            "chown" => chown(call, self.path_place(None, 0, true)?, 1),
            "lchown" => chown(call, self.path_place(None, 0, false)?, 1),
            "fchown" => chown(call, self.handle_place(0)?, 1),
            "fchownat" => chown(call, self.place(follows(4))?, 2),
            "utimensat" if argument(1) == "NULL" => Deed::Touch {
                place: self.handle_place(0)?,
            },
            "utimensat" => Deed::Touch {
                place: self.place(follows(3))?,
            },
            "futimesat" => Deed::Touch {
                place: self.path_place(Some(0), 1, true)?,
            },
            "utime" | "utimes" => Deed::Touch {
                place: self.path_place(None, 0, true)?,
            },
            _ => return None,
        })
    }

    fn map(&mut self) -> Option<Deed> {
        let call = self.call;
        let handle = self.handle(4)?;
        let shared = call.argument(3).contains("MAP_SHARED");
        if shared && call.argument(2).contains("PROT_WRITE") {
            self.count_as("mmap for writing: what is stored through it");
        }
        Some(Deed::Map {
            handle,
            offset: number(call.argument(5))?,
            length: number(call.argument(1))?,
        })
    }

    fn list(&mut self, handle: u32) -> Option<Deed> {
        if let Some(path) = self.translator.paths.get(&handle).cloned() {
            self.translator.done.listed.insert(path);
        }
        let length = number(self.call.argument(2))?;
        Some(Deed::List { handle, length })
    }

    /// The text of a symbolic link, at the first argument.
    fn target(&self) -> Option<Target> {
        let text = quoted(self.call.argument(0))?;
        let below = text
            .starts_with(b"/")
            .then(|| TracePath::below(&self.translator.root, &text))
            .flatten();
        Some(below.map_or_else(
            || Target::Text(String::from_utf8_lossy(&text).into_owned()),
            Target::Below,
        ))
    }

    /// Bytes asked for: an argument, or the sum of a vector's parts.
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
        // An offset of -1 means the position, in the second edition of the vectored calls.
        self.call
            .name
            .starts_with('p')
            .then(|| number(self.call.argument(3)))?
    }
}

fn rename(call: &Call, path: TracePath, to: TracePath) -> Deed {
    let flags = match call.name.as_str() {
        "renameat2" => call.argument(4),
        _ => "0",
    };
    Deed::Rename {
        path,
        to,
        flags: flags.to_owned(),
    }
}

/// A change of owner, whose numbers begin at the argument `first`.
fn chown(call: &Call, place: Place, first: usize) -> Deed {
    let id = |index| call.argument(index).parse::<u32>().ok();
    Deed::Chown {
        place,
        user: id(first),
        group: id(first + 1),
    }
}
