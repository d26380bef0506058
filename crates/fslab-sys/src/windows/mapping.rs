//! A memory mapping of a file, accessed by copies at given offsets.
//!
//! Accessing a page that the file system cannot read or store raises an exception, which ends the
//! process.

use std::io;
use std::ptr::NonNull;

use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, FlushViewOfFile, MEMORY_MAPPED_VIEW_ADDRESS,
    MapViewOfFile, PAGE_READONLY, PAGE_READWRITE, UnmapViewOfFile,
};

use super::text::check;
use crate::{DataFile, FileAdvice};

/// A mapping of a file's start.
pub struct Mapping {
    pub(crate) start: NonNull<u8>,
    pub(crate) length: usize,
    pub(crate) writable: bool,
    /// For FlushFileBuffers; FlushViewOfFile does not wait for the device.
    file: std::fs::File,
}

// SAFETY: the mapping has one owner, and the memory is not bound to a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// MapViewOfFile of the first `length` bytes of `file`, which must be that long; also for
    /// writing if `writable`.
    pub fn new(file: &DataFile, length: usize, writable: bool) -> io::Result<Self> {
        let (page, access) = match writable {
            true => (PAGE_READWRITE, FILE_MAP_READ | FILE_MAP_WRITE),
            false => (PAGE_READONLY, FILE_MAP_READ),
        };
        // SAFETY: the handle is open; no name and no attributes are passed.
        let section = unsafe {
            CreateFileMappingW(
                file.handle(),
                std::ptr::null(),
                page,
                0,
                0,
                std::ptr::null(),
            )
        };
        if section.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new mapping at an address that the system chooses.
        let view = unsafe { MapViewOfFile(section, access, 0, 0, length) };
        let failed = io::Error::last_os_error();
        // SAFETY: the view keeps the section; the handle is not used again.
        unsafe { CloseHandle(section) };
        let start = NonNull::new(view.Value.cast()).ok_or(failed)?;
        Ok(Self {
            start,
            length,
            writable,
            file: file.as_file().try_clone()?,
        })
    }

    /// FlushViewOfFile, then FlushFileBuffers: together they wait as msync(2) does.
    pub fn sync(&self) -> io::Result<()> {
        // SAFETY: the range is that of the mapping.
        check(unsafe { FlushViewOfFile(self.start.as_ptr().cast(), self.length) })?;
        self.file.sync_all()
    }

    /// Refused, except `Normal`.
    pub fn advise(&self, advice: FileAdvice) -> io::Result<()> {
        match advice {
            FileAdvice::Normal => Ok(()),
            _ => Err(crate::lacking::lacks("madvise")),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let view = MEMORY_MAPPED_VIEW_ADDRESS {
            Value: self.start.as_ptr().cast(),
        };
        // SAFETY: unmaps the mapping of `new`; no reference into it was given out.
        unsafe { UnmapViewOfFile(view) };
    }
}
