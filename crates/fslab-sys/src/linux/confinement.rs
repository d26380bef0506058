//! A separate root directory for threads that work in an untrusted tree: every path, including
//! symbolic links, resolves inside the tree.
//!
//! ```text
//!     HostRoot::find --> confine(tree) --> Confinement
//!                                            inside    enters the tree in another thread
//!                                            outside   back to the host's root for a function;
//!                                                      processes started there have it, too
//! ```
//!
//! The kernel resolves paths from the root of the calling thread: `..`, absolute paths and absolute
//! links end there (path_resolution(7), chroot(2)), at no extra cost per call. Threads started by a
//! confined thread share its root; forked processes have a copy of it.
//!
//! Invariant: a thread that cannot return to its root aborts the process. A confined thread holds
//! the tree's mount only while it is confined.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::process::{chroot, fchdir};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::locked_memory::is_memory_locked;
use super::status::check;
use crate::{ConfinedBy, WorkerProcess};

/// Flags to open a directory as a path only.
const PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The root of this process, to which its threads return.
#[derive(Clone, Debug)]
pub struct HostRoot {
    root: Arc<OwnedFd>,
    by: ConfinedBy,
}

impl HostRoot {
    /// Finds the root, and a way to confine threads. A process without the right to change its root
    /// enters a user namespace for the rest of its life, as the same user and group and with that
    /// right alone; so this must be called before a second thread starts.
    ///
    /// # Errors
    /// That of chroot(2) or unshare(2) if neither is possible; nothing has changed then.
    pub fn find() -> io::Result<Self> {
        let root = Arc::new(rustix::fs::open("/", PLACE, Mode::empty())?);
        let by = match try_change_root(&root) {
            Ok(()) => ConfinedBy::Privilege,
            // In a namespace the superuser would lose access to files of other users.
            Err(error) if crate::is_superuser() => return Err(error),
            Err(_) => {
                // A partial failure would leave this process without a user: a child process tries
                // first.
                let tried = WorkerProcess::fork(|_| errno_of(&enter_namespace(&root)))?;
                ensure_none(&tried.collect(|| false)?)?;
                enter_namespace(&root)?;
                ConfinedBy::UserNamespace
            }
        };
        Ok(Self { root, by })
    }

    /// The right by which threads are confined.
    pub fn confined_by(&self) -> ConfinedBy {
        self.by
    }

    /// Runs `work` with the directory `tree` as root and working directory of the calling thread.
    ///
    /// # Errors
    /// If `tree` cannot be opened or entered; `work` has not run then.
    pub fn confine<T>(&self, tree: &Path, work: impl FnOnce(&Confinement) -> T) -> io::Result<T> {
        let confinement = Confinement {
            host: Arc::clone(&self.root),
            tree: Arc::new(rustix::fs::open(tree, PLACE, Mode::empty())?),
            path: std::path::absolute(tree)?,
        };
        confinement.inside(|| work(&confinement))
    }
}

/// A tree that is the root of threads of this process.
#[derive(Clone, Debug)]
pub struct Confinement {
    host: Arc<OwnedFd>,
    tree: Arc<OwnedFd>,
    /// The tree's path outside the confinement.
    path: PathBuf,
}

impl Confinement {
    /// The outside path of `inside`, a path in the tree.
    pub fn outer_path(&self, inside: &Path) -> PathBuf {
        self.path.join(inside.strip_prefix("/").unwrap_or(inside))
    }

    /// Runs `work` in the tree and returns to where the calling thread was.
    ///
    /// # Errors
    /// That of unshare(2), fchdir(2) or chroot(2); `work` has not run then.
    pub fn inside<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        with_root(&self.tree, work)
    }

    /// Runs `work` with the host's root from inside the tree. Threads started in the tree stay
    /// there.
    pub fn outside<T>(&self, work: impl FnOnce() -> T) -> T {
        // The right to enter is also the right to leave.
        with_root(&self.host, work).unwrap_or_else(|_| std::process::abort())
    }
}

