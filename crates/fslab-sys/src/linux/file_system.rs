//! Properties of a file system, extended attributes by name, and shared blocks.

use std::ffi::CStr;
use std::io;
use std::path::Path;

use rustix::fs::XattrFlags;

use crate::DataFile;

/// True if the file system of `path` is in memory alone: tmpfs, ramfs.
pub fn is_in_memory(path: &Path) -> io::Result<bool> {
    const TMPFS: i64 = 0x0102_1994;
    const RAMFS: i64 = 0x8584_58f6;
    // The type of the field depends on the architecture.
    let kind = i128::from(rustix::fs::statfs(path)?.f_type);
    Ok([TMPFS, RAMFS].map(i128::from).contains(&kind))
}

/// setxattr(2); `name` includes the namespace, such as `user.colour`.
///
/// # Errors
/// That of setxattr(2): EOPNOTSUPP if the file system has no such attributes.
pub fn set_named_attribute(path: &Path, name: &CStr, value: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::setxattr(
        path,
        name,
        value,
        XattrFlags::empty(),
    )?)
}

/// getxattr(2) of at most 4096 bytes; `None` if the file has no such attribute.
pub fn named_attribute(path: &Path, name: &CStr) -> io::Result<Option<Vec<u8>>> {
    let mut value = vec![0; 4096];
    match rustix::fs::getxattr(path, name, &mut value[..]) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(rustix::io::Errno::NODATA) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// removexattr(2).
pub fn remove_named_attribute(path: &Path, name: &CStr) -> io::Result<()> {
    Ok(rustix::fs::removexattr(path, name)?)
}

/// ioctl FICLONE: `to` becomes a copy of `from` that shares its blocks.
///
/// # Errors
/// That of ioctl_ficlone(2): EOPNOTSUPP, EINVAL or ENOTTY if files cannot share blocks.
pub fn share_blocks(from: &DataFile, to: &DataFile) -> io::Result<()> {
    Ok(rustix::fs::ioctl_ficlone(to, from)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_is_no_memory_file_system() {
        assert!(!is_in_memory(Path::new("/proc")).expect("is mounted"));
    }

    #[test]
    fn an_attribute_is_kept_replaced_and_removed_where_there_are_any() {
        let path = std::env::temp_dir().join(format!("fslab-attribute-{}", std::process::id()));
        std::fs::write(&path, b"x").expect("writes");
        let name = c"user.fslab.test";
        match set_named_attribute(&path, name, b"one") {
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::Unsupported),
            Ok(()) => {
                set_named_attribute(&path, name, b"two").expect("replaces");
                let value = named_attribute(&path, name).expect("reads");
                assert_eq!(value.as_deref(), Some(&b"two"[..]));
                remove_named_attribute(&path, name).expect("removes");
                assert_eq!(named_attribute(&path, name).expect("reads"), None);
            }
        }
        std::fs::remove_file(&path).expect("is there");
    }
}
