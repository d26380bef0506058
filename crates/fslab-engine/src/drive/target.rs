//! The interface between engines and loops.

use std::cell::Cell;
use std::ffi::CStr;
use std::io;
use std::ops::Range;

use fslab_sys::{CallArray, CallBatch, StoppedOperation};

use crate::access::Extent;
use crate::content::FileIdentity;
use crate::jobs::{MetadataOperation, Names, SyncCall};
use fslab_stats::mix;

/// An open file whose records are read and written.
pub(crate) trait DataTarget {
    /// False for engines without data, for which none is made or verified.
    const HOLDS_DATA: bool;

    /// True if the engine buffers data that must be flushed after the last operation.
    const BUFFERS: bool = false;

    /// Fills `into` from `extent`, which has its length; a short read is an error.
    fn read(&mut self, extent: Extent, into: &mut [u8]) -> io::Result<()>;

    /// Writes `data` to `extent`, which has its length.
    fn write(&mut self, extent: Extent, data: &[u8]) -> io::Result<()>;

    /// True if [`DataTarget::gather`] puts the calls of an operation into an array.
    const GATHERS: bool = false;

    /// Puts the call of a read or write at `extent`, which has its length, into `batch`.
    fn gather<'b>(&'b self, _batch: &mut CallBatch<'b>, _extent: Extent, _transfer: Transfer<'b>) {
        unreachable!("this engine gathers no calls")
    }

    /// Writes the engine's buffered data.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Makes written data durable.
    fn sync(&mut self, call: SyncCall) -> io::Result<()>;

    /// Closes the file; buffered data must have been flushed.
    fn close(self) -> io::Result<()>;
}

/// The memory of an operation in an array.
#[derive(Clone, Copy)]
pub(crate) enum Transfer<'b> {
    /// What is read goes there.
    Read(&'b [Cell<u8>]),
    /// What is written.
    Write(&'b [Cell<u8>]),
}

/// A file of a tree. Its identity is a hash that most operations do not need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeFile {
    /// The tree's number.
    pub(crate) tree: u64,
    /// The file's number in it.
    pub(crate) number: u64,
    /// How often its contents were replaced before.
    pub(crate) generation: u32,
}

impl TreeFile {
    /// The identity of its contents.
    #[inline]
    pub(crate) fn identity(self) -> FileIdentity {
        FileIdentity {
            file: mix(self.tree, self.number),
            generation: self.generation,
        }
    }
}

/// An operation on a name.
pub(crate) struct Task<'a> {
    pub(crate) operation: MetadataOperation,
    /// The path, relative to the base; absolute for operations without a relative variant.
    pub(crate) name: &'a CStr,
    /// The other path, of rename, link and symlink.
    pub(crate) other: &'a CStr,
    /// Length of the file in bytes.
    pub(crate) bytes: u64,
    pub(crate) file: TreeFile,
}

/// Puts the calls of a task into an array; false if there is no room.
pub(crate) type PutTask<'p> = &'p mut dyn FnMut(&Task<'_>) -> bool;

/// A directory with the names to operate on.
pub(crate) trait NamesTarget {
    /// A created file that is still open.
    type Created;

    /// mkdir(2) of `name`.
    fn make_directory(&mut self, name: &CStr) -> io::Result<()>;

    /// rmdir(2) of `name`, which may be absolute.
    fn remove_directory(&mut self, name: &CStr) -> io::Result<()>;

    /// unlink(2) of `name`.
    fn unlink(&mut self, name: &CStr) -> io::Result<()>;

    /// Makes a directory, unless it exists.
    fn ensure_directory(&mut self, name: &CStr) -> io::Result<()>;

    /// Creates the task's file and writes its data.
    fn create(&mut self, task: &Task<'_>) -> io::Result<Self::Created>;

    /// Unlinks the task's file while it is open, and creates it again.
    fn replace(&mut self, task: &Task<'_>) -> io::Result<Self::Created>;

    /// fsync(2) of a created file.
    fn fsync_created(&mut self, file: &mut Self::Created) -> io::Result<()>;

    /// close(2) of a created file.
    fn close_created(&mut self, file: Self::Created) -> io::Result<()>;

    /// Performs the task, except creation; returns the number of bytes or entries.
    fn perform(&mut self, task: &Task<'_>) -> io::Result<u64>;

    /// True if [`NamesTarget::perform_together`] can perform `operation`.
    fn gathers(&self, _operation: MetadataOperation) -> bool {
        false
    }

    /// Puts the calls of tasks into `calls` and makes them, up to `until_ns`. `tasks` gives tasks
    /// to its argument until that returns false: there is no room for this one. `calls` then has
    /// the operations that were done.
    fn perform_together(
        &mut self,
        _calls: &mut CallArray,
        _until_ns: u64,
        _tasks: &mut dyn FnMut(PutTask<'_>),
    ) -> io::Result<()> {
        unreachable!("this engine gathers no calls")
    }

    /// Ends the task of such an array that a call has stopped; returns the bytes that it moved.
    fn complete(&mut self, _task: &Task<'_>, _stopped: StoppedOperation) -> io::Result<u64> {
        unreachable!("this engine gathers no calls")
    }

    /// Compares the data of the last [`MetadataOperation::Read`] with the expected contents of the
    /// task's file.
    fn verify(&self, task: &Task<'_>) -> Result<(), String>;

    /// Lists the directory `name` and appends the numbers of files with names of the kind `names`
    /// to `into`; `files` are the expected numbers.
    fn list(
        &mut self,
        name: &CStr,
        names: Names,
        files: Range<u64>,
        into: &mut Vec<u64>,
    ) -> io::Result<()>;

    /// Lists the directory `name`, which must be on the base's file system, and appends its entries
    /// to `into`: per entry a byte that is 1 for a directory, the name, and a zero byte.
    fn entries(&mut self, name: &CStr, into: &mut Vec<u8>) -> io::Result<()>;

    /// fsync(2) of the directory `name`.
    fn fsync_directory(&mut self, name: &CStr) -> io::Result<()>;

    /// syncfs(2).
    fn sync_file_system(&mut self) -> io::Result<()>;
}