/// Makes the process of `command` start in the open `directory`, which may have no path there. A
/// process that has locked its memory is the trial of a guest, where it is `path`: a change of the
/// child's directory between fork and exec would be a fork.
pub fn work_in(command: &mut Command, directory: std::fs::File, path: &Path) {
    if is_memory_locked() {
        command.current_dir(path);
        return;
    }
    let prepare = move || Ok(fchdir(&directory)?);
    // SAFETY: between fork and exec the closure makes one system call, and neither allocates nor
    // takes a lock.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// Runs `work` with `root` as root and working directory of this thread alone.
fn with_root<T>(root: &OwnedFd, work: impl FnOnce() -> T) -> io::Result<T> {
    part_from_other_threads()?;
    let _back = Back {
        root: rustix::fs::open("/", PLACE, Mode::empty())?,
        directory: rustix::fs::open(".", PLACE, Mode::empty())?,
    };
    change_root(root)?;
    Ok(work())
}

/// Returns the thread to its previous root when dropped, also while unwinding; with it the threads
/// it started that are still exiting, so that none of them holds the tree's mount.
struct Back {
    root: OwnedFd,
    directory: OwnedFd,
}

impl Drop for Back {
    fn drop(&mut self) {
        let back = change_root(&self.root).and_then(|()| Ok(fchdir(&self.directory)?));
        if back.is_err() {
            // Its paths would resolve to other files.
            std::process::abort();
        }
    }
}

/// Gives the calling thread a root and working directory that it shares with no other thread.
fn part_from_other_threads() -> io::Result<()> {
    // SAFETY: no code here relies on threads sharing a working directory.
    check(unsafe { libc::unshare(libc::CLONE_FS) })
}

fn change_root(root: &OwnedFd) -> io::Result<()> {
    fchdir(root)?;
    Ok(chroot(c".")?)
}

/// Sets the root to the current root: no change, but it needs the same right.
fn try_change_root(root: &OwnedFd) -> io::Result<()> {
    let before = rustix::fs::open(".", PLACE, Mode::empty())?;
    part_from_other_threads()?;
    let changed = change_root(root);
    // Also after only the first of the two steps.
    fchdir(&before)?;
    changed
}

/// Enters a user namespace as the same user and group, and drops all rights except changing the
/// root: others would override file permissions.
fn enter_namespace(root: &OwnedFd) -> io::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    // SAFETY: the kernel refuses this for a multithreaded process.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    // Required before an unprivileged process may map groups (user_namespaces(7)).
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    let only = CapabilitySets {
        effective: CapabilitySet::SYS_CHROOT,
        permitted: CapabilitySet::SYS_CHROOT,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, only)?;
    try_change_root(root)
}

/// The result of an attempt as bytes: empty, or the errno.
fn errno_of(tried: &io::Result<()>) -> Vec<u8> {
    let errno = |error: &io::Error| error.raw_os_error().unwrap_or(libc::EIO);
    tried
        .as_ref()
        .map_or_else(|error| errno(error).to_le_bytes().into(), |()| Vec::new())
}

