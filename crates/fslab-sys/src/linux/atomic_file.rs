//! Atomic writing of files: completely or not at all, also in directories that others may write to.
//!
//! The data has no name until it is complete (O_TMPFILE), so that a kill leaves nothing, and no
//! path that another user could have prepared is opened. On file systems without O_TMPFILE the file
//! gets a random name and is created with O_EXCL, which follows no link. The complete file replaces
//! an existing one in one step.
//!
//! A target that is a symbolic link is followed, as by `>` in a shell, under the rule of the
//! kernel's fs.protected_symlinks: not if the link is in a world-writable sticky directory and
//! owned neither by this user nor by the directory's owner. Users who can write to the directory
//! but not to the file cannot redirect the write.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

/// Limit of symbolic links, as in the kernel.
const LINKS_MAX: u32 = 40;
/// Attempts with random names.
const NAMES_MAX: u32 = 100;
/// Permissions before the umask.
const MODE: Mode = Mode::from_raw_mode(0o666);
const STICKY: u32 = 0o1000;
const WRITABLE_BY_ALL: u32 = 0o002;

/// A file that appears at [`AtomicFile::commit`]; dropped earlier, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    folder: OwnedFd,
    name: OsString,
    /// The random name on file systems without O_TMPFILE.
    draft: Option<OsString>,
}

impl AtomicFile {
    /// Starts a file that will be at `path`, which the user typed.
    ///
    /// # Errors
    /// Those of the kernel for the directory, and EACCES for a link that is not followed.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = followed(path)?;
        let name = target.file_name().ok_or(Errno::ISDIR)?;
        Self::create_in(open_folder(folder_of(&target))?, name)
    }

    /// Starts a file that will be `name` in `folder`, and replaces whatever has that name.
    pub(super) fn create_in(folder: OwnedFd, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        match rustix::fs::openat(&folder, ".", flags, MODE) {
            Ok(file) => Ok(Self {
                file: file.into(),
                folder,
                name: name.to_owned(),
                draft: None,
            }),
            // Errors of kernels and file systems without O_TMPFILE.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
                Self::create_named(folder, name)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn create_named(folder: OwnedFd, name: &OsStr) -> io::Result<Self> {
        let flags =
            OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
        let (file, draft) =
            with_random_name(|draft| rustix::fs::openat(&folder, draft, flags, MODE))?;
        Ok(Self {
            file: file.into(),
            folder,
            name: name.to_owned(),
            draft: Some(draft),
        })
    }

    /// Extends the file to `bytes` with zeros that take no space.
    pub fn extend_to(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    /// Moves the complete file into place, durably.
    ///
    /// # Errors
    /// Those of the kernel; an existing file at the path is unchanged then.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let draft = match self.draft.take() {
            Some(draft) => draft,
            None => match self.link()? {
                Some(draft) => draft,
                None => return sync_folder(self.folder.as_fd()),
            },
        };
        if let Err(error) = rustix::fs::renameat(&self.folder, &draft, &self.folder, &self.name) {
            let _ = rustix::fs::unlinkat(&self.folder, &draft, AtFlags::empty());
            return Err(error.into());
        }
        sync_folder(self.folder.as_fd())
    }

    /// Links the nameless file to its name; if that exists, to a random one, which is returned.
    fn link(&self) -> io::Result<Option<OsString>> {
        let from = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let link =
            |to: &OsStr| rustix::fs::linkat(CWD, &from, &self.folder, to, AtFlags::SYMLINK_FOLLOW);
        match link(&self.name) {
            Ok(()) => Ok(None),
            Err(Errno::EXIST) => {
                let ((), draft) = with_random_name(link)?;
                Ok(Some(draft))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(draft) = &self.draft {
            let _ = rustix::fs::unlinkat(&self.folder, draft, AtFlags::empty());
        }
    }
}

/// Writes `content` to a file atomically. An existing path that is no regular file, such as a pipe
/// or terminal, is written to directly.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let target = followed(path)?;
    match fs::metadata(&target) {
        Ok(there) if !there.is_file() => {
            // Neither created nor truncated: the path may refer to another file by now.
            let mut file = File::options().write(true).open(&target)?;
            file.write_all(content)
        }
        _ => {
            let mut file = AtomicFile::create(&target)?;
            file.write_all(content)?;
            file.commit()
        }
    }
}

/// The path that a write to `path` goes to: the end of its symbolic links. Links in parent
/// directories are resolved by the kernel.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(link) = fs::symlink_metadata(&target) else {
            return Ok(target);
        };
        // Links such as those in /proc/self/fd are no paths.
        let is_of_proc = || {
            rustix::fs::statfs(folder_of(&target))
                .is_ok_and(|of| of.f_type == rustix::fs::PROC_SUPER_MAGIC)
        };
        if !link.is_symlink() || is_of_proc() {
            return Ok(target);
        }
        ensure_trusted(&target, &link)?;
        target = folder_of(&target).join(fs::read_link(&target)?);
    }
    Err(Errno::LOOP.into())
}

