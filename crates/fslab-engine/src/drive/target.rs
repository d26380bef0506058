//! What an engine must be able to do, so that a loop can drive it.

use std::ffi::CStr;
use std::io;
use std::ops::Range;

use crate::access::Extent;
use crate::content::FileIdentity;
use crate::jobs::{MetadataOperation, Names, SyncCall};

/// An open file whose records are read and written one after the other.
pub(crate) trait DataTarget {
    /// Whether bytes are really kept, so that data is made and verified.
    const HOLDS_DATA: bool;

    /// Whether the engine itself keeps data back, which is written after the last operation.
    const BUFFERS: bool = false;

    /// Fills `into`, as long as `extent`, from there; fewer bytes are an error.
    fn read(&mut self, extent: Extent, into: &mut [u8]) -> io::Result<()>;

    /// Writes all of `data`, as long as `extent`, there.
    fn write(&mut self, extent: Extent, data: &[u8]) -> io::Result<()>;

    /// Writes what the engine itself has kept back.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Makes durable what was written.
    fn sync(&mut self, call: SyncCall) -> io::Result<()>;

    /// Closes the file; what was buffered by the engine itself must have been written before.
    fn close(self) -> io::Result<()>;
}

/// One operation on one name.
pub(crate) struct Task<'a> {
    /// What is done.
    pub(crate) operation: MetadataOperation,
    /// The name, relative to the base; absolute for those operations that have no other form.
    pub(crate) name: &'a CStr,
    /// The other name, of rename, link and symlink.
    pub(crate) other: &'a CStr,
    /// How long the file is.
    pub(crate) bytes: u64,
    /// Whose content it has.
    pub(crate) identity: FileIdentity,
}

/// A folder whose names are operated on.
pub(crate) trait NamesTarget {
    /// A file that was created and is still open.
    type Created;

    /// mkdir(2) of `name`.
    fn make_directory(&mut self, name: &CStr) -> io::Result<()>;

    /// rmdir(2) of `name`, which may be absolute.
    fn remove_directory(&mut self, name: &CStr) -> io::Result<()>;

    /// unlink(2) of `name`.
    fn unlink(&mut self, name: &CStr) -> io::Result<()>;

    /// Makes a directory; one that exists is left alone.
    fn ensure_directory(&mut self, name: &CStr) -> io::Result<()>;

    /// Creates the task's file and writes its data.
    fn create(&mut self, task: &Task<'_>) -> io::Result<Self::Created>;

    /// Unlinks the task's file while it is open, and creates it anew.
    fn replace(&mut self, task: &Task<'_>) -> io::Result<Self::Created>;

    /// fsync(2) of a file that was created.
    fn fsync_created(&mut self, file: &mut Self::Created) -> io::Result<()>;

    /// close(2) of it.
    fn close_created(&mut self, file: Self::Created) -> io::Result<()>;

    /// Does the task, which is not to create a file, and gives the bytes or entries that it met.
    fn perform(&mut self, task: &Task<'_>) -> io::Result<u64>;

    /// Compares what [`MetadataOperation::Read`] read last with what the task's file must hold.
    fn verify(&self, task: &Task<'_>) -> Result<(), String>;

    /// Lists the directory `name`, and puts the numbers of those files `into` a list that have
    /// names of the kind `names`; `files` are those that should be there.
    fn list(
        &mut self,
        name: &CStr,
        names: Names,
        files: Range<u64>,
        into: &mut Vec<u64>,
    ) -> io::Result<()>;

    /// Lists the directory `name`, on no other file system than the base, and appends what is in it
    /// to `into`: for each entry a byte that says whether it is a directory, its name, and a zero.
    fn entries(&mut self, name: &CStr, into: &mut Vec<u8>) -> io::Result<()>;

    /// fsync(2) of the directory `name`.
    fn fsync_directory(&mut self, name: &CStr) -> io::Result<()>;

    /// syncfs(2).
    fn sync_file_system(&mut self) -> io::Result<()>;
}
