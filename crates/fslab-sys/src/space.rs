//! Room on a file system, and files that own their room from the start.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::FallocateFlags;

/// Bytes that an unprivileged process may still write to the file system of `path`.
///
/// # Errors
/// That of statvfs(3).
pub fn available_bytes(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Creates `path` with `bytes` of room that the file system has set aside.
///
/// # Errors
/// `AlreadyExists`, `StorageFull`, `Unsupported` where the file system has no fallocate(2), and
/// others of open(2). Nothing is left behind.
pub fn create_allocated(path: &Path, bytes: u64) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)?;
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => Ok(file),
        Err(errno) => {
            let _ = std::fs::remove_file(path);
            Err(errno.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_larger_than_the_disk_is_refused_and_not_left() {
        let path = std::env::temp_dir().join(format!("fslab-space-{}", std::process::id()));
        let error = create_allocated(&path, 1 << 60).expect_err("an exbibyte");
        assert!(
            matches!(
                error.raw_os_error(),
                Some(libc::ENOSPC | libc::EFBIG | libc::EINVAL)
            ),
            "{error}"
        );
        assert!(!path.exists());
    }
}
