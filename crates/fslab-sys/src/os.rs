//! The standard library's extensions for paths, files and processes, by the names that they have on
//! Unix, for every platform.
//!
//! On Windows they mean: bytes of a name are its UTF-8; the mode of a file is its read-only
//! attribute. The standard library does not give a file's number, owner, links and blocks there:
//! they are 0, and what asks for them is refused first, by [`crate::Ability::Inodes`].

#[cfg(unix)]
pub use std::os::fd::{AsFd, BorrowedFd};
#[cfg(unix)]
pub use std::os::unix::ffi::{OsStrExt, OsStringExt};
#[cfg(unix)]
pub use std::os::unix::fs::{
    DirBuilderExt, FileExt, FileTypeExt, MetadataExt, PermissionsExt, chown, symlink,
};
#[cfg(unix)]
pub use std::os::unix::net::{UnixListener, UnixStream};
#[cfg(unix)]
pub use std::os::unix::process::{CommandExt, ExitStatusExt};

#[cfg(windows)]
pub use crate::windows::extensions::{
    CommandExt, DirBuilderExt, ExitStatusExt, FileExt, FileTypeExt, MetadataExt, OsStrExt,
    OsStringExt, PermissionsExt, chown, symlink,
};
#[cfg(windows)]
pub use crate::windows::sockets::{AsFd, BorrowedFd, UnixListener, UnixStream};

/// Sets the mode of the file at `path`.
#[cfg(unix)]
pub fn set_mode(path: impl AsRef<std::path::Path>, mode: u32) -> std::io::Result<()> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

/// Makes the file at `path` read-only, or not, as the owner's right to write in `mode`.
#[cfg(windows)]
pub fn set_mode(path: impl AsRef<std::path::Path>, mode: u32) -> std::io::Result<()> {
    let mut permissions = std::fs::metadata(&path)?.permissions();
    permissions.set_mode(mode);
    std::fs::set_permissions(path, permissions)
}

/// Opens the directory at `path`, so that it stays where it is.
#[cfg(unix)]
pub fn open_folder(path: &std::path::Path) -> std::io::Result<std::fs::File> {
    std::fs::File::open(path)
}

/// Opens the directory at `path`, so that it stays where it is.
#[cfg(windows)]
pub fn open_folder(path: &std::path::Path) -> std::io::Result<std::fs::File> {
    crate::windows::open_folder(path)
}

/// Variables that name the directory of temporary files.
pub const TEMPORARY: &[&str] = if cfg!(windows) {
    &["TEMP", "TMP"]
} else {
    &["TMPDIR"]
};

/// The program `name` in `folder`; on Windows also without its `.exe`.
pub fn program_in(folder: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    let path = folder.join(name);
    if cfg!(windows) {
        let with_end = folder.join(format!("{name}.exe"));
        return [path, with_end].into_iter().find(|path| {
            let is_program = path.extension().is_some_and(|it| it == "exe");
            is_program && path.is_file()
        });
    }
    let metadata = path.metadata().ok()?;
    let may_execute = metadata.permissions().mode() & 0o111 != 0;
    (metadata.is_file() && may_execute).then_some(path)
}

/// True if reading failed since another process holds a lock on the file: locks of Windows keep
/// others from reading.
pub fn is_locked_elsewhere(error: &std::io::Error) -> bool {
    /// `ERROR_LOCK_VIOLATION`.
    const LOCK_VIOLATION: i32 = 33;
    cfg!(windows) && error.raw_os_error() == Some(LOCK_VIOLATION)
}
