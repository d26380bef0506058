//! What a thread of a personality does to one file, each call by itself in its book.

use std::ffi::CStr;
use std::io;
use std::path::Path;

use fslab_engine::{EngineError, Filler, Kind, Random, ThreadRecorder};
use fslab_sys::{Descriptors, Reached};

/// The result of one operation.
pub(crate) type EngineResult<T> = Result<T, EngineError>;

/// Flags of open(2) by which files are made; the words are known, or a test fails.
pub(super) const CREATE: i32 = 0o102;
/// And by which they are opened.
const OPEN: i32 = 0o2;

/// The open file of a thread's loop, and its log.
const FILE: u32 = 0;
const LOG: u32 = 1;
/// The name of the log, which is one file.
pub(super) const LOG_NAME: &CStr = c"log";

/// The error of an operation on the file `name` below `base`.
pub(super) fn io_error(
    operation: &'static str,
    base: &Path,
    name: &CStr,
    source: io::Error,
) -> EngineError {
    EngineError::io(
        operation,
        &base.join(name.to_string_lossy().as_ref()),
        source,
    )
}

/// The kinds of operations of a personality.
#[derive(Clone, Copy, Debug)]
struct Kinds {
    create: Kind,
    open: Kind,
    write: Kind,
    append: Kind,
    read: Kind,
    fsync: Kind,
    close: Kind,
    stat: Kind,
    unlink: Kind,
}

/// A thread at work: its tools and its book.
pub(crate) struct Worker<'a> {
    base: &'a Path,
    tools: Tools,
    book: &'a mut ThreadRecorder,
}

/// What a thread prepares before the clock starts.
pub(crate) struct Tools {
    files: Descriptors,
    kinds: Kinds,
    buffer: Vec<u8>,
    filler: Filler,
    /// Which of its writes this is: no two have the same data.
    turn: u64,
}

impl Tools {
    /// Tools for files below `base`, moved by `record` bytes, by thread number `thread`.
    pub(super) fn new(
        base: &Path,
        record: usize,
        longest_write: usize,
        seed: u64,
        thread: u32,
        book: &mut ThreadRecorder,
    ) -> EngineResult<Self> {
        let kinds = Kinds {
            create: book.kind("create"),
            open: book.kind("open"),
            write: book.kind("write"),
            append: book.kind("append"),
            read: book.kind("read"),
            fsync: book.kind("fsync"),
            close: book.kind("close"),
            stat: book.kind("stat"),
            unlink: book.kind("unlink"),
        };
        Ok(Self {
            files: Descriptors::below(base, 2).map_err(|e| EngineError::io("open", base, e))?,
            kinds,
            buffer: vec![0; record],
            filler: Filler::new(fslab_engine::mix(seed, u64::from(thread)), longest_write),
            turn: u64::from(thread) << 40,
        })
    }

    /// Opens the log that all threads append to; the first one creates it.
    pub(super) fn open_log(&self, base: &Path) -> EngineResult<()> {
        let path = base.join(LOG_NAME.to_string_lossy().as_ref());
        let mut create = std::fs::File::options();
        let made = create.create(true).append(true).open(path);
        made.map_err(|error| io_error("create", base, LOG_NAME, error))?;
        let opened = self.files.open(Some(LOG), LOG_NAME, OPEN, 0);
        opened
            .map(drop)
            .map_err(|error| io_error("open", base, LOG_NAME, error))
    }

    /// The tools in hand.
    pub(super) fn take<'a>(self, base: &'a Path, book: &'a mut ThreadRecorder) -> Worker<'a> {
        Worker {
            base,
            tools: self,
            book,
        }
    }
}

