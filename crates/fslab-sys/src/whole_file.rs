//! Files that are written as a whole or not at all, in folders that others may write to as well.
//!
//! What is written has no name until it is complete (O_TMPFILE), so that a kill leaves nothing, and
//! no name that another user could have prepared is ever opened. Where the file system has no
//! nameless files, the name is a random one and the file is made by this call (O_EXCL, which
//! follows no link). A complete file takes the place of the one that was there in one step.
//!
//! A target that is itself a symbolic link is followed, as `>` of a shell follows it, with the
//! rule of the kernel's fs.protected_symlinks: not where it stands in a sticky folder that
//! everybody may write to and belongs neither to this user nor to the folder's owner. Who may only
//! write to the folder, not to the file, cannot lead the write elsewhere.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

/// As many symbolic links as the kernel follows.
const LINKS_MAX: u32 = 40;
/// How often another random name is tried.
const NAMES_MAX: u32 = 100;
/// The permissions before the umask, as of any program's output.
const MODE: Mode = Mode::from_raw_mode(0o666);
const STICKY: u32 = 0o1000;
const WRITABLE_BY_ALL: u32 = 0o002;

/// A file that becomes visible by [`WholeFile::commit`]; dropped before, it leaves nothing.
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    target: PathBuf,
    /// The random name, where the file system has no nameless files.
    draft: Option<PathBuf>,
}

impl WholeFile {
    /// Begins a file that will stand at `path`.
    ///
    /// # Errors
    /// What the kernel says of the folder, and EACCES for a link that is not followed.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = followed(path)?;
        let folder = folder_of(&target);
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        match rustix::fs::openat(CWD, folder, flags, MODE) {
            Ok(file) => Ok(Self {
                file: file.into(),
                target,
                draft: None,
            }),
            // A kernel or a file system without nameless files says one of these.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
                Self::create_named(target)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn create_named(target: PathBuf) -> io::Result<Self> {
        let flags =
            OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
        let (file, draft) =
            with_random_name(&target, |draft| rustix::fs::openat(CWD, draft, flags, MODE))?;
        Ok(Self {
            file: file.into(),
            target,
            draft: Some(draft),
        })
    }

    /// Puts the complete file in its place, durably.
    ///
    /// # Errors
    /// What the kernel says; then what stood at the path is as it was.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let draft = match self.draft.take() {
            Some(draft) => draft,
            None => match self.link()? {
                Some(draft) => draft,
                None => return sync_folder(&self.target),
            },
        };
        if let Err(error) = fs::rename(&draft, &self.target) {
            let _ = fs::remove_file(&draft);
            return Err(error);
        }
        sync_folder(&self.target)
    }

    /// Gives the nameless file its name; where that is taken, a random one, which is returned.
    fn link(&self) -> io::Result<Option<PathBuf>> {
        let from = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let link =
            |to: &Path| rustix::fs::linkat(CWD, from.as_str(), CWD, to, AtFlags::SYMLINK_FOLLOW);
        match link(&self.target) {
            Ok(()) => Ok(None),
            Err(Errno::EXIST) => {
                let ((), draft) = with_random_name(&self.target, link)?;
                Ok(Some(draft))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(draft) = &self.draft {
            let _ = fs::remove_file(draft);
        }
    }
}

/// Writes `content` to a file that is there as a whole or not at all. What is there and no regular
/// file, such as a pipe or a terminal, is written to as it is.
///
/// # Errors
/// As [`WholeFile`].
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let target = followed(path)?;
    match fs::metadata(&target) {
        Ok(there) if !there.is_file() => {
            // Never made, never cut: what is there now might not be there any more.
            let mut file = File::options().write(true).open(&target)?;
            file.write_all(content)
        }
        _ => {
            let mut file = WholeFile::create(&target)?;
            file.write_all(content)?;
            file.commit()
        }
    }
}

/// The path that a write to `path` goes to: the end of its symbolic links. Those in its folders are
/// the kernel's.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(link) = fs::symlink_metadata(&target) else {
            return Ok(target);
        };
        // What stands in /proc/self/fd and the like is no path.
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

