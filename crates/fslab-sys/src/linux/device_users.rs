//! Finds users of a block device or image before it is formatted.
//!
//! ```text
//!     above   mounts, swap, RAID and LVM, loop devices over it      from the kernel's tables
//!     beside  its partitions, the disk that it is a part of         the same
//!     below   the file of a loop device, the disks of a mapping     the same, and other users
//!     by      processes with one of these open or mapped for writing
//! ```
//! The kernel excludes exclusive users (O_EXCL) but not plain writers: those are searched in /proc,
//! as far as permissions allow. A descriptor in transit between processes, or held by an io_uring
//! alone, is not found.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, OFlags, StatxFlags, statx};

use super::loop_device::{FileId, attached_loop_devices, file_behind};
use crate::{DeviceNumber, InUse, Mount, mounts};

/// Limit of stacked devices to follow downwards.
const DEPTH_MAX: usize = 8;
/// Bits of `flags` in fdinfo with the access mode.
const ACCESS_BITS: u32 = 0o3;
/// The bit O_PATH.
const PATH_BIT: u32 = 0o10_000_000;

/// Devices and files that share data with a device: writing to one changes the other.
#[derive(Debug, Default)]
struct Relatives {
    devices: Vec<DeviceNumber>,
    files: Vec<FileId>,
}

impl DeviceNumber {
    /// The use of the device, of a part of it or of a device below; `None` if there is none.
    pub fn in_use(self, path: &Path) -> io::Result<Option<InUse>> {
        let mounts = mounts()?;
        let mut relatives = Relatives::default();
        if let Some(user) = self.used_by_kernel(&mounts, None, &mut relatives, 0)? {
            return Ok(Some(user));
        }
        match claim(path) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                return Ok(Some(InUse::Claimed));
            }
            claimed => drop(claimed?),
        }
        Ok(find_writer(&relatives))
    }

    /// The use of the device and of those below it by the kernel's tables; `above` is the device
    /// stacked on this one, which does not count.
    fn used_by_kernel(
        self,
        mounts: &[Mount],
        above: Option<&str>,
        relatives: &mut Relatives,
        depth: usize,
    ) -> io::Result<Option<InUse>> {
        let sysfs = self.sysfs();
        relatives.devices.push(self);
        if let Some(place) = self.mounted_on(mounts) {
            return Ok(Some(InUse::Mounted(place)));
        }
        let is_other = |name: &str| Some(name) != above;
        if let Some(holder) = first_entry(&sysfs.join("holders"), is_other) {
            return Ok(Some(InUse::Held(holder)));
        }
        if let Some(name) = self.loop_device_above().filter(|name| is_other(name)) {
            return Ok(Some(InUse::Held(name)));
        }
        if fs::read_to_string(sysfs.join("ro")).is_ok_and(|flag| flag.trim() == "1") {
            return Ok(Some(InUse::ReadOnly));
        }
        let is_swap = |name: &Path| DeviceNumber::of(name).is_ok_and(|it| it == self);
        if swaps().iter().any(|name| is_swap(name)) {
            return Ok(Some(InUse::Swap));
        }
        let is_part = |name: &str| sysfs.join(name).join("partition").exists();
        let is_whole_disk = above.is_none();
        if let Some(part) = first_entry(&sysfs, is_part).filter(|_| is_whole_disk) {
            return Ok(Some(InUse::Partitioned(part)));
        }
        if depth == DEPTH_MAX {
            return Ok(None);
        }
        self.used_below(mounts, relatives, depth)
    }

    fn used_below(
        self,
        mounts: &[Mount],
        relatives: &mut Relatives,
        depth: usize,
    ) -> io::Result<Option<InUse>> {
        let sysfs = self.sysfs();
        let name = self.kernel_name().unwrap_or_default();
        let number = |folder: PathBuf| {
            let text = fs::read_to_string(folder.join("dev")).ok()?;
            DeviceNumber::parse(text.trim())
        };
        let mut below: Vec<DeviceNumber> = Vec::new();
        // Writes to the disk also write to its partition.
        if sysfs.join("partition").exists() {
            below.extend(
                fs::canonicalize(&sysfs)
                    .ok()
                    .and_then(|it| number(it.join(".."))),
            );
        }
        let slaves = fs::read_dir(sysfs.join("slaves"));
        let slaves = slaves.into_iter().flatten().flatten();
        below.extend(slaves.filter_map(|slave| number(slave.path())));
        for device in below {
            let user = device.used_by_kernel(mounts, Some(&name), relatives, depth + 1)?;
            if let Some(user) = user {
                let device = device.kernel_name().unwrap_or_default();
                let user = Box::new(user);
                return Ok(Some(InUse::Below { device, user }));
            }
        }
        let Ok(text) = fs::read_to_string(sysfs.join("loop/backing_file")) else {
            return Ok(None);
        };
        let shown = text.trim_end_matches('\n').to_owned();
        let own = crate::open_block_device(&PathBuf::from(format!("/dev/{name}")))?;
        let Some(file) = file_behind(&own) else {
            return Ok(None);
        };
        drop(own);
        let backing = Path::new(&shown);
        let user = match DeviceNumber::of(backing) {
            Ok(device) => device.used_by_kernel(mounts, Some(&name), relatives, depth + 1)?,
            Err(_) => file_used_by_kernel(backing, file, &name, mounts),
        };
        relatives.files.push(file);
        Ok(user.map(|user| match user {
            InUse::SharedFile(_) => user,
            user => InUse::Below {
                device: shown,
                user: Box::new(user),
            },
        }))
    }

    fn mounted_on(self, mounts: &[Mount]) -> Option<PathBuf> {
        let number = format!("{}:{}", self.major, self.minor);
        // Btrfs and others have anonymous device numbers: the source is compared as well.
        let is_of = |mount: &&Mount| {
            let source = Path::new(&mount.source);
            mount.device_number == number
                || (source.starts_with("/dev")
                    && DeviceNumber::of(source).is_ok_and(|it| it == self))
        };
        mounts.iter().find(is_of).map(|it| it.mount_point.clone())
    }

    /// A loop device backed by this device: not listed among its holders.
    fn loop_device_above(self) -> Option<String> {
        attached_loop_devices()
            .into_iter()
            .find(|(_, backing)| DeviceNumber::of(backing).is_ok_and(|it| it == self))
            .map(|(number, _)| format!("loop{number}"))
    }
}

