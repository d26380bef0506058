//! Issues one operation of a replay.

use fslab_sys::os::OsStrExt;
use std::ffi::CString;
use std::io;
use std::path::Path;

use fslab_engine::Filler;
use fslab_sys::{Descriptors, Reached};

use super::prepared_calls::{LinkText, Subject, Syscall};

/// Most bytes of one call; longer transfers are split.
pub(super) const CALL_BYTES_MAX: u64 = 16 << 20;

/// Resources of one thread.
pub(super) struct Worker<'a> {
    pub(super) files: &'a Descriptors,
    pub(super) base: &'a Path,
    pub(super) buffer: &'a mut [u8],
    pub(super) filler: &'a mut Filler,
    /// Number of the write, so that each writes different data.
    pub(super) turn: u64,
}

impl Worker<'_> {
    /// Issues `operation`; returns the bytes moved if it moves data.
    #[inline]
    pub(super) fn perform(&mut self, operation: &Syscall) -> io::Result<u64> {
        let files = self.files;
        match operation {
            Syscall::Open {
                name,
                flags,
                mode,
                file,
            } => files.open(*file, name, *flags, *mode),
            Syscall::Close(file) => files.close(*file),
            Syscall::Duplicate { file, to } => files.duplicate(*file, *to),
            Syscall::Read { file, length, at } => self.read(*file, *length, *at),
            Syscall::Write { file, length, at } => self.write(*file, *length, *at),
            Syscall::Seek {
                file,
                offset,
                whence,
            } => files.seek(*file, *offset, *whence),
            Syscall::Map {
                file,
                offset,
                length,
            } => self.map(*file, *offset, *length),
            Syscall::Send {
                file,
                at,
                to,
                length,
            } => files.send(*file, *at, *to, *length),
            Syscall::Copy {
                file,
                at,
                to,
                to_at,
                length,
            } => files.copy(*file, *at, *to, *to_at, *length),
            Syscall::Fsync(file) => files.fsync(*file),
            Syscall::Fdatasync(file) => files.fdatasync(*file),
            Syscall::Syncfs(file) => files.sync_file_system(*file),
            Syscall::SetLength { file, length } => files.set_length(*file, *length),
            Syscall::Truncate { name, length } => files.truncate(name, *length),
            Syscall::Allocate {
                file,
                mode,
                offset,
                length,
            } => files.allocate(*file, *mode, *offset, *length),
            Syscall::List { file, length } => {
                let length = (*length).min(self.buffer.len() as u64) as usize;
                files.list(*file, &mut self.buffer[..length])
            }
            Syscall::CloseAll(closed) => {
                // Errors are ignored: a file may be closed already, or its open deviated.
                closed.iter().for_each(|file| drop(files.close(*file)));
                Ok(0)
            }
            Syscall::Spawn { .. } | Syscall::Nothing => Ok(0),
            operation => self.perform_on_path(operation),
        }
    }

    fn perform_on_path(&self, operation: &Syscall) -> io::Result<u64> {
        let files = self.files;
        match operation {
            Syscall::Stat(subject) => files.stat(reached(subject)),
            Syscall::Access { name, mode } => files.access(name, *mode),
            Syscall::Readlink(name) => files.read_link(name),
            Syscall::Mkdir { name, mode } => files.make_directory(name, *mode),
            Syscall::Unlink { name, directory } => files.unlink(name, *directory),
            Syscall::Rename { name, to, flags } => files.rename(name, to, *flags),
            Syscall::Link { name, to } => files.link(name, to),
            Syscall::Symlink { target, name } => files.symlink(&self.text(target)?, name),
            Syscall::Chmod { subject, mode } => files.change_mode(reached(subject), *mode),
            Syscall::Chown {
                subject,
                user,
                group,
            } => files.change_owner(reached(subject), *user, *group),
            Syscall::Touch(subject) => files.touch(reached(subject)),
            // All others work on open files.
            _ => Ok(0),
        }
    }

    /// Issues an equivalent of `operation`, which succeeded when recorded and is `refused` here, as
    /// programs do: a copy by reads and writes, a rename without flags. `None` if there is none.
    #[cold]
    pub(super) fn substitute(
        &mut self,
        operation: &Syscall,
        refused: &io::Error,
    ) -> Option<io::Result<u64>> {
        let is_refusal = matches!(
            refused.kind(),
            io::ErrorKind::InvalidInput
                | io::ErrorKind::Unsupported
                | io::ErrorKind::CrossesDevices
        );
        match operation {
            _ if !is_refusal => None,
            Syscall::Send {
                file,
                at,
                to,
                length,
            } => Some(self.copy(*file, *at, *to, None, *length)),
            Syscall::Copy {
                file,
                at,
                to,
                to_at,
                length,
            } => Some(self.copy(*file, *at, *to, *to_at, *length)),
            Syscall::Rename { name, to, flags } if *flags != 0 => {
                Some(self.files.rename(name, to, 0))
            }
            _ => None,
        }
    }

    fn copy(
        &mut self,
        file: u32,
        at: Option<u64>,
        to: u32,
        to_at: Option<u64>,
        length: u64,
    ) -> io::Result<u64> {
        let mut moved = 0;
        while moved < length {
            let part = (length - moved).min(self.buffer.len() as u64) as usize;
            let from = at.map(|at| at + moved);
            let count = self.files.read(file, &mut self.buffer[..part], from)?;
            if count == 0 {
                break;
            }
            let data = &self.buffer[..count as usize];
            let written = self.files.write(to, data, to_at.map(|at| at + moved))?;
            moved += written;
            if written < count {
                break;
            }
        }
        Ok(moved)
    }

    fn read(&mut self, file: u32, length: u64, at: Option<u64>) -> io::Result<u64> {
        let mut moved = 0;
        loop {
            let part = (length - moved).min(self.buffer.len() as u64);
            let from = at.map(|at| at + moved);
            let count = self
                .files
                .read(file, &mut self.buffer[..part as usize], from)?;
            moved += count;
            if moved == length || count < part {
                return Ok(moved);
            }
        }
    }

    fn write(&mut self, file: u32, length: u64, at: Option<u64>) -> io::Result<u64> {
        self.turn += 1;
        let mut moved = 0;
        loop {
            let part = (length - moved).min(CALL_BYTES_MAX) as usize;
            let data = self.filler.bytes(self.turn, moved, part);
            let count = self.files.write(file, data, at.map(|at| at + moved))?;
            moved += count;
            if moved == length || count < part as u64 {
                return Ok(moved);
            }
        }
    }

    /// Reads what page faults would bring in.
    fn map(&mut self, file: u32, offset: u64, length: u64) -> io::Result<u64> {
        let mut moved = 0;
        while moved < length {
            let part = (length - moved).min(self.buffer.len() as u64) as usize;
            let count = self
                .files
                .read(file, &mut self.buffer[..part], Some(offset + moved))?;
            if count == 0 {
                break;
            }
            moved += count;
        }
        Ok(moved)
    }

    fn text(&self, target: &LinkText) -> io::Result<CString> {
        match target {
            LinkText::Plain(text) => Ok(text.clone()),
            LinkText::Below(path) => {
                let text = [self.base.as_os_str().as_bytes(), path].join(&b'/');
                Ok(CString::new(text)?)
            }
        }
    }
}