/// Refuses a link that another user may have put there.
fn ensure_trusted(path: &Path, link: &fs::Metadata) -> io::Result<()> {
    let folder = fs::metadata(folder_of(path))?;
    let is_shared = folder.mode() & (STICKY | WRITABLE_BY_ALL) == STICKY | WRITABLE_BY_ALL;
    let user = rustix::process::geteuid().as_raw();
    if is_shared && link.uid() != user && link.uid() != folder.uid() {
        let text = "it is a symbolic link of another user in a folder that everybody may write to";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The rename, too, is on the disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(folder_of(path)).and_then(|folder| folder.sync_all()) {
        // A folder that may be written to and not read, or a file system without such a call.
        Err(error) if error.raw_os_error() != Some(Errno::IO.raw_os_error()) => Ok(()),
        other => other,
    }
}

/// Makes something beside `target` under a name that no one could have known.
fn with_random_name<T>(
    target: &Path,
    make: impl Fn(&Path) -> Result<T, Errno>,
) -> io::Result<(T, PathBuf)> {
    for _ in 0..NAMES_MAX {
        let draft = target.with_file_name(format!(".fslab-{:016x}.part", random()));
        match make(&draft) {
            Ok(made) => return Ok((made, draft)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Errno::EXIST.into())
}

/// Makes a folder in `folder` that only this user may enter, under a name that begins with `prefix`
/// and that no one could have known.
///
/// # Errors
/// What the kernel says.
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

/// Whether this user can create files in `folder`: creates one that gets no name of its caller's.
///
/// # Errors
/// As [`WholeFile::create`].
pub fn try_create_in(folder: &Path) -> io::Result<()> {
    WholeFile::create(&folder.join("probe")).map(drop)
}

/// The standard library's hash maps are seeded by the kernel's random numbers.
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
            fs::create_dir(&path).expect("a folder");
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
    fn a_file_appears_whole_and_takes_the_place_of_the_one_before() {
        let folder = Folder::new("twice");
        let path = folder.0.join("a");
        for content in ["one", "two, which is longer"] {
            write_whole(&path, content.as_bytes()).expect("writes");
            assert_eq!(fs::read_to_string(&path).expect("reads"), content);
            assert_eq!(folder.names(), ["a"]);
        }
        let mut named = WholeFile::create_named(path.clone()).expect("a draft");
        named.write_all(b"three").expect("writes");
        assert_eq!(folder.names().len(), 2);
        named.commit().expect("takes its place");
        assert_eq!(fs::read_to_string(&path).expect("reads"), "three");
        assert_eq!(folder.names(), ["a"]);
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        let folder = Folder::new("dropped");
        let path = folder.0.join("a");
        for is_named in [false, true] {
            let made = match is_named {
                false => WholeFile::create(&path),
                true => WholeFile::create_named(path.clone()),
            };
            let mut file = made.expect("a file");
            file.write_all(b"half").expect("writes");
            drop(file);
            assert_eq!(folder.names(), [""; 0]);
        }
    }

    #[test]
    fn the_users_own_link_is_followed_and_stays_one() {
        let folder = Folder::new("linked");
        let link = folder.0.join("link");
        symlink("target", &link).expect("a link");
        for content in ["made", "replaced"] {
            write_whole(&link, content.as_bytes()).expect("writes");
            let target = fs::read_to_string(folder.0.join("target"));
            assert_eq!(target.expect("reads"), content);
            assert_eq!(folder.names(), ["link", "target"]);
        }
        let round = folder.0.join("round");
        symlink("round", &round).expect("a link");
        assert!(write_whole(&round, b"x").is_err());
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
        let error = write_whole(&link, b"x").expect_err("refused");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&target).expect("reads"), "precious");
    }

    #[test]
    fn a_device_is_written_to_as_it_is() {
        write_whole(Path::new("/dev/null"), b"x").expect("writes");
        let there = fs::metadata("/dev/null").expect("still there");
        assert!(!there.is_file());
    }
}