/// The use of the device or the image file at `path`; `None` if there is none.
pub fn file_in_use(path: &Path) -> io::Result<Option<InUse>> {
    match path.metadata()?.file_type().is_block_device() {
        true => DeviceNumber::of(path)?.in_use(path),
        false => image_in_use(path),
    }
}

/// The use of the image file at `path`: loop devices, swap, mounts, and writing processes.
fn image_in_use(path: &Path) -> io::Result<Option<InUse>> {
    let real = fs::canonicalize(path)?;
    let Some((file, _)) = identify(&real) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    if let Some(user) = file_used_by_kernel(&real, file, "", &mounts()?) {
        return Ok(Some(match user {
            InUse::SharedFile(name) => InUse::Held(name),
            user => user,
        }));
    }
    Ok(find_writer(&Relatives {
        devices: Vec::new(),
        files: vec![file],
    }))
}

/// The use of a file, except by the loop device `own`.
fn file_used_by_kernel(path: &Path, file: FileId, own: &str, mounts: &[Mount]) -> Option<InUse> {
    let others = attached_loop_devices().into_iter();
    let names = others.map(|(number, _)| format!("loop{number}"));
    for name in names.filter(|name| name != own) {
        let device = crate::open_block_device(&PathBuf::from(format!("/dev/{name}")));
        if device.is_ok_and(|device| file_behind(&device) == Some(file)) {
            return Some(InUse::SharedFile(name));
        }
    }
    if swaps().iter().any(|swap| swap == path) {
        return Some(InUse::Swap);
    }
    // Some drivers mount a file without a loop device (EROFS since Linux 6.12).
    let is_of = |mount: &&Mount| {
        let source = Path::new(&mount.source);
        source.is_absolute() && identify(source).is_some_and(|(found, _)| found == file)
    };
    let mounted = mounts.iter().filter(|it| it.source != "/").find(is_of);
    mounted.map(|mount| InUse::Mounted(mount.mount_point.clone()))
}

fn swaps() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let names = table.lines().skip(1);
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.map(PathBuf::from).collect()
}

/// Opens a block device exclusively; `EBUSY` if the kernel or another process holds it.
fn claim(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::EXCL.bits().cast_signed())
        .open(path)
}

fn first_entry(folder: &Path, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| wanted(name))
        .collect();
    names.sort_unstable();
    names.into_iter().next()
}

