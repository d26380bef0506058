//! Fills an array of system calls: one method for each call, with what it refers to borrowed until
//! the array has run.

use std::cell::Cell;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use super::call_array::{
    AFTER, BEFORE, CALLS_MAX, COPY, Call, CallArray, EXPECTS, NAME_BYTES, OPERATIONS_MAX,
    Operation, RESULTS,
};
use super::names::NameDirectory;
use crate::{CallFile, STAMP_BYTES};

/// Both times of a file are set to now.
static NOW: [libc::timespec; 2] = [const {
    libc::timespec {
        tv_sec: 0,
        tv_nsec: libc::UTIME_NOW,
    }
}; 2];

/// The call that opens a file.
#[derive(Clone, Copy, Debug)]
pub struct OpenedByCall(usize);

#[derive(Clone, Copy)]
enum Argument {
    Number(u64),
    ResultOf(usize),
}

impl From<u64> for Argument {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

/// Flags and modes, and lengths of names.
impl From<i32> for Argument {
    fn from(number: i32) -> Self {
        Self::Number(i64::from(number).cast_unsigned())
    }
}

impl From<CallFile<'_>> for Argument {
    fn from(file: CallFile<'_>) -> Self {
        match file {
            CallFile::Open(file) => file.as_fd().as_raw_fd().into(),
            CallFile::Opened(OpenedByCall(call)) => Self::ResultOf(call),
        }
    }
}

impl From<&NameDirectory> for Argument {
    fn from(directory: &NameDirectory) -> Self {
        directory.0.as_raw_fd().into()
    }
}

fn memory(cells: &[Cell<u8>]) -> Argument {
    Argument::Number(cells.as_ptr().expose_provenance() as u64)
}

/// An array that is being filled. Operations are begun, filled with calls, and ended.
pub struct CallBatch<'b> {
    array: &'b mut CallArray,
    /// The first call of the operation.
    first: usize,
}

impl<'b> CallBatch<'b> {
    pub(super) fn new(array: &'b mut CallArray) -> Self {
        Self { array, first: 0 }
    }

    /// Operations so far.
    pub fn operations(&self) -> usize {
        self.array.operations.len()
    }

    /// Begins an operation of at most `calls` calls, copies included, with names of `name_bytes`
    /// bytes together, zero bytes included; false if there is no room for it.
    pub fn begin(&mut self, calls: usize, name_bytes: usize) -> bool {
        self.first = self.array.calls.len();
        self.first + calls <= CALLS_MAX
            && calls <= RESULTS
            && self.array.names_used + name_bytes <= NAME_BYTES
            && self.operations() < OPERATIONS_MAX
    }

    /// Ends the operation, which has at least one call and counts `count`.
    pub fn end(&mut self, count: u64) {
        let (first, end) = (self.first, self.array.calls.len());
        let is_call = |call: &&mut Call| call.number != COPY;
        if let Some(call) = self.array.calls[first..].iter_mut().find(is_call) {
            call.flags |= BEFORE;
        }
        if let Some(call) = self.array.calls.last_mut() {
            call.flags |= AFTER;
        }
        self.array.operations.push(Operation { first, end, count });
    }

    /// Makes the calls until one fails, has an unexpected result, or ends an operation at
    /// `until_ns` or later. The array then has the operations that were done.
    pub fn run(self, until_ns: u64) -> io::Result<()> {
        // SAFETY: memory and descriptors are borrowed for the life of this batch, and are those of
        // the array itself; the memory that calls write to is of cells.
        unsafe { self.array.run(until_ns) }
    }

    fn push<const N: usize>(&mut self, number: i64, arguments: [Argument; N]) -> usize {
        let at = self.array.calls.len();
        assert!(at < CALLS_MAX, "a batch without room");
        let mut call = Call {
            number: number as u32,
            ..Call::default()
        };
        for (index, argument) in arguments.into_iter().enumerate() {
            match argument {
                Argument::Number(number) => call.arguments[index] = number,
                Argument::ResultOf(other) => call.from[index] = (at - other) as u8,
            }
        }
        self.array.calls.push(call);
        at
    }

    /// As `push`, of a call that moves `length` bytes; with another result the array ends.
    fn push_expecting<const N: usize>(
        &mut self,
        number: i64,
        arguments: [Argument; N],
        length: usize,
    ) {
        let at = self.push(number, arguments);
        let call = &mut self.array.calls[at];
        call.flags |= EXPECTS;
        call.expected = length as i64;
    }

    /// Keeps a copy of `name`.
    fn name(&mut self, name: &CStr) -> Argument {
        let bytes = name.to_bytes_with_nul();
        let start = self.array.names_used;
        let cells = &self.array.names[start..start + bytes.len()];
        for (cell, byte) in cells.iter().zip(bytes) {
            cell.set(*byte);
        }
        self.array.names_used += bytes.len();
        memory(cells)
    }

