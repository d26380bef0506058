//! What a directory does by other calls than on Linux.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;

use rustix::fs::{Dir, Mode, OFlags, fstat, openat};
use rustix::io::Errno;

use super::names::{NameDirectory, visit_entry};
use crate::NameEntry;

impl NameDirectory {
    /// Opens the directory `name` in this one, if it is on the same file system and no symbolic
    /// link.
    ///
    /// # Errors
    /// That of openat(2); EXDEV for another file system.
    pub fn open_directory_within(&self, name: &CStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = openat(&self.0, name, flags, Mode::empty())?;
        if fstat(&directory)?.st_dev != fstat(&self.0)?.st_dev {
            return Err(Errno::XDEV.into());
        }
        Ok(Self(directory.into()))
    }

    /// Lists the directory with readdir(3), whose buffer is the C library's; without `.` and `..`.
    /// Stops at an error of `visit`.
    pub fn list(
        &self,
        _buffer: &mut [MaybeUninit<u8>],
        visit: &mut dyn FnMut(NameEntry<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            visit_entry(entry.file_name(), entry.file_type(), visit)?;
        }
        Ok(())
    }

    /// Syncs every file below: there is no syncfs(2).
    pub fn sync_file_system(&self) -> io::Result<()> {
        self.list(&mut [], &mut |entry| {
            let name = entry.name;
            let is_directory = match entry.is_directory {
                Some(is_directory) => is_directory,
                None => self.is_directory(name)?,
            };
            if is_directory {
                return self.open_directory_within(name)?.sync_file_system();
            }
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            match openat(&self.0, name, flags, Mode::empty()) {
                Ok(file) => File::from(file).sync_all(),
                // A symbolic link: ELOOP, on FreeBSD EMLINK. What may not be read was not written.
                Err(Errno::LOOP | Errno::MLINK | Errno::ACCESS) => Ok(()),
                Err(error) => Err(error.into()),
            }
        })?;
        self.fsync()
    }
}