/// The file at `path` and the number of a block device, from the kernel's caches: the server of a
/// network or FUSE file system may hang and is not queried.
fn identify(path: &Path) -> Option<(FileId, Option<DeviceNumber>)> {
    let wanted = StatxFlags::TYPE | StatxFlags::INO;
    let found = statx(CWD, path, AtFlags::STATX_DONT_SYNC, wanted).ok()?;
    let device = DeviceNumber {
        major: found.stx_dev_major,
        minor: found.stx_dev_minor,
    };
    let kind = FileType::from_raw_mode(u32::from(found.stx_mode));
    let number = (kind == FileType::BlockDevice).then_some(DeviceNumber {
        major: found.stx_rdev_major,
        minor: found.stx_rdev_minor,
    });
    let file = FileId {
        device,
        inode: found.stx_ino,
    };
    Some((file, number))
}

impl Relatives {
    fn contain(&self, path: &Path) -> bool {
        match identify(path) {
            Some((_, Some(device))) => self.devices.contains(&device),
            Some((file, None)) => self.files.contains(&file),
            None => false,
        }
    }
}

/// Another process that has one of them open, or mapped shared, for writing.
fn find_writer(relatives: &Relatives) -> Option<InUse> {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for pid in pids.filter(|pid| *pid != own) {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let Some(name) = opened(&process, relatives).or_else(|| mapped(&process, relatives)) else {
            continue;
        };
        let program = fs::read_to_string(process.join("comm")).unwrap_or_default();
        let is_plain = |c: &char| !c.is_control();
        return Some(InUse::Writer {
            pid,
            program: program.trim().chars().filter(is_plain).collect(),
            file: name.to_string_lossy().chars().filter(is_plain).collect(),
        });
    }
    None
}

fn opened(process: &Path, relatives: &Relatives) -> Option<PathBuf> {
    let entries = fs::read_dir(process.join("fd")).ok()?.flatten();
    let of_interest = entries
        .filter(|entry| relatives.contain(&entry.path()))
        .find(|entry| {
            let info = process.join("fdinfo").join(entry.file_name());
            fs::read_to_string(info).is_ok_and(|info| may_write(&info))
        })?;
    fs::read_link(of_interest.path()).ok()
}

/// True if a descriptor with this fdinfo can write.
fn may_write(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|text| u32::from_str_radix(text.trim(), 8).ok());
    flags.is_some_and(|flags| flags & ACCESS_BITS != 0 && flags & PATH_BIT == 0)
}

/// A mapping that can write; it outlives its descriptor.
fn mapped(process: &Path, relatives: &Relatives) -> Option<PathBuf> {
    let maps = fs::read(process.join("maps")).ok()?;
    let maps = String::from_utf8_lossy(&maps);
    let shared = maps.lines().filter_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let permissions = rest.split(' ').next()?;
        (permissions.contains('w') && permissions.ends_with('s')).then_some(range)
    });
    let links = shared.map(|range| process.join("map_files").join(range));
    let mut links = links.filter(|link| relatives.contain(link));
    fs::read_link(links.next()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_are_distinguished_from_readers_and_path_descriptors() {
        assert!(may_write("pos:\t0\nflags:\t0100002\nmnt_id:\t9\n"));
        assert!(may_write("pos:\t0\nflags:\t0100001\n"));
        assert!(!may_write("pos:\t0\nflags:\t0100000\n"));
        assert!(!may_write("pos:\t0\nflags:\t012000002\n"));
        assert!(!may_write(""));
    }

    #[test]
    fn another_process_that_writes_to_an_image_uses_it_and_one_that_reads_does_not() {
        let name = format!("fslab-users-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        File::create(&path).expect("an image");
        assert_eq!(image_in_use(&path).expect("an answer"), None);
        for (how, is_use) in [("<", false), (">>", true)] {
            let script = format!("exec 3{how}\"$1\"; echo; read line");
            let mut shell = std::process::Command::new("sh")
                .args(["-c", &script, "sh"])
                .arg(&path)
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .expect("sh starts");
            let mut output = shell.stdout.take().expect("a pipe");
            io::Read::read_exact(&mut output, &mut [0]).expect("it has the file open");
            let user = image_in_use(&path).expect("an answer");
            drop(shell.stdin.take());
            shell.wait().expect("it ends");
            let is_shell = matches!(&user, Some(InUse::Writer { pid, .. }) if *pid == shell.id());
            assert_eq!(is_shell, is_use, "{user:?}");
        }
        fs::remove_file(&path).expect("removed");
    }
}