fn ensure_none(errno: &[u8]) -> io::Result<()> {
    match errno.try_into() {
        Ok(errno) => Err(io::Error::from_raw_os_error(i32::from_le_bytes(errno))),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A tree with links that point out of it, and a file outside that they point to.
    struct Scene(PathBuf);

    impl Scene {
        fn new(name: &str) -> Self {
            let name = format!("fslab-{name}-{}", std::process::id());
            let scene = Self(std::env::temp_dir().join(name));
            fs::create_dir_all(scene.tree()).expect("makes");
            fs::write(scene.0.join("canary"), "alive").expect("writes");
            symlink("../canary", scene.tree().join("relative")).expect("links");
            symlink(scene.0.join("canary"), scene.tree().join("absolute")).expect("links");
            scene
        }

        fn tree(&self) -> PathBuf {
            self.0.join("tree")
        }
    }

    impl Drop for Scene {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// The root, if this test may confine threads. Test binaries are multithreaded, so that an
    /// unprivileged user cannot.
    fn host() -> Option<HostRoot> {
        let found = HostRoot::find();
        if crate::is_superuser() {
            return Some(found.expect("the superuser may"));
        }
        eprintln!("skipped: needs root");
        None
    }

    #[test]
    fn no_link_leads_out_of_the_tree_for_threads_or_processes() {
        let (Some(host), scene) = (host(), Scene::new("confined")) else {
            return;
        };
        let look = || ["/relative", "/absolute", "/../canary"].map(|name| fs::read(name).is_err());
        let (seen, of_thread, of_process) = host
            .confine(&scene.tree(), |_| {
                let of_thread = std::thread::spawn(look).join().expect("ends");
                let worker = WorkerProcess::fork(|_| look().map(u8::from).into());
                let of_process = worker.expect("forks").collect(|| false).expect("ends");
                fs::write("/here", "x").expect("writes");
                (look(), of_thread, of_process)
            })
            .expect("enters");
        assert_eq!((seen, of_thread), ([true; 3], [true; 3]));
        assert_eq!(of_process, [1; 3]);
        assert!(scene.tree().join("here").exists());
        assert_eq!(
            fs::read(scene.tree().join("relative")).ok(),
            Some("alive".into())
        );
    }

    #[test]
    fn a_confined_thread_returns_to_its_root_also_after_a_panic() {
        let (Some(host), scene) = (host(), Scene::new("left")) else {
            return;
        };
        let before = std::env::current_dir().expect("is somewhere");
        let (tree, canary) = (scene.tree(), scene.0.join("canary"));
        let panicked = std::panic::catch_unwind(|| {
            let _ = host.confine(&tree, |_| panic!("on purpose"));
        });
        assert!(panicked.is_err());
        assert_eq!(std::env::current_dir().expect("is somewhere"), before);
        assert!(canary.exists());
        let missing = host.confine(&scene.0.join("none"), |_| ());
        assert_eq!(
            missing.expect_err("is missing").kind(),
            io::ErrorKind::NotFound
        );
        assert!(canary.exists());
    }

    #[test]
    fn outside_is_the_hosts_root_and_threads_started_inside_stay() {
        let (Some(host), scene) = (host(), Scene::new("outside")) else {
            return;
        };
        let canary = scene.0.join("canary");
        let sees = || canary.exists();
        let seen = host.confine(&scene.tree(), |confinement| {
            let (begin, waits) = std::sync::mpsc::channel::<()>();
            std::thread::scope(|scope| {
                let thread = scope.spawn(move || waits.recv().map(|()| sees()));
                let outside = confinement.outside(|| {
                    begin.send(()).expect("it waits");
                    let thread = thread.join().expect("ends").expect("was sent");
                    let inside = scope.spawn(|| confinement.inside(sees).expect("enters"));
                    (sees(), thread, inside.join().expect("ends"))
                });
                (outside, sees(), confinement.outer_path(Path::new("/a/b")))
            })
        });
        let expected = ((true, false, false), false, scene.tree().join("a/b"));
        assert_eq!(seen.expect("enters"), expected);
    }

    #[test]
    fn a_program_has_the_hosts_root_and_a_working_directory_in_the_tree() {
        let (Some(host), scene) = (host(), Scene::new("program")) else {
            return;
        };
        let canary = scene.0.join("canary");
        let output = host.confine(&scene.tree(), |confinement| {
            fs::create_dir("/work").expect("makes");
            let directory = fs::File::open("/work").expect("opens");
            confinement.outside(|| {
                let mut command = Command::new("/bin/sh");
                command.args(["-c", "pwd -P; cat \"$0\""]).arg(&canary);
                work_in(&mut command, directory, Path::new("/"));
                command.output().expect("starts")
            })
        });
        let text = String::from_utf8(output.expect("enters").stdout).expect("text");
        let work = scene.tree().canonicalize().expect("is there").join("work");
        assert_eq!(text, format!("{}\nalive", work.display()));
    }
}