    /// Before the next call, copies `bytes` to `to`. It takes no time of the operation.
    pub fn copy(&mut self, to: &'b [Cell<u8>; STAMP_BYTES], bytes: [u8; STAMP_BYTES]) {
        let kept = &self.array.stamps[self.array.stamps_used];
        kept.set(bytes);
        let from = Argument::Number(kept.as_ptr().expose_provenance() as u64);
        self.array.stamps_used += 1;
        self.push(COPY.into(), [memory(to), from, (STAMP_BYTES as u64).into()]);
    }

    /// pread(2); `expected` bytes, or the array ends.
    pub fn pread(
        &mut self,
        file: CallFile<'b>,
        into: &'b [Cell<u8>],
        offset: u64,
        expected: usize,
    ) {
        let length = into.len() as u64;
        let arguments = [file.into(), memory(into), length.into(), offset.into()];
        self.push_expecting(libc::SYS_pread64, arguments, expected);
    }

    /// pwrite(2) of all of `data`, or the array ends.
    pub fn pwrite(&mut self, file: CallFile<'b>, data: &'b [Cell<u8>], offset: u64) {
        let length = data.len() as u64;
        let arguments = [file.into(), memory(data), length.into(), offset.into()];
        self.push_expecting(libc::SYS_pwrite64, arguments, data.len());
    }

    /// openat(2) of a new file for writing: as [`NameDirectory::create_file`].
    pub fn create_file(&mut self, directory: &'b NameDirectory, name: &CStr) -> OpenedByCall {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        self.open(directory, name, flags, 0o600)
    }

    /// openat(2) of a file for reading: as [`NameDirectory::open_file`].
    pub fn open_file(&mut self, directory: &'b NameDirectory, name: &CStr) -> OpenedByCall {
        self.open(directory, name, libc::O_RDONLY | libc::O_CLOEXEC, 0)
    }

    fn open(
        &mut self,
        directory: &'b NameDirectory,
        name: &CStr,
        flags: i32,
        mode: i32,
    ) -> OpenedByCall {
        let name = self.name(name);
        let arguments = [directory.into(), name, flags.into(), mode.into()];
        OpenedByCall(self.push(libc::SYS_openat, arguments))
    }

    /// close(2).
    pub fn close(&mut self, file: OpenedByCall) {
        self.push(libc::SYS_close, [CallFile::Opened(file).into()]);
    }

    /// fstatat(2).
    pub fn stat(&mut self, directory: &'b NameDirectory, name: &CStr, follows_links: bool) {
        let name = self.name(name);
        let flags = match follows_links {
            true => 0,
            false => libc::AT_SYMLINK_NOFOLLOW,
        };
        let stat = self.array.stat.as_ptr();
        let stat = Argument::Number(stat.expose_provenance() as u64);
        let arguments = [directory.into(), name, stat, flags.into()];
        self.push(libc::SYS_newfstatat, arguments);
    }

    /// unlinkat(2) of a file.
    pub fn unlink(&mut self, directory: &'b NameDirectory, name: &CStr) {
        let name = self.name(name);
        self.push(libc::SYS_unlinkat, [directory.into(), name, 0.into()]);
    }

    /// renameat(2).
    pub fn rename(&mut self, directory: &'b NameDirectory, name: &CStr, new: &CStr) {
        let (name, new) = (self.name(name), self.name(new));
        let arguments = [directory.into(), name, directory.into(), new];
        self.push(libc::SYS_renameat, arguments);
    }

    /// linkat(2).
    pub fn link(&mut self, directory: &'b NameDirectory, name: &CStr, new: &CStr) {
        let (name, new) = (self.name(name), self.name(new));
        let arguments = [directory.into(), name, directory.into(), new, 0.into()];
        self.push(libc::SYS_linkat, arguments);
    }

    /// symlinkat(2).
    pub fn symlink(&mut self, directory: &'b NameDirectory, target: &CStr, new: &CStr) {
        let (target, new) = (self.name(target), self.name(new));
        self.push(libc::SYS_symlinkat, [target, directory.into(), new]);
    }

    /// fchmodat(2).
    pub fn change_mode(&mut self, directory: &'b NameDirectory, name: &CStr, mode: u32) {
        let name = self.name(name);
        let arguments = [directory.into(), name, u64::from(mode).into()];
        self.push(libc::SYS_fchmodat, arguments);
    }

    /// utimensat(2): sets both times to now.
    pub fn touch(&mut self, directory: &'b NameDirectory, name: &CStr) {
        let name = self.name(name);
        let now = Argument::Number(NOW.as_ptr().expose_provenance() as u64);
        let arguments = [
            directory.into(),
            name,
            now,
            libc::AT_SYMLINK_NOFOLLOW.into(),
        ];
        self.push(libc::SYS_utimensat, arguments);
    }
}
