//! A directory that the user named, and files in it whose names the user did not type.
//!
//! The path of the directory is the user's, with its links. Below it nothing is followed: another
//! user may have placed links, pipes and files under the names that fslab gives.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::atomic_file::{AtomicFile, folder_of, open_folder};
use super::trusted_folder::{ensure_own, plain};

/// Permissions before the umask.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);

/// An open directory for output.
#[derive(Debug)]
pub struct OutputFolder(OwnedFd);

impl OutputFolder {
    /// Opens the directory at `path`; creates it and its parents if they do not exist.
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Ok(Self(open_folder(path)?))
    }

    /// Opens the directory of the file at `path`, for files beside it.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self(open_folder(folder_of(path))?))
    }

    /// Opens the directory `name` in it; creates it if it does not exist.
    ///
    /// # Errors
    /// `PermissionDenied` if it is a symbolic link; otherwise those of mkdir(2) and open(2).
    pub fn folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = plain(&name)?;
        match rustix::fs::mkdirat(&self.0, name, FOLDER_MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(folder) => Ok(Self(folder)),
            Err(Errno::NOTDIR | Errno::LOOP) if self.is_link(name) => Err(link()),
            Err(error) => Err(error.into()),
        }
    }

    fn is_link(&self, name: &OsStr) -> bool {
        rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|there| FileType::from_raw_mode(there.st_mode) == FileType::Symlink)
    }

    /// Writes the file `name` atomically, and replaces a regular file of that name.
    ///
    /// # Errors
    /// `PermissionDenied`, with the reason, if the name is in use by something else, or by a file
    /// that belongs neither to this user nor to the directory's owner; otherwise those of the
    /// kernel.
    pub fn write(&self, name: impl AsRef<OsStr>, content: &[u8]) -> io::Result<()> {
        let mut file = self.start(name)?;
        file.write_all(content)?;
        file.commit()
    }

    /// Starts the file `name`, as [`OutputFolder::write`] does.
    pub fn start(&self, name: impl AsRef<OsStr>) -> io::Result<AtomicFile> {
        let name = plain(&name)?;
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
            Ok(there) => match FileType::from_raw_mode(there.st_mode) {
                FileType::RegularFile => {
                    let owner = rustix::fs::fstat(&self.0)?.st_uid;
                    let own = rustix::process::geteuid().as_raw();
                    if there.st_uid != own && there.st_uid != owner {
                        return Err(denied(&format!("it belongs to the user {}", there.st_uid)));
                    }
                }
                FileType::Symlink => return Err(link()),
                _ => return Err(denied("it is not a regular file")),
            },
        }
        AtomicFile::create_in(self.0.try_clone()?, name)
    }

    /// Opens the file `name` for reading and writing; creates it if it does not exist. It is a
    /// regular file with one hard link, belongs to this user or root, and only they may write to
    /// it: what it has is believed.
    ///
    /// # Errors
    /// `PermissionDenied`, with the reason, if it is not; otherwise that of openat(2).
    pub fn open_kept(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let name = plain(&name)?;
        // O_NONBLOCK: opening a FIFO must not block.
        let flags = OFlags::RDWR
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, name, flags, FILE_MODE) {
            Ok(file) => ensure_own(file.into()),
            Err(Errno::LOOP) => Err(link()),
            Err(error) => Err(error.into()),
        }
    }
}

fn link() -> io::Error {
    denied("it is a symbolic link")
}

fn denied(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn reason<T: std::fmt::Debug>(result: io::Result<T>) -> String {
        let error = result.expect_err("is refused");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
        error.to_string()
    }

    /// `LOG.judged` as a link was emptied and overwritten, and as a FIFO hung; pages were written
    /// to where links in the directory pointed.
    #[test]
    fn links_pipes_and_files_of_others_are_neither_written_nor_opened() {
        let place = tempfile::tempdir().expect("a directory");
        let at = |name: &str| place.path().join(name);
        let folder = OutputFolder::create(&at("out/deep")).expect("made");
        fs::write(at("precious"), "precious").expect("written");
        symlink(at("precious"), at("out/deep/link")).expect("a link");
        symlink(at("nothing"), at("out/deep/dangling")).expect("a link");
        symlink(place.path(), at("out/deep/elsewhere")).expect("a link");
        let made = Command::new("mkfifo").arg(at("out/deep/pipe")).status();
        assert!(made.expect("mkfifo").success());
        fs::create_dir(at("out/deep/folder")).expect("made");
        for name in ["link", "dangling", "pipe"] {
            let (written, opened) = (folder.write(name, b"x"), folder.open_kept(name));
            let what = if name == "pipe" { "regular" } else { "link" };
            assert!(reason(written).contains(what), "{name}");
            assert!(reason(opened).contains(what), "{name}");
        }
        assert!(reason(folder.write("folder", b"x")).contains("regular"));
        assert!(reason(folder.folder("elsewhere")).contains("link"));
        for name in ["..", "a/b", "/etc/passwd", ""] {
            assert!(folder.write(name, b"x").is_err(), "{name}");
        }
        assert_eq!(fs::read(at("precious")).expect("read"), b"precious");
        assert!(!at("nothing").exists());
        fs::hard_link(at("precious"), at("out/deep/hard")).expect("a link");
        assert!(reason(folder.open_kept("hard")).contains("hard links"));
    }

    #[test]
    fn own_files_are_replaced_and_kept_ones_stay() {
        let place = tempfile::tempdir().expect("a directory");
        let folder = OutputFolder::create(place.path()).expect("open");
        for text in ["one", "two, longer"] {
            folder.write("page", text.as_bytes()).expect("written");
            let inner = folder.folder("inner").expect("made or opened");
            inner.write("page", text.as_bytes()).expect("written");
            for path in ["page", "inner/page"] {
                let found = fs::read_to_string(place.path().join(path)).expect("read");
                assert_eq!(found, text);
            }
        }
        let beside = OutputFolder::of(&place.path().join("page")).expect("open");
        let mut kept = beside.open_kept("page.kept").expect("made");
        kept.write_all(b"kept").expect("written");
        let again = beside.open_kept("page.kept").expect("opened");
        assert_eq!(again.metadata().expect("metadata").len(), 4);
    }

    #[test]
    fn files_of_another_user_are_refused() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can give files to other users");
            return;
        }
        let place = tempfile::tempdir().expect("a directory");
        let folder = OutputFolder::create(place.path()).expect("open");
        let theirs = place.path().join("theirs");
        fs::write(&theirs, "judged").expect("written");
        std::os::unix::fs::chown(&theirs, Some(65534), None).expect("chown");
        for result in [
            folder.write("theirs", b"x"),
            folder.open_kept("theirs").map(drop),
        ] {
            assert!(reason(result).contains("belongs to the user 65534"));
        }
    }
}
