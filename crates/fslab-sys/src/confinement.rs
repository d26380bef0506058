//! A root of its own for whatever works in a tree that it need not trust: every name ends in the
//! tree, whichever symbolic links stand on its way.
//!
//! ```text
//!     HostRoot::find --> confine(tree) --> Confinement
//!                                            inside    a thread begins while its maker is outside
//!                                            outside   the host's root again, for a moment: what
//!                                                      is started there has it, too
//! ```
//!
//! The kernel resolves names from the root of the calling thread: `..`, absolute names and absolute
//! links end at it (path_resolution(7), chroot(2)), and no call costs more than before. Threads
//! that a confined thread starts share its root, processes that it forks have a copy of it.
//!
//! Invariant: a thread that cannot come back to where it has to be ends its process. While a thread
//! is confined it holds the tree's mount; afterwards nothing does.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::process::{chroot, fchdir};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use crate::WorkerProcess;

/// A directory that is only a place to go to.
const PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Which right lets this process confine its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfinedBy {
    /// It may change its root as it is.
    Privilege,
    /// It has entered a user namespace, in which it may.
    UserNamespace,
}

/// The root of this process, to which its threads come back.
#[derive(Clone, Debug)]
pub struct HostRoot {
    root: Arc<OwnedFd>,
    by: ConfinedBy,
}

impl HostRoot {
    /// Finds the root, and a way to confine threads. Where the process has not the right to change
    /// its root it enters a user namespace for good, as the same user and group and with that right
    /// alone; so this must be called before the process has a second thread.
    ///
    /// # Errors
    /// That of chroot(2) or unshare(2), where neither way is open; then nothing has changed.
    pub fn find() -> io::Result<Self> {
        let root = Arc::new(rustix::fs::open("/", PLACE, Mode::empty())?);
        let by = match try_change_root(&root) {
            Ok(()) => ConfinedBy::Privilege,
            // In a namespace the superuser would lose its rights on the files of others.
            Err(error) if crate::is_superuser() => return Err(error),
            Err(_) => {
                // Half a way in would leave this process without a user: another one tries first.
                let tried = WorkerProcess::fork(|_| errno_of(&enter_namespace(&root)))?;
                ensure_none(&tried.collect(|| false)?)?;
                enter_namespace(&root)?;
                ConfinedBy::UserNamespace
            }
        };
        Ok(Self { root, by })
    }

    /// By which right threads are confined.
    #[must_use]
    pub fn confined_by(&self) -> ConfinedBy {
        self.by
    }

    /// Does `work` with the directory `tree` as the calling thread's root and working directory.
    ///
    /// # Errors
    /// Where `tree` cannot be opened or entered; then `work` was not begun.
    pub fn confine<T>(&self, tree: &Path, work: impl FnOnce(&Confinement) -> T) -> io::Result<T> {
        let confinement = Confinement {
            host: Arc::clone(&self.root),
            tree: Arc::new(rustix::fs::open(tree, PLACE, Mode::empty())?),
            path: std::path::absolute(tree)?,
        };
        confinement.inside(|| work(&confinement))
    }
}

/// A tree that threads of this process have as their root.
#[derive(Clone, Debug)]
pub struct Confinement {
    host: Arc<OwnedFd>,
    tree: Arc<OwnedFd>,
    /// Where the tree is for those who are not confined.
    path: PathBuf,
}

impl Confinement {
    /// The path of `inside`, a path in the tree, for those who are not confined.
    #[must_use]
    pub fn outer_path(&self, inside: &Path) -> PathBuf {
        self.path.join(inside.strip_prefix("/").unwrap_or(inside))
    }

    /// Does `work` in the tree, wherever the calling thread is, and goes back there.
    ///
    /// # Errors
    /// That of unshare(2), fchdir(2) or chroot(2); then `work` was not begun.
    pub fn inside<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        with_root(&self.tree, work)
    }

    /// Does `work` with the host's root, as a part of what is done in the tree. Threads that were
    /// started in the tree stay there.
    pub fn outside<T>(&self, work: impl FnOnce() -> T) -> T {
        // Whoever came in by this right gets out by it.
        with_root(&self.host, work).unwrap_or_else(|_| std::process::abort())
    }
}

/// Lets what `command` starts work in `directory`, an open one, which need not have a name where
/// the command is started.
pub fn work_in(command: &mut Command, directory: std::fs::File) {
    let prepare = move || Ok(fchdir(&directory)?);
    // SAFETY: between fork and exec the closure makes one system call, and neither allocates nor
    // takes a lock.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// Does `work` with `root` as root and working directory, which no other thread that is there now
/// gets with it.
fn with_root<T>(root: &OwnedFd, work: impl FnOnce() -> T) -> io::Result<T> {
    part_from_other_threads()?;
    let _back = Back {
        root: rustix::fs::open("/", PLACE, Mode::empty())?,
        directory: rustix::fs::open(".", PLACE, Mode::empty())?,
    };
    change_root(root)?;
    Ok(work())
}

/// Takes the thread back to where it was when the work is done, or unwinds; and with it the threads
/// that it started and that have not quite ended, so that none of them holds the tree's mount.
struct Back {
    root: OwnedFd,
    directory: OwnedFd,
}

impl Drop for Back {
    fn drop(&mut self) {
        let back = change_root(&self.root).and_then(|()| Ok(fchdir(&self.directory)?));
        if back.is_err() {
            // It would go on with names that mean something else.
            std::process::abort();
        }
    }
}

/// Lets the calling thread have a root and a working directory that it shares with no other thread.
fn part_from_other_threads() -> io::Result<()> {
    // SAFETY: nothing here relies on threads that share their working directory.
    done(unsafe { libc::unshare(libc::CLONE_FS) })
}

fn change_root(root: &OwnedFd) -> io::Result<()> {
    fchdir(root)?;
    Ok(chroot(c".")?)
}

/// Makes the root the root, which changes nothing and needs the same right as any other.
fn try_change_root(root: &OwnedFd) -> io::Result<()> {
    let before = rustix::fs::open(".", PLACE, Mode::empty())?;
    part_from_other_threads()?;
    let changed = change_root(root);
    // Also where only the first of its two steps was taken.
    fchdir(&before)?;
    changed
}

/// Enters a user namespace as the same user and group, and keeps of the rights that this gives the
/// one to change the root: with others, permissions of files would count for less.
fn enter_namespace(root: &OwnedFd) -> io::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    // SAFETY: the kernel refuses it to a process of several threads.
    done(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    // Without it nobody but the superuser may say which group is which (user_namespaces(7)).
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

/// What a process that tried reports: nothing, or the number of its error.
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

fn done(status: i32) -> io::Result<()> {
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A tree with links out of it, beside a file that they lead to.
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

    /// The root, where this test may confine threads. A test binary has several threads, so that
    /// the way of a user without privileges is shut.
    fn host() -> Option<HostRoot> {
        let found = HostRoot::find();
        if crate::is_superuser() {
            return Some(found.expect("the superuser may"));
        }
        eprintln!("not run: needs root");
        None
    }

    #[test]
    fn no_link_leads_out_of_the_tree_for_threads_and_processes_neither() {
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
    fn a_thread_that_was_confined_is_where_it_was_also_after_a_panic() {
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
    fn outside_is_the_hosts_root_and_threads_that_began_inside_stay() {
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
                work_in(&mut command, directory);
                command.output().expect("starts")
            })
        });
        let text = String::from_utf8(output.expect("enters").stdout).expect("text");
        let work = scene.tree().canonicalize().expect("is there").join("work");
        assert_eq!(text, format!("{}\nalive", work.display()));
    }
}