fn reached(subject: &Subject) -> Reached<'_> {
    match subject {
        Subject::File(file) => Reached::File(*file),
        Subject::Name { name, follow } => Reached::Name {
            name,
            follow: *follow,
        },
    }
}

impl Syscall {
    /// True if its result is a number of bytes of file data.
    #[inline]
    pub(super) fn moves_data(&self) -> bool {
        matches!(
            self,
            Self::Read { .. }
                | Self::Write { .. }
                | Self::Map { .. }
                | Self::Send { .. }
                | Self::Copy { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_copy_is_read_and_written_and_a_refused_rename_has_no_flags() {
        let folder = tempfile::tempdir().expect("a directory");
        let files = Descriptors::below(folder.path(), 2).expect("opens");
        std::fs::write(folder.path().join("a"), vec![5; 300]).expect("writes");
        files.open(Some(0), c"a", 0, 0).expect("opens");
        let flags = fslab_sys::flag_bits("O_WRONLY|O_CREAT").expect("known");
        files.open(Some(1), c"b", flags, 0o600).expect("creates");
        let (mut buffer, mut filler) = (vec![0; 128], Filler::new(1, 128));
        let mut worker = Worker {
            files: &files,
            base: folder.path(),
            buffer: &mut buffer,
            filler: &mut filler,
            turn: 0,
        };
        let refused = io::Error::from_raw_os_error(22);
        let copy = Syscall::Copy {
            file: 0,
            at: Some(50),
            to: 1,
            to_at: None,
            length: u64::MAX,
        };
        let copied = worker
            .substitute(&copy, &refused)
            .expect("there is another way");
        assert_eq!(copied.expect("copies"), 250);
        let length = |name| std::fs::metadata(folder.path().join(name)).map(|it| it.len());
        assert_eq!(length("b").expect("is there"), 250);
        let rename = Syscall::Rename {
            name: c"b".into(),
            to: c"c".into(),
            flags: 1,
        };
        let missing = io::Error::from_raw_os_error(2);
        assert!(
            worker.substitute(&rename, &missing).is_none(),
            "that is no refusal"
        );
        worker
            .substitute(&rename, &refused)
            .expect("another way")
            .expect("renames");
        assert_eq!(length("c").expect("is there"), 250);
        assert!(worker.substitute(&Syscall::Fsync(0), &refused).is_none());
    }
}
