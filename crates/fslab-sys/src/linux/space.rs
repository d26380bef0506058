//! Space on a file system, and files with all blocks allocated and written.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;

use crate::PageBuffer;

/// Bytes per write; a multiple of every block size.
const FILL_BYTES: usize = 4 << 20;
/// Any number except 0.
const FILL_SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// Creates `path` with `bytes` of space, every block allocated and written.
///
/// On most file systems extents from fallocate(2) are "unwritten": the first write to each costs a
/// metadata update of the host, which a trial would measure. The contents are random, as on a used
/// disk.
///
/// `go_on` is called before every 4 MiB; if it returns false, the call fails with `Interrupted`.
///
/// # Errors
/// `AlreadyExists`, `StorageFull`, `Unsupported` if the file system lacks fallocate(2) or direct
/// I/O, and others of open(2) and write(2). The file is removed after an error.
pub fn create_written(path: &Path, bytes: u64, go_on: &dyn Fn() -> bool) -> io::Result<()> {
    let file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(OFlags::DIRECT.bits().cast_signed())
        .open(path)?;
    let written = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes)
        .map_err(io::Error::from)
        .and_then(|()| fill(&file, bytes, go_on));
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written
}

fn fill(file: &File, bytes: u64, go_on: &dyn Fn() -> bool) -> io::Result<()> {
    let mut noise = PageBuffer::zeroed(FILL_BYTES);
    let mut state = FILL_SEED;
    for word in noise.as_chunks_mut::<8>().0 {
        // Marsaglia's xorshift64, sufficient for data that is not read.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *word = state.to_le_bytes();
    }
    let mut offset = 0;
    while offset < bytes {
        if !go_on() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = noise
            .len()
            .min(usize::try_from(bytes - offset).unwrap_or(usize::MAX));
        file.write_all_at(&noise[..length], offset)?;
        offset += length as u64;
    }
    file.sync_all()
}

/// Zeroes `length` bytes at `offset` of a file or block device, by punching a hole if possible.
pub fn zero_range(file: &File, offset: u64, length: u64) -> io::Result<()> {
    if length == 0 {
        return Ok(());
    }
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    match rustix::fs::fallocate(file, hole, offset, length) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NODEV) => {}
        done => return Ok(done?),
    }
    let zeros = vec![0; FILL_BYTES];
    let mut done = 0;
    while done < length {
        let part = zeros
            .len()
            .min(usize::try_from(length - done).unwrap_or(usize::MAX));
        file.write_all_at(&zeros[..part], offset + done)?;
        done += part as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_larger_than_the_disk_is_refused_and_removed() {
        let path = std::env::temp_dir().join(format!("fslab-space-{}", std::process::id()));
        let error = create_written(&path, 1 << 60, &|| true).expect_err("an exbibyte");
        assert!(
            matches!(
                error.raw_os_error(),
                Some(libc::ENOSPC | libc::EFBIG | libc::EINVAL)
            ),
            "{error}"
        );
        assert!(!path.exists());
    }

    #[test]
    fn a_cancelled_file_is_removed() {
        let path = std::env::temp_dir().join(format!("fslab-unwanted-{}", std::process::id()));
        assert!(create_written(&path, 64 << 20, &|| false).is_err());
        assert!(!path.exists());
    }

    #[test]
    fn a_written_file_has_its_size_and_no_hole() {
        let path = std::env::temp_dir().join(format!("fslab-written-{}", std::process::id()));
        match create_written(&path, 5 << 20, &|| true) {
            // tmpfs and other file systems without direct I/O.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
            result => result.expect("five mebibytes"),
        }
        let metadata = std::fs::metadata(&path).expect("it is there");
        std::fs::remove_file(&path).expect("it goes");
        assert_eq!(metadata.len(), 5 << 20);
        // Other users may enter its directory.
        assert_eq!(
            std::os::unix::fs::MetadataExt::mode(&metadata) & 0o777,
            0o600
        );
        assert!(std::os::unix::fs::MetadataExt::blocks(&metadata) * 512 >= 5 << 20);
    }
}
