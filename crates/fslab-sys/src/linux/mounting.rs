//! mount(2), umount(2), sync and the kernel's caches.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::mount::{UnmountFlags, unmount as umount};

pub use rustix::mount::MountFlags;

use crate::{Mount, parse_mount_table};

/// How long unmounting is retried while the file system is busy.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Mounts `source` on `target`.
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

/// Moves the mount at `source` to `target`.
pub fn move_mount(source: &Path, target: &Path) -> io::Result<()> {
    Ok(rustix::mount::mount_move(source, target)?)
}

/// Makes the mounted file system `root` the root and working directory of this process, over the
/// current root. For init: its children have the new root, too.
pub fn switch_root(root: &Path) -> io::Result<()> {
    rustix::process::chdir(root)?;
    // The working directory is inside the moved mount and so still refers to it.
    rustix::mount::mount_move(c".", c"/")?;
    rustix::process::chroot(c".")?;
    Ok(rustix::process::chdir(c"/")?)
}

/// Unmounts `target`, with retries while it is busy. Returns the duration of the successful
/// umount(2).
pub fn unmount(target: &Path) -> io::Result<Duration> {
    let began = Instant::now();
    loop {
        let call = Instant::now();
        match umount(target, UnmountFlags::NOFOLLOW) {
            Ok(()) => return Ok(call.elapsed()),
            Err(rustix::io::Errno::BUSY) if began.elapsed() < BUSY_TIMEOUT => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Unmounts `target` now, or lazily if it is busy: for cleaning up after a killed trial.
pub fn unmount_lazily(target: &Path) -> io::Result<()> {
    match umount(target, UnmountFlags::NOFOLLOW) {
        Err(rustix::io::Errno::BUSY) => Ok(umount(
            target,
            UnmountFlags::NOFOLLOW | UnmountFlags::DETACH,
        )?),
        other => Ok(other?),
    }
}

/// Writes back all dirty data of the file system that holds `path`.
///
/// # Errors
/// That of open(2) or syncfs(2). An earlier write-back error is reported only if no other process
/// has seen it: [`WriteBackWatch`] misses none.
pub fn sync_file_system(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    Ok(rustix::fs::syncfs(&file)?)
}

/// A descriptor of a file system that reports every write-back error since it was opened.
///
/// The kernel keeps for each open file which errors of its file system it has reported (errseq_t;
/// Linux 5.8 for syncfs). An error reported to another program is not reported to files opened
/// later. The file system is busy while this is open.
#[derive(Debug)]
pub struct WriteBackWatch(File);

impl WriteBackWatch {
    /// Watches the file system that holds the directory `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        let options = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(File::from(rustix::fs::open(
            path,
            options,
            Mode::empty(),
        )?)))
    }

    /// Writes back all dirty data.
    ///
    /// # Errors
    /// That of syncfs(2), for every failed write-back since the last call or the opening.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.0)?)
    }

    /// The device number of the file system.
    pub fn device(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.dev())
    }
}

/// The device number of the file system that holds `path`, from stat(2).
pub fn device_of(path: &Path) -> io::Result<u64> {
    Ok(std::fs::metadata(path)?.dev())
}

/// Drops the page cache and the inode and directory caches of the machine.
pub fn drop_caches() -> io::Result<()> {
    std::fs::write("/proc/sys/vm/drop_caches", "3\n")
}

/// All mounts visible to this process, in mount order.
pub fn mounts() -> io::Result<Vec<Mount>> {
    Ok(parse_mount_table(&std::fs::read("/proc/self/mountinfo")?))
}
