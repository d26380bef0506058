//! mount(2), umount(2), sync and the kernel's caches.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::mount::{UnmountFlags, unmount as umount};

pub use rustix::mount::MountFlags;

/// How long a file system may be busy because somebody looks at it, before unmount gives up.
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
/// That of open(2) or syncfs(2), which reports failed write-back since the last call.
pub fn sync_file_system(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    Ok(rustix::fs::syncfs(&file)?)
}

/// Drops the page cache, and the inode and directory caches, of the whole machine.
///
/// # Errors
/// `PermissionDenied` without privileges.
pub fn drop_caches() -> io::Result<()> {
    std::fs::write("/proc/sys/vm/drop_caches", "3\n")
}

/// One line of /proc/self/mountinfo, as far as unmounting needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountEntry {
    /// `major:minor` of the mounted device.
    pub device: (u32, u32),
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// What was mounted, as the kernel tells it.
    pub source: String,
}

/// Everything that is mounted in this process's view, in the order of mounting.
///
/// # Errors
/// That of reading /proc/self/mountinfo.
pub fn mounts() -> io::Result<Vec<MountEntry>> {
    Ok(std::fs::read_to_string("/proc/self/mountinfo")?
        .lines()
        .filter_map(parse_mount)
        .collect())
}

fn parse_mount(line: &str) -> Option<MountEntry> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let (major, minor) = left.next()?.split_once(':')?;
    let mount_point = left.nth(1)?;
    Some(MountEntry {
        device: (major.parse().ok()?, minor.parse().ok()?),
        mount_point: PathBuf::from(unescape(mount_point)),
        source: unescape(right.split(' ').nth(1)?),
    })
}

/// Undoes the octal escapes of blank, tab, newline and backslash.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                plain.push(char::from(code));
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_with_a_blank_is_read_as_it_is() {
        let line = "36 35 7:3 / /mnt/a\\040b rw,noatime master:1 - ext4 /dev/loop3 rw";
        let entry = parse_mount(line).expect("parses");
        assert_eq!(entry.device, (7, 3));
        assert_eq!(entry.mount_point, Path::new("/mnt/a b"));
        assert_eq!(entry.source, "/dev/loop3");
    }

    #[test]
    fn the_root_is_mounted() {
        let mounts = mounts().expect("mountinfo is readable");
        assert!(
            mounts
                .iter()
                .any(|mount| mount.mount_point == Path::new("/"))
        );
    }
}
