//! A data file: reads and writes at given offsets or at the file position, and the calls around
//! them.
//!
//! Reads and writes are single system calls: a short transfer is returned as such.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{Advice, FallocateFlags};

use super::status::check;

use crate::{DataFileOptions, FileAdvice, OpenedSync};

/// An open file.
#[derive(Debug)]
pub struct DataFile(OwnedFd);

impl DataFile {
    /// Opens `path`; a new file has mode 0600.
    ///
    /// # Errors
    /// That of open(2): EINVAL if O_DIRECT is not supported.
    pub fn open(path: &Path, options: DataFileOptions) -> io::Result<Self> {
        let mut flags = if options.direct { libc::O_DIRECT } else { 0 };
        flags |= match options.sync {
            OpenedSync::None => 0,
            OpenedSync::Data => libc::O_DSYNC,
            OpenedSync::Full => libc::O_SYNC,
        };
        let file = File::options()
            .read(options.read)
            .write(options.write)
            .create(options.create)
            .truncate(options.truncate)
            .custom_flags(flags)
            .mode(0o600)
            .open(path)?;
        Ok(Self(file.into()))
    }

    /// pread(2).
    #[inline]
    pub fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pread(&self.0, into, offset)?)
    }

    /// pwrite(2).
    #[inline]
    pub fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pwrite(&self.0, data, offset)?)
    }

    /// read(2), at the file position.
    #[inline]
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.0, into)?)
    }

    /// write(2), at the file position.
    #[inline]
    pub fn write(&self, data: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(&self.0, data)?)
    }

    /// lseek(2) with SEEK_SET.
    #[inline]
    pub fn seek(&self, offset: u64) -> io::Result<()> {
        rustix::fs::seek(&self.0, rustix::fs::SeekFrom::Start(offset))?;
        Ok(())
    }

    /// fsync(2).
    ///
    /// # Errors
    /// That of fsync(2), which reports failed write-back.
    pub fn fsync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    /// fdatasync(2).
    ///
    /// # Errors
    /// That of fdatasync(2), which reports failed write-back.
    pub fn fdatasync(&self) -> io::Result<()> {
        Ok(rustix::fs::fdatasync(&self.0)?)
    }

    /// sync_file_range(2) over `length` bytes: wait, write, wait.
    pub fn sync_range(&self, offset: u64, length: u64) -> io::Result<()> {
        let (offset, length) = (signed(offset)?, signed(length)?);
        let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
            | libc::SYNC_FILE_RANGE_WRITE
            | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        // SAFETY: the call takes an open descriptor and three numbers.
        let status = unsafe { libc::sync_file_range(self.0.as_raw_fd(), offset, length, flags) };
        check(status)
    }

    /// posix_fadvise(2) for the complete file.
    pub fn advise(&self, advice: FileAdvice) -> io::Result<()> {
        let advice = match advice {
            FileAdvice::Normal => Advice::Normal,
            FileAdvice::Sequential => Advice::Sequential,
            FileAdvice::Random => Advice::Random,
            FileAdvice::WillNeed => Advice::WillNeed,
            FileAdvice::DontNeed => Advice::DontNeed,
            FileAdvice::NoReuse => Advice::NoReuse,
        };
        Ok(rustix::fs::fadvise(&self.0, 0, None, advice)?)
    }

    /// fallocate(2) of the first `length` bytes, which also extends the file.
    ///
    /// # Errors
    /// That of fallocate(2): EOPNOTSUPP if the file system does not support it.
    pub fn allocate(&self, length: u64) -> io::Result<()> {
        let flags = FallocateFlags::empty();
        Ok(rustix::fs::fallocate(&self.0, flags, 0, length)?)
    }

    /// ftruncate(2).
    pub fn set_length(&self, length: u64) -> io::Result<()> {
        Ok(rustix::fs::ftruncate(&self.0, length)?)
    }

    /// The file's length in bytes.
    pub fn length(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(&self.0)?.st_size.cast_unsigned())
    }

    /// close(2) with its result: some network file systems report a full disk only here.
    ///
    /// # Errors
    /// That of close(2). The descriptor is closed in any case.
    pub fn close(self) -> io::Result<()> {
        let descriptor = self.0.into_raw_fd();
        // SAFETY: the descriptor was owned by `self`, which has given it up.
        let status = unsafe { libc::close(descriptor) };
        check(status)
    }
}

impl AsFd for DataFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<DataFile> for OwnedFd {
    fn from(file: DataFile) -> Self {
        file.0
    }
}

impl From<File> for DataFile {
    fn from(file: File) -> Self {
        Self(file.into())
    }
}

impl From<OwnedFd> for DataFile {
    fn from(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }
}

fn signed(value: u64) -> io::Result<i64> {
    i64::try_from(value).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

#[cfg(test)]
impl DataFile {
    /// A new file without a name, for tests.
    pub(crate) fn scratch(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fslab-{name}-{}", std::process::id()));
        let options = DataFileOptions {
            read: true,
            write: true,
            create: true,
            truncate: true,
            ..DataFileOptions::default()
        };
        let file = Self::open(&path, options).expect("opens");
        std::fs::remove_file(&path).expect("is there");
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_written_at_an_offset_is_read_back() {
        let file = DataFile::scratch("data-file");
        assert_eq!(file.write_at(b"abc", 10).expect("writes"), 3);
        assert_eq!(file.length().expect("stats"), 13);
        let mut into = [9_u8; 8];
        assert_eq!(file.read_at(&mut into, 9).expect("reads"), 4);
        assert_eq!(&into[..4], b"\0abc");
        file.seek(11).expect("seeks");
        assert_eq!(file.read(&mut into[..1]).expect("reads"), 1);
        assert_eq!(file.write(b"C").expect("writes"), 1);
        assert_eq!(file.read_at(&mut into[1..4], 10).expect("reads"), 3);
        assert_eq!(&into[..4], b"babC");
        file.fsync().expect("syncs");
        file.fdatasync().expect("syncs");
        file.advise(FileAdvice::DontNeed).expect("advises");
        file.set_length(2).expect("truncates");
        assert_eq!(file.length().expect("stats"), 2);
        file.close().expect("closes");
    }
}
