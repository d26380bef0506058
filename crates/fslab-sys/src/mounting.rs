//! mount(2), umount(2), sync and the kernel's caches.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::mount::{UnmountFlags, unmount as umount};

pub use rustix::mount::MountFlags;

/// How long a file system may be busy with another user before unmount gives up.
const BUSY_PATIENCE: Duration = Duration::from_secs(5);

/// Mounts `source` on `target`.
///
/// # Errors
/// That of mount(2).
pub fn mount(
    source: &Path,
    target: &Path,
    fs_type: &str,
    flags: MountFlags,
    data: &str,
) -> io::Result<()> {
    let data = std::ffi::CString::new(data)?;
    rustix::mount::mount(source, target, fs_type, flags, Some(data.as_c_str()))?;
    Ok(())
}

/// Moves what is mounted on `source` to `target`.
///
/// # Errors
/// That of mount(2).
pub fn move_mount(source: &Path, target: &Path) -> io::Result<()> {
    Ok(rustix::mount::mount_move(source, target)?)
}

/// Makes the mounted file system `root` the root of this process, over the one that it had, and its
/// working directory. For the first process of a system: what it starts has that root, too.
///
/// # Errors
/// That of chdir(2), mount(2) or chroot(2).
pub fn switch_root(root: &Path) -> io::Result<()> {
    rustix::process::chdir(root)?;
    // The working directory stays in what is moved, and so is a way into it.
    rustix::mount::mount_move(c".", c"/")?;
    rustix::process::chroot(c".")?;
    Ok(rustix::process::chdir(c"/")?)
}

/// Unmounts what is mounted on `target`, waiting a little while it is busy. Returns the duration of
/// the umount(2) call that succeeded.
///
/// # Errors
/// That of umount(2); `EBUSY` after five seconds.
pub fn unmount(target: &Path) -> io::Result<Duration> {
    let began = Instant::now();
    loop {
        let call = Instant::now();
        match umount(target, UnmountFlags::NOFOLLOW) {
            Ok(()) => return Ok(call.elapsed()),
            Err(rustix::io::Errno::BUSY) if began.elapsed() < BUSY_PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Unmounts `target` now, or as soon as it is no longer busy: for what a killed trial left.
///
/// # Errors
/// That of umount2(2).
pub fn unmount_lazily(target: &Path) -> io::Result<()> {
    match umount(target, UnmountFlags::NOFOLLOW) {
        Err(rustix::io::Errno::BUSY) => Ok(umount(
            target,
            UnmountFlags::NOFOLLOW | UnmountFlags::DETACH,
        )?),
        other => Ok(other?),
    }
}

/// Writes back everything dirty in the file system that holds `path`.
///
/// # Errors
/// That of open(2) or syncfs(2). An error of a write-back before the call is reported only where no
/// one else has seen it: [`WriteBackWatch`] misses none.
pub fn sync_file_system(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    Ok(rustix::fs::syncfs(&file)?)
}

/// A descriptor of a file system, by which every failed write-back since it was opened is reported.
///
/// The kernel keeps with each open file which errors of its file system that file has seen
/// (errseq_t; Linux 5.8 for syncfs). One that is opened after another program was told of an error
/// is not told any more. The file system is busy for as long as this is open.
#[derive(Debug)]
pub struct WriteBackWatch(File);

impl WriteBackWatch {
    /// Watches the file system that holds the directory `path` from now on.
    ///
    /// # Errors
    /// That of open(2).
    pub fn open(path: &Path) -> io::Result<Self> {
        let options = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(File::from(rustix::fs::open(
            path,
            options,
            Mode::empty(),
        )?)))
    }

    /// Writes back everything dirty.
    ///
    /// # Errors
    /// That of syncfs(2), with every failed write-back since the watch was opened or asked last.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.0)?)
    }

    /// The number of the file system's device.
    ///
    /// # Errors
    /// That of fstat(2).
    pub fn device(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.dev())
    }
}

/// The number of the device of the file system that `path` is on, as stat(2) has it.
///
/// # Errors
/// That of stat(2).
pub fn device_of(path: &Path) -> io::Result<u64> {
    Ok(std::fs::metadata(path)?.dev())
}

/// Drops the page cache, and the inode and directory caches, of the whole machine.
///
/// # Errors
/// `PermissionDenied` without privileges.
pub fn drop_caches() -> io::Result<()> {
    std::fs::write("/proc/sys/vm/drop_caches", "3\n")
}
