//! Checks whether a path still refers to an open file, and opens files at paths that other users
//! may have created.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Makes `options` refuse a symbolic link with ELOOP, and not block on a FIFO.
pub(crate) fn refuse_links(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
}

/// Opens the regular file `path` for reading; its last component must not be a symbolic link.
///
/// # Errors
/// Those of open(2); `InvalidInput` if it is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = refuse_links(File::options().read(true)).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let text = "it is not a regular file";
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// Opens a file whose path comes from untrusted input for reading: a regular file alone.
///
/// # Errors
/// Those of open(2); `InvalidInput` if it is no regular file.
pub(crate) fn open_untrusted(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK, opening a pipe without a writer blocks.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let metadata = file.metadata()?;
    ensure_regular(file, &metadata)
}

/// Opens a file that the user named for reading: a regular file, or a pipe of the shell,
/// `<(command)` or `/dev/stdin`. A named pipe is refused: it would be waited for without end.
///
/// # Errors
/// Those of open(2); `InvalidInput` for another kind of file.
pub fn open_named(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let metadata = file.metadata()?;
    if metadata.file_type().is_fifo() && is_of_shell(&file, path)? {
        rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::empty())?;
        return Ok(file);
    }
    ensure_regular(file, &metadata)
}

/// True for a pipe without a name.
#[cfg(target_os = "linux")]
fn is_of_shell(file: &File, _path: &Path) -> io::Result<bool> {
    /// `PIPEFS_MAGIC`.
    const PIPES: i128 = 0x5049_5045;
    Ok(i128::from(rustix::fs::fstatfs(file)?.f_type) == PIPES)
}

#[cfg(not(target_os = "linux"))]
fn is_of_shell(_file: &File, path: &Path) -> io::Result<bool> {
    Ok(path.starts_with("/dev/fd") || path == Path::new("/dev/stdin"))
}

fn ensure_regular(file: File, metadata: &fs::Metadata) -> io::Result<File> {
    if metadata.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::EISDIR));
    }
    if !metadata.is_file() {
        let why = "it is a device, a named pipe or a socket, not a file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    Ok(file)
}

/// Device and inode of the file or directory at `path`: two paths with the same lead to the same
/// one.
pub fn file_identity(path: &Path) -> io::Result<(u64, u64)> {
    let there = fs::metadata(path)?;
    Ok((there.dev(), there.ino()))
}

/// True if `path` still refers to `file`: another process may have removed or replaced it.
pub fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    /// A named pipe as a study, import, log, lab or bundle was waited for without end.
    #[test]
    fn of_pipes_those_of_the_shell_alone_are_opened_by_name() {
        use std::io::{Read, Write};
        use std::os::fd::AsRawFd;
        let folder = std::env::temp_dir().join(format!("fslab-pipes-{}", std::process::id()));
        fs::create_dir(&folder).expect("made");
        let named = folder.join("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&named)
                .status()
                .expect("mkfifo")
                .success()
        );
        for path in [&named, Path::new("/dev/null"), &folder] {
            assert!(open_named(path).is_err(), "{}", path.display());
        }
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let mut opened = open_named(Path::new(&path)).expect("opened");
        writer.write_all(b"content").expect("written");
        drop(writer);
        let mut text = String::new();
        opened.read_to_string(&mut text).expect("read");
        assert_eq!(text, "content");
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn links_folders_and_fifos_are_not_opened_as_regular_files() {
        let folder = std::env::temp_dir().join(format!("fslab-regular-{}", std::process::id()));
        fs::create_dir(&folder).expect("made");
        let path = |name: &str| folder.join(name);
        fs::write(path("file"), "text").expect("written");
        symlink("file", path("link")).expect("linked");
        let made = Command::new("mkfifo").arg(path("fifo")).status();
        assert!(made.expect("starts").success());
        let error = |name: &str| open_regular(&path(name)).err();
        let kind = |name: &str| error(name).map(|error| error.kind());
        assert_eq!(kind("file"), None);
        let of_link = error("link").and_then(|error| error.raw_os_error());
        assert_eq!(of_link, Some(libc::ELOOP));
        assert_eq!(kind("fifo"), Some(io::ErrorKind::InvalidInput));
        assert_eq!(kind("."), Some(io::ErrorKind::InvalidInput));
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_file_that_was_removed_or_replaced_has_lost_its_name() {
        let path = std::env::temp_dir().join(format!("fslab-named-{}", std::process::id()));
        let file = File::create(&path).expect("a file");
        assert!(is_named(&file, &path).expect("an answer"));
        fs::remove_file(&path).expect("removed");
        assert!(!is_named(&file, &path).expect("an answer"));
        let other = File::create(&path).expect("another file");
        assert!(!is_named(&file, &path).expect("an answer"));
        drop(other);
        fs::remove_file(&path).expect("removed");
    }
}