impl Worker<'_> {
    /// Creates a file and leaves it open.
    pub(super) fn create(&mut self, name: &CStr) -> EngineResult<()> {
        self.call("create", self.tools.kinds.create, name, |it| {
            it.files.open(Some(FILE), name, CREATE, 0o600)
        })
    }

    /// Opens a file that is there.
    pub(super) fn open(&mut self, name: &CStr) -> EngineResult<()> {
        self.call("open", self.tools.kinds.open, name, |it| {
            it.files.open(Some(FILE), name, OPEN, 0)
        })
    }

    pub(super) fn close(&mut self, name: &CStr) -> EngineResult<()> {
        self.call("close", self.tools.kinds.close, name, |it| {
            it.files.close(FILE)
        })
    }

    /// Writes a whole file of `bytes`, noted as one operation.
    pub(super) fn write_whole(&mut self, name: &CStr, bytes: u64) -> EngineResult<()> {
        self.tools.turn += 1;
        let (turn, record) = (self.tools.turn, self.tools.buffer.len() as u64);
        self.moving("write", self.tools.kinds.write, name, |it| {
            let mut offset = 0;
            while offset < bytes {
                let length = (bytes - offset).min(record) as usize;
                let data = it.filler.bytes(turn, offset, length);
                let count = it.files.write(FILE, data, None)?;
                offset += count;
                if count == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
            }
            Ok(offset)
        })
    }

    /// Reads a whole file to its end, noted as one operation.
    pub(super) fn read_whole(&mut self, name: &CStr) -> EngineResult<()> {
        self.moving("read", self.tools.kinds.read, name, |it| {
            let mut total = 0;
            loop {
                let count = it.files.read(FILE, &mut it.buffer, None)?;
                if count == 0 {
                    return Ok(total);
                }
                total += count;
            }
        })
    }

    /// Appends up to `most` bytes to the open file.
    pub(super) fn append(
        &mut self,
        name: &CStr,
        most: u64,
        random: &mut Random,
    ) -> EngineResult<()> {
        self.append_to(FILE, name, most, random)
    }

    /// Appends up to `most` bytes to the log.
    pub(super) fn append_log(
        &mut self,
        name: &CStr,
        most: u64,
        random: &mut Random,
    ) -> EngineResult<()> {
        self.append_to(LOG, name, most, random)
    }

    fn append_to(
        &mut self,
        file: u32,
        name: &CStr,
        most: u64,
        random: &mut Random,
    ) -> EngineResult<()> {
        let bytes = 1 + random.below(most) as usize;
        self.tools.turn += 1;
        let turn = self.tools.turn;
        self.moving("append to", self.tools.kinds.append, name, |it| {
            it.files.seek(file, 0, SEEK_END)?;
            let data = it.filler.bytes(turn, 0, bytes);
            it.files.write(file, data, None)
        })
    }

    /// fsync(2): what one waits for, noted beside the operations.
    pub(super) fn fsync(&mut self, name: &CStr) -> EngineResult<()> {
        let start_ns = ThreadRecorder::now_ns();
        let done = self.tools.files.fsync(FILE);
        let end_ns = ThreadRecorder::now_ns();
        done.map_err(|error| io_error("fsync", self.base, name, error))?;
        self.book
            .auxiliary(self.tools.kinds.fsync, start_ns, end_ns);
        Ok(())
    }

    pub(super) fn stat(&mut self, name: &CStr) -> EngineResult<()> {
        self.call("stat", self.tools.kinds.stat, name, |it| {
            it.files.stat(Reached::Name { name, follow: true })
        })
    }

    pub(super) fn unlink(&mut self, name: &CStr) -> EngineResult<()> {
        self.call("unlink", self.tools.kinds.unlink, name, |it| {
            it.files.unlink(name, false)
        })
    }

    fn call(
        &mut self,
        operation: &'static str,
        kind: Kind,
        name: &CStr,
        issue: impl FnOnce(&mut Tools) -> io::Result<u64>,
    ) -> EngineResult<()> {
        self.moving(operation, kind, name, |it| issue(it).map(|_| 0))
    }

    /// An operation whose result is the number of bytes that it moved.
    #[inline]
    fn moving(
        &mut self,
        operation: &'static str,
        kind: Kind,
        name: &CStr,
        issue: impl FnOnce(&mut Tools) -> io::Result<u64>,
    ) -> EngineResult<()> {
        let start_ns = ThreadRecorder::now_ns();
        let moved = issue(&mut self.tools);
        let end_ns = ThreadRecorder::now_ns();
        let moved = moved.map_err(|error| io_error(operation, self.base, name, error))?;
        self.book.operation(kind, start_ns, end_ns, moved);
        Ok(())
    }
}

const SEEK_END: i32 = 2;

#[cfg(test)]
mod tests {
    use fslab_sys::flag_bits;

    use super::*;

    #[test]
    fn the_numbers_of_flags_are_those_of_the_system() {
        assert_eq!(flag_bits("O_RDWR|O_CREAT"), Some(CREATE));
        assert_eq!(flag_bits("O_RDWR"), Some(OPEN));
        assert_eq!(flag_bits("SEEK_END"), Some(SEEK_END));
    }
}
