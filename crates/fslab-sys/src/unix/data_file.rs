//! A data file. Reads and writes are single system calls: a short transfer is returned as such.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use crate::{DataFileOptions, FileAdvice, OpenedSync};

/// An open file.
#[derive(Debug)]
pub struct DataFile(File);

impl DataFile {
    /// Opens `path`, `direct` with O_DIRECT on FreeBSD and F_NOCACHE on macOS; a new file has mode
    /// 0600.
    pub fn open(path: &Path, options: DataFileOptions) -> io::Result<Self> {
        let mut flags = match options.sync {
            OpenedSync::None => 0,
            OpenedSync::Data => libc::O_DSYNC,
            OpenedSync::Full => libc::O_SYNC,
        };
        if cfg!(target_os = "freebsd") && options.direct {
            flags |= O_DIRECT;
        }
        let file = File::options()
            .read(options.read)
            .write(options.write)
            .create(options.create)
            .truncate(options.truncate)
            .custom_flags(flags)
            .mode(0o600)
            .open(path)?;
        if options.direct {
            without_cache(&file)?;
        }
        Ok(Self(file))
    }

    /// pread(2).
    #[inline]
    pub fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(into, offset)
    }

    /// pwrite(2).
    #[inline]
    pub fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(data, offset)
    }

    /// read(2), at the file position.
    #[inline]
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(into)
    }

    /// write(2), at the file position.
    #[inline]
    pub fn write(&self, data: &[u8]) -> io::Result<usize> {
        (&self.0).write(data)
    }

    /// lseek(2).
    #[inline]
    pub fn seek(&self, offset: u64) -> io::Result<()> {
        (&self.0).seek(SeekFrom::Start(offset)).map(drop)
    }

    /// fsync(2) on FreeBSD, F_FULLFSYNC on macOS: both reach the medium.
    pub fn fsync(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    /// fdatasync(2) on FreeBSD, F_FULLFSYNC on macOS.
    pub fn fdatasync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    /// Refused.
    pub fn sync_range(&self, _offset: u64, _length: u64) -> io::Result<()> {
        Err(crate::lacking::lacks("sync_file_range"))
    }

    /// Refused, except `Normal`.
    pub fn advise(&self, advice: FileAdvice) -> io::Result<()> {
        match advice {
            FileAdvice::Normal => Ok(()),
            _ => Err(crate::lacking::lacks("posix_fadvise")),
        }
    }

    /// Refused: only Linux has fallocate(2), and posix_fallocate(3) of others may write zeros.
    pub fn allocate(&self, _length: u64) -> io::Result<()> {
        Err(crate::lacking::lacks("fallocate"))
    }

    /// ftruncate(2).
    pub fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    /// The file's length in bytes.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    /// close(2) with its result.
    pub fn close(self) -> io::Result<()> {
        use std::os::fd::IntoRawFd;
        // SAFETY: the descriptor was owned by `self`, which has given it up.
        super::status::check(unsafe { libc::close(self.0.into_raw_fd()) })
    }
}

#[cfg(target_os = "freebsd")]
const O_DIRECT: i32 = libc::O_DIRECT;
#[cfg(not(target_os = "freebsd"))]
const O_DIRECT: i32 = 0;

#[cfg(target_os = "macos")]
impl DataFile {
    /// F_BARRIERFSYNC, or fsync(2) as it is.
    pub(crate) fn weakly_synced(&self, strength: crate::Ability) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let descriptor = self.0.as_raw_fd();
        // SAFETY: the calls take an open descriptor.
        let status = unsafe {
            match strength {
                crate::Ability::Barrier => libc::fcntl(descriptor, libc::F_BARRIERFSYNC),
                _ => libc::fsync(descriptor),
            }
        };
        super::status::check(status)
    }
}

#[cfg(target_os = "macos")]
fn without_cache(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: the call takes an open descriptor and a number.
    super::status::check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_NOCACHE, 1) })
}

#[cfg(not(target_os = "macos"))]
fn without_cache(_file: &File) -> io::Result<()> {
    Ok(())
}

impl AsFd for DataFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<DataFile> for OwnedFd {
    fn from(file: DataFile) -> Self {
        file.0.into()
    }
}

impl From<OwnedFd> for DataFile {
    fn from(descriptor: OwnedFd) -> Self {
        Self(descriptor.into())
    }
}

impl From<File> for DataFile {
    fn from(file: File) -> Self {
        Self(file)
    }
}
