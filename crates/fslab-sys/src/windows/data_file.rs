//! A data file. Reads and writes are single calls: a short transfer is returned as such.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ALLOCATION_INFO, FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED, FILE_FLAG_WRITE_THROUGH,
    FileAllocationInfo, SetFileInformationByHandle,
};

use super::text::check;
use crate::os::FileExt;
use crate::{DataFileOptions, FileAdvice, OpenedSync};

/// An open file.
#[derive(Debug)]
pub struct DataFile {
    file: File,
    /// How it was opened by its path.
    opened: Option<Box<(PathBuf, DataFileOptions)>>,
}

impl DataFile {
    /// Opens `path`, `direct` with FILE_FLAG_NO_BUFFERING, O_DSYNC as FILE_FLAG_WRITE_THROUGH.
    ///
    /// # Errors
    /// That of CreateFile; `Unsupported` for O_SYNC.
    pub fn open(path: &Path, options: DataFileOptions) -> io::Result<Self> {
        Self::open_with(path, options, 0)
    }

    /// The same file, opened again for overlapped operations.
    pub(crate) fn reopen_overlapped(&self) -> io::Result<File> {
        let (path, options) = self.opened.as_deref().ok_or(io::ErrorKind::Unsupported)?;
        let again = DataFileOptions {
            create: false,
            truncate: false,
            ..*options
        };
        Ok(Self::open_with(path, again, FILE_FLAG_OVERLAPPED)?.into())
    }

    /// The same with further flags.
    fn open_with(path: &Path, options: DataFileOptions, more: u32) -> io::Result<Self> {
        let mut flags = more;
        if options.direct {
            flags |= FILE_FLAG_NO_BUFFERING;
        }
        match options.sync {
            OpenedSync::None => {}
            OpenedSync::Data => flags |= FILE_FLAG_WRITE_THROUGH,
            OpenedSync::Full => {
                let text = "Windows has only one kind of synchronous writes, write-through, which \
                            is O_DSYNC; O_SYNC needs Linux, macOS or FreeBSD";
                return Err(io::Error::new(io::ErrorKind::Unsupported, text));
            }
        }
        let file = File::options()
            .read(options.read)
            .write(options.write)
            .create(options.create)
            .truncate(options.truncate)
            .custom_flags(flags)
            .open(path)?;
        Ok(Self {
            file,
            opened: Some(Box::new((path.to_owned(), options))),
        })
    }

    pub(crate) fn handle(&self) -> HANDLE {
        self.file.as_raw_handle()
    }

    /// The file by its other type.
    pub fn as_file(&self) -> &File {
        &self.file
    }

    /// ReadFile at an offset.
    #[inline]
    pub fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(&self.file, into, offset)
    }

    /// WriteFile at an offset.
    #[inline]
    pub fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(&self.file, data, offset)
    }

    /// ReadFile at the file position.
    #[inline]
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(into)
    }

    /// WriteFile at the file position.
    #[inline]
    pub fn write(&self, data: &[u8]) -> io::Result<usize> {
        (&self.file).write(data)
    }

    /// SetFilePointerEx.
    #[inline]
    pub fn seek(&self, offset: u64) -> io::Result<()> {
        (&self.file).seek(SeekFrom::Start(offset)).map(drop)
    }

    /// FlushFileBuffers.
    pub fn fsync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// FlushFileBuffers: Windows has no weaker sync for all users.
    pub fn fdatasync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Refused.
    pub fn sync_range(&self, _offset: u64, _length: u64) -> io::Result<()> {
        Err(crate::lacking::lacks("sync_file_range"))
    }

    /// Refused, except `Normal`: Windows takes advice only when a file is opened.
    pub fn advise(&self, advice: FileAdvice) -> io::Result<()> {
        match advice {
            FileAdvice::Normal => Ok(()),
            _ => Err(crate::lacking::lacks("posix_fadvise")),
        }
    }

    /// Allocates the first `length` bytes, and extends the file to them.
    pub fn allocate(&self, length: u64) -> io::Result<()> {
        let size = i64::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        let info = FILE_ALLOCATION_INFO {
            AllocationSize: size,
        };
        // SAFETY: the structure outlives the call, and its size is passed.
        check(unsafe {
            SetFileInformationByHandle(
                self.handle(),
                FileAllocationInfo,
                (&raw const info).cast(),
                size_of_val(&info) as u32,
            )
        })?;
        if self.length()? < length {
            self.file.set_len(length)?;
        }
        Ok(())
    }

    /// SetEndOfFile.
    pub fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// The file's length in bytes.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Closes it. Windows reports no error of closing.
    pub fn close(self) -> io::Result<()> {
        Ok(())
    }
}

impl From<DataFile> for File {
    fn from(file: DataFile) -> Self {
        file.file
    }
}

impl From<File> for DataFile {
    fn from(file: File) -> Self {
        Self { file, opened: None }
    }
}
