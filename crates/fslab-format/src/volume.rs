//! The target of a formatter: an image file or a block device of known size.

use fslab_sys::os::FileExt;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use fslab_model::{Bytes, Failure, FailureKind};

/// Sizes of volumes are multiples of this.
const SECTOR_BYTES: u64 = 512;

/// An image file or a block device, open for writing.
#[derive(Debug)]
pub struct Volume {
    file: File,
    path: PathBuf,
    size: Bytes,
}

impl Volume {
    /// Opens an existing image or device with its size.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let opened = File::options().read(true).write(true).open(path);
        let (file, end) = opened
            .and_then(|mut file| file.seek(SeekFrom::End(0)).map(|end| (file, end)))
            .map_err(failed("open", path))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            size: Bytes(end / SECTOR_BYTES * SECTOR_BYTES),
        })
    }

    /// Creates a sparse image of `size`.
    ///
    /// # Errors
    /// Also if the file exists.
    pub fn create(path: &Path, size: Bytes) -> Result<Self, Failure> {
        let file = File::create_new(path).map_err(failed("create", path))?;
        if let Err(error) = file.set_len(size.0) {
            // Otherwise the next attempt would find it.
            let _ = std::fs::remove_file(path);
            return Err(failed("create", path)(error));
        }
        Self::open(path)
    }

    /// Its size, a multiple of 512 bytes.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Writes `data` at `offset` bytes.
    ///
    /// # Panics
    /// If `data` exceeds the end: a bug of the formatter.
    pub fn write_at(&self, offset: u64, data: &[u8]) -> Result<(), Failure> {
        let end = offset.checked_add(data.len() as u64);
        assert!(
            end.is_some_and(|end| end <= self.size.0),
            "{} bytes at {offset} of {}",
            data.len(),
            self.size.0
        );
        self.file
            .write_all_at(data, offset)
            .map_err(failed("write", &self.path))
    }

    /// Makes `length` bytes at `offset` read as zeros; an image stays sparse there.
    ///
    /// # Panics
    /// If the range exceeds the end: a bug of the formatter.
    pub fn zero(&self, offset: u64, length: u64) -> Result<(), Failure> {
        let end = offset.checked_add(length);
        assert!(
            end.is_some_and(|end| end <= self.size.0),
            "{length} bytes at {offset} of {}",
            self.size.0
        );
        fslab_sys::zero_range(&self.file, offset, length).map_err(failed("write", &self.path))
    }

    /// Waits until all data is on the disk.
    pub fn sync(&self) -> Result<(), Failure> {
        self.file.sync_all().map_err(failed("sync", &self.path))
    }
}

fn failed(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
    let path = path.to_owned();
    move |error| {
        let mut failure = Failure::of_file(FailureKind::Device, operation, &path, &error);
        if let io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists = error.kind() {
            failure.kind = FailureKind::BadInput;
        }
        failure
    }
}
