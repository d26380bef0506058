//! A memory mapping of a file, accessed by copies at given offsets.
//!
//! Accessing a page that the file system cannot read or store (full disk, failed device, truncated
//! file) raises SIGBUS, which ends the process. A caller that needs an error instead must reserve
//! the space first.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::NonNull;

use super::status::check;
use crate::{DataFile, FileAdvice};

/// A mapping of a file's start.
pub struct Mapping {
    pub(crate) start: NonNull<u8>,
    pub(crate) length: usize,
    pub(crate) writable: bool,
}

// SAFETY: the mapping has one owner, and the memory is not bound to a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// mmap(2) of the first `length` bytes of `file`, which must be that long; also for writing if
    /// `writable`.
    pub fn new(file: &DataFile, length: usize, writable: bool) -> io::Result<Self> {
        let write = if writable { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | write,
                libc::MAP_SHARED,
                file.as_fd().as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).expect("the kernel never maps the zero page here");
        Ok(Self {
            start,
            length,
            writable,
        })
    }

    /// msync(2) of the mapping, waiting for the write-back.
    ///
    /// # Errors
    /// That of msync(2), which reports failed write-back.
    pub fn sync(&self) -> io::Result<()> {
        // SAFETY: the range is that of the mapping.
        let status = unsafe { libc::msync(self.start.as_ptr().cast(), self.length, libc::MS_SYNC) };
        check(status)
    }

    /// madvise(2) of the mapping.
    ///
    /// # Errors
    /// `Unsupported` for advice without an equivalent in madvise(2); that of madvise(2).
    pub fn advise(&self, advice: FileAdvice) -> io::Result<()> {
        let advice = match advice {
            FileAdvice::Normal => libc::MADV_NORMAL,
            FileAdvice::Sequential => libc::MADV_SEQUENTIAL,
            FileAdvice::Random => libc::MADV_RANDOM,
            FileAdvice::WillNeed => libc::MADV_WILLNEED,
            FileAdvice::DontNeed | FileAdvice::NoReuse => {
                return Err(io::ErrorKind::Unsupported.into());
            }
        };
        // SAFETY: the range is that of the mapping, and none of these changes its contents.
        check(unsafe { libc::madvise(self.start.as_ptr().cast(), self.length, advice) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: unmaps the mapping of `new`; no reference into it was given out.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_written_to_a_mapping_is_in_the_file() {
        let file = DataFile::scratch("mapping");
        file.set_length(5_000).expect("grows");
        let mut mapping = Mapping::new(&file, 5_000, true).expect("maps");
        mapping.advise(FileAdvice::Random).expect("is only a hint");
        mapping.write_at(b"abc", 4_997);
        mapping.sync().expect("syncs");
        let mut found = [0; 3];
        assert_eq!(file.read_at(&mut found, 4_997).expect("reads"), 3);
        assert_eq!(&found, b"abc");
        let mut found = [0; 2];
        mapping.read_at(&mut found, 4_998);
        assert_eq!(&found, b"bc");
    }

    #[test]
    #[should_panic(expected = "outside of a mapping")]
    fn reading_outside_of_a_mapping_panics() {
        let file = std::fs::File::open("/proc/self/exe").expect("opens");
        let file = DataFile::from(std::os::fd::OwnedFd::from(file));
        let mapping = Mapping::new(&file, 4096, false).expect("maps");
        mapping.read_at(&mut [0; 2], 4095);
    }
}
