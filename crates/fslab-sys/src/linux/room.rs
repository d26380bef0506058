//! The space of a file system.

use std::io;
use std::path::Path;

use crate::FileSystemRoom;

impl FileSystemRoom {
    /// Space of the file system of `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let stat = rustix::fs::statvfs(path)?;
        let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
        Ok(Self {
            block_bytes: stat.f_frsize,
            total_bytes: bytes(stat.f_blocks),
            free_bytes: bytes(stat.f_bfree),
            available_bytes: bytes(stat.f_bavail),
            free_files: (stat.f_files > 0).then_some(stat.f_ffree),
            name_bytes_max: stat.f_namemax,
        })
    }
}

/// Bytes that an unprivileged process may still write to the file system of `path`.
pub fn available_bytes(path: &Path) -> io::Result<u64> {
    FileSystemRoom::of(path).map(|room| room.available_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_has_no_more_free_than_it_has() {
        let room = FileSystemRoom::of(Path::new("/")).expect("/ is there");
        assert!(room.block_bytes > 0 && room.total_bytes > 0);
        assert!(room.free_bytes <= room.total_bytes);
        assert!(room.available_bytes <= room.free_bytes);
    }
}
