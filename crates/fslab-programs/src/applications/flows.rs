//! Operations of a personality's thread on one file; each call is recorded.

use std::ffi::CStr;
use std::io;
use std::path::Path;

use fslab_engine::{EngineError, Filler, OperationKind, Random, ThreadRecorder};
use fslab_sys::{Descriptors, Reached};

/// The result of one operation.
pub(crate) type EngineResult<T> = Result<T, EngineError>;

/// O_RDWR|O_CREAT; a test compares it with the system's value.
pub(super) const CREATE: i32 = 0o102;
/// O_RDWR, likewise.
const OPEN: i32 = 0o2;

/// Numbers of the open file of an iteration and of the log.
const FILE: u32 = 0;
const LOG: u32 = 1;
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
    create: OperationKind,
    open: OperationKind,
    write: OperationKind,
    append: OperationKind,
    read: OperationKind,
    fsync: OperationKind,
    close: OperationKind,
    stat: OperationKind,
    unlink: OperationKind,
}

/// A thread with its resources and its recorder.
pub(crate) struct Worker<'a> {
    base: &'a Path,
    resources: ThreadResources,
    book: &'a mut ThreadRecorder,
}

/// What a thread allocates before timing.
pub(crate) struct ThreadResources {
    files: Descriptors,
    kinds: Kinds,
    buffer: Vec<u8>,
    filler: Filler,
    /// Number of the write: each has different data.
    turn: u64,
}

impl ThreadResources {
    /// Resources of thread `thread` for files below `base`, with transfers of `record` bytes.
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

    /// Opens the log, and creates it if missing.
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

    pub(super) fn into_worker<'a>(
        self,
        base: &'a Path,
        book: &'a mut ThreadRecorder,
    ) -> Worker<'a> {
        Worker {
            base,
            resources: self,
            book,
        }
    }
}

impl Worker<'_> {
    /// Creates a file and leaves it open.
    pub(super) fn create(&mut self, name: &CStr) -> EngineResult<()> {
        self.call("create", self.resources.kinds.create, name, |it| {
            it.files.open(Some(FILE), name, CREATE, 0o600)
        })
    }

    /// Opens an existing file.
    pub(super) fn open(&mut self, name: &CStr) -> EngineResult<()> {
        self.call("open", self.resources.kinds.open, name, |it| {
            it.files.open(Some(FILE), name, OPEN, 0)
        })
    }

    pub(super) fn close(&mut self, name: &CStr) -> EngineResult<()> {
        self.call("close", self.resources.kinds.close, name, |it| {
            it.files.close(FILE)
        })
    }

    /// Writes a file of `bytes`, recorded as one operation.
    pub(super) fn write_file(&mut self, name: &CStr, bytes: u64) -> EngineResult<()> {
        self.resources.turn += 1;
        let (turn, record) = (self.resources.turn, self.resources.buffer.len() as u64);
        self.timed("write", self.resources.kinds.write, name, |it| {
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

    /// Reads a file to its end, recorded as one operation.
    pub(super) fn read_file(&mut self, name: &CStr) -> EngineResult<()> {
        self.timed("read", self.resources.kinds.read, name, |it| {
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
        self.resources.turn += 1;
        let turn = self.resources.turn;
        self.timed("append to", self.resources.kinds.append, name, |it| {
            it.files.seek(file, 0, SEEK_END)?;
            let data = it.filler.bytes(turn, 0, bytes);
            it.files.write(file, data, None)
        })
    }

    /// fsync(2), recorded as a latency without an operation.
    pub(super) fn fsync(&mut self, name: &CStr) -> EngineResult<()> {
        let start_ns = ThreadRecorder::now_ns();
        let done = self.resources.files.fsync(FILE);
        let end_ns = ThreadRecorder::now_ns();
        done.map_err(|error| io_error("fsync", self.base, name, error))?;
        self.book
            .auxiliary(self.resources.kinds.fsync, start_ns, end_ns);
        Ok(())
    }

    pub(super) fn stat(&mut self, name: &CStr) -> EngineResult<()> {
        self.call("stat", self.resources.kinds.stat, name, |it| {
            it.files.stat(Reached::Name { name, follow: true })
        })
    }

    pub(super) fn unlink(&mut self, name: &CStr) -> EngineResult<()> {
        self.call("unlink", self.resources.kinds.unlink, name, |it| {
            it.files.unlink(name, false)
        })
    }

    fn call(
        &mut self,
        operation: &'static str,
        kind: OperationKind,
        name: &CStr,
        issue: impl FnOnce(&mut ThreadResources) -> io::Result<u64>,
    ) -> EngineResult<()> {
        self.timed(operation, kind, name, |it| issue(it).map(|_| 0))
    }

    /// Times and records an operation that returns the bytes moved.
    #[inline]
    fn timed(
        &mut self,
        operation: &'static str,
        kind: OperationKind,
        name: &CStr,
        issue: impl FnOnce(&mut ThreadResources) -> io::Result<u64>,
    ) -> EngineResult<()> {
        let start_ns = ThreadRecorder::now_ns();
        let moved = issue(&mut self.resources);
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
    fn the_values_of_flags_are_those_of_the_system() {
        assert_eq!(flag_bits("O_RDWR|O_CREAT"), Some(CREATE));
        assert_eq!(flag_bits("O_RDWR"), Some(OPEN));
        assert_eq!(flag_bits("SEEK_END"), Some(SEEK_END));
    }
}