/// Refuses a link that another user may have created.
fn ensure_trusted(path: &Path, link: &fs::Metadata) -> io::Result<()> {
    let folder = fs::metadata(folder_of(path))?;
    let is_shared = folder.mode() & (STICKY | WRITABLE_BY_ALL) == STICKY | WRITABLE_BY_ALL;
    let user = rustix::process::geteuid().as_raw();
    if is_shared && link.uid() != user && link.uid() != folder.uid() {
        let text =
            "it is a symbolic link of another user in a directory that every user may write to";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(())
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// An open directory, in which names can be looked up.
pub(super) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

/// Makes the rename durable.
fn sync_folder(folder: BorrowedFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let readable = rustix::fs::openat(folder, ".", flags, Mode::empty());
    match readable.and_then(rustix::fs::fsync) {
        // The directory may be writable but not readable, or the file system lacks the call.
        Err(error) if error != Errno::IO => Ok(()),
        other => Ok(other?),
    }
}

/// Creates a file by `make`, which gets unpredictable names.
fn with_random_name<T>(make: impl Fn(&OsStr) -> Result<T, Errno>) -> io::Result<(T, OsString)> {
    for _ in 0..NAMES_MAX {
        let draft = OsString::from(format!(".fslab-{:016x}.part", random()));
        match make(&draft) {
            Ok(made) => return Ok((made, draft)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Errno::EXIST.into())
}

/// Creates a directory in `folder`, accessible to this user alone, under an unpredictable name that
/// starts with `prefix`.
pub fn private_folder(folder: &Path, prefix: &str) -> io::Result<PathBuf> {
    for _ in 0..NAMES_MAX {
        let path = folder.join(format!("{prefix}{:016x}", random()));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(path),
        }
    }
    Err(Errno::EXIST.into())
}

/// Checks that this user can create files in `folder`, by creating a nameless one.
pub fn try_create_in(folder: &Path) -> io::Result<()> {
    AtomicFile::create(&folder.join("probe")).map(drop)
}

/// The standard library seeds its hash maps with random numbers of the kernel.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("fslab-whole-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).expect("a directory");
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).expect("lists");
            let names = entries.map(|entry| entry.expect("an entry").file_name());
            let mut names: Vec<_> = names
                .map(|name| name.into_string().expect("UTF-8"))
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_appears_complete_and_replaces_an_existing_one() {
        let folder = Folder::new("twice");
        let path = folder.0.join("a");
        for content in ["one", "two, which is longer"] {
            write_atomically(&path, content.as_bytes()).expect("writes");
            assert_eq!(fs::read_to_string(&path).expect("reads"), content);
            assert_eq!(folder.names(), ["a"]);
        }
        let open = open_folder(&folder.0).expect("open");
        let mut named = AtomicFile::create_named(open, OsStr::new("a")).expect("a draft");
        named.write_all(b"three").expect("writes");
        assert_eq!(folder.names().len(), 2);
        named.commit().expect("takes its place");
        assert_eq!(fs::read_to_string(&path).expect("reads"), "three");
        assert_eq!(folder.names(), ["a"]);
    }

    #[test]
    fn an_abandoned_file_leaves_nothing() {
        let folder = Folder::new("dropped");
        let path = folder.0.join("a");
        for is_named in [false, true] {
            let made = match is_named {
                false => AtomicFile::create(&path),
                true => open_folder(&folder.0)
                    .and_then(|open| AtomicFile::create_named(open, OsStr::new("a"))),
            };
            let mut file = made.expect("a file");
            file.write_all(b"half").expect("writes");
            drop(file);
            assert_eq!(folder.names(), [""; 0]);
        }
    }

    #[test]
    fn a_link_of_the_user_is_followed_and_stays_a_link() {
        let folder = Folder::new("linked");
        let link = folder.0.join("link");
        symlink("target", &link).expect("a link");
        for content in ["made", "replaced"] {
            write_atomically(&link, content.as_bytes()).expect("writes");
            let target = fs::read_to_string(folder.0.join("target"));
            assert_eq!(target.expect("reads"), content);
            assert_eq!(folder.names(), ["link", "target"]);
        }
        let round = folder.0.join("round");
        symlink("round", &round).expect("a link");
        assert!(write_atomically(&round, b"x").is_err());
    }

    #[test]
    fn a_link_of_another_user_in_a_shared_folder_is_not_followed() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can make links of other users");
            return;
        }
        let folder = Folder::new("shared");
        let victim = Folder::new("victim");
        let target = victim.0.join("file");
        fs::write(&target, "precious").expect("writes");
        let link = folder.0.join("report.html");
        symlink(&target, &link).expect("a link");
        std::os::unix::fs::lchown(&link, Some(65534), None).expect("chown");
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o1777)).expect("shared");
        let error = write_atomically(&link, b"x").expect_err("refused");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&target).expect("reads"), "precious");
    }

    #[test]
    fn a_device_is_written_to_directly() {
        write_atomically(Path::new("/dev/null"), b"x").expect("writes");
        let there = fs::metadata("/dev/null").expect("still there");
        assert!(!there.is_file());
    }
}
