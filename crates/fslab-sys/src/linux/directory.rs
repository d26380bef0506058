//! What a directory does by calls that only Linux has.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;

use rustix::fs::{Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;

use super::names::{NameDirectory, visit_entry};
use crate::NameEntry;

impl NameDirectory {
    /// Opens the directory `name` in this one, if it is on the same file system and reached without
    /// symbolic links.
    ///
    /// # Errors
    /// That of openat2(2): EXDEV for another file system, ELOOP for a symbolic link.
    pub fn open_directory_within(&self, name: &CStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let within = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
        let directory = rustix::fs::openat2(&self.0, name, flags, Mode::empty(), within)?;
        Ok(Self(directory.into()))
    }

    /// Lists this newly opened directory through `buffer`, with one getdents64(2) per filling;
    /// without `.` and `..`. Stops at an error of `visit`.
    ///
    /// # Errors
    /// That of getdents64(2) or of `visit`; EIO if `.` and `..` are listed more than twice, as JFS
    /// lists a damaged directory without an end.
    pub fn list(
        &self,
        buffer: &mut [MaybeUninit<u8>],
        visit: &mut dyn FnMut(NameEntry<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut entries = RawDir::new(&self.0, buffer);
        let mut unvisited = 0;
        while let Some(entry) = entries.next() {
            let entry = entry?;
            unvisited += u32::from(!visit_entry(entry.file_name(), entry.file_type(), visit)?);
            if unvisited > 2 {
                return Err(Errno::IO.into());
            }
        }
        Ok(())
    }

    /// syncfs(2) of the file system that holds the directory.
    ///
    /// # Errors
    /// That of syncfs(2), which reports failed write-back.
    pub fn sync_file_system(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.0)?)
    }
}
