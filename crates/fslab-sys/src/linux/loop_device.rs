//! Loop devices: files as block devices.
//!
//! Owns the loop ioctls and their structures (linux/loop.h). Devices are attached with direct I/O,
//! so that data is not cached twice, and with auto-clear: the kernel detaches a device when its
//! last user has closed it or was killed.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::status::check;
use crate::DeviceNumber;

const LOOP_CTL_GET_FREE: libc::c_ulong = 0x4C82;
const LOOP_CONFIGURE: libc::c_ulong = 0x4C0A;
const LOOP_GET_STATUS64: libc::c_ulong = 0x4C05;
const LOOP_CLR_FD: libc::c_ulong = 0x4C01;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;
const NAME_BYTES: usize = 64;
/// Attempts, as another process may take the free device first.
const ATTEMPTS: u32 = 32;
const DETACH_TIMEOUT: Duration = Duration::from_secs(5);

/// `struct loop_info64`.
#[repr(C)]
#[derive(Clone, Copy)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; NAME_BYTES],
    crypt_name: [u8; NAME_BYTES],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo64,
    reserved: [u64; 8],
}

const _: () = assert!(size_of::<LoopInfo64>() == 232 && size_of::<LoopConfig>() == 304);

/// Identity of a file, independent of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    /// Device of its file system.
    pub(crate) device: DeviceNumber,
    pub(crate) inode: u64,
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceNumber { major, minor } = self.device;
        write!(f, "inode {} of {major}:{minor}", self.inode)
    }
}

/// A loop device attached by this process. On drop, the kernel detaches the device once it has no
/// other users.
#[derive(Debug)]
pub struct LoopDevice {
    /// Auto-clear: the last close detaches the device.
    _held_open: File,
    path: PathBuf,
    number: u32,
}

impl LoopDevice {
    /// Attaches `image` to a free loop device with direct I/O, logical blocks of `block_bytes`, and
    /// without discard.
    ///
    /// # Errors
    /// The error of the failing call; `Unsupported` if the kernel has attached the device without
    /// direct I/O, as it does if the image's file system has none.
    pub fn attach(image: &Path, block_bytes: u32) -> io::Result<Self> {
        let backing = OpenOptions::new().read(true).write(true).open(image)?;
        let control = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/loop-control")?;
        for _ in 0..ATTEMPTS {
            let number = free_number(&control)?;
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let file = OpenOptions::new().read(true).write(true).open(&path)?;
            match configure(&file, backing.as_raw_fd(), block_bytes, image) {
                Ok(()) => {
                    let device = Self {
                        _held_open: file,
                        path,
                        number,
                    };
                    device.ensure_direct_io()?;
                    device.refuse_discards()?;
                    return Ok(device);
                }
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(
            "every free loop device was taken by another process",
        ))
    }

    /// The device's path, `/dev/loopN`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn ensure_direct_io(&self) -> io::Result<()> {
        let flag = std::fs::read_to_string(format!("/sys/block/loop{}/loop/dio", self.number))?;
        if flag.trim() == "1" {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the file system below the image refuses direct I/O",
        ))
    }

    /// A discard would punch holes into the image, and later writes would measure the host's
    /// allocation. So the device has no discard, like a hard disk.
    fn refuse_discards(&self) -> io::Result<()> {
        std::fs::write(
            format!("/sys/block/loop{}/queue/discard_max_bytes", self.number),
            "0\n",
        )
    }
}

/// Detaches every loop device of `image`, by any process, and returns their paths.
///
/// # Errors
/// That of open(2) or of the ioctl; `EBUSY` if a device is in use for more than five seconds. The
/// kernel then detaches it at its last close.
pub fn detach_loop_of(image: &Path) -> io::Result<Vec<PathBuf>> {
    let mut detached = Vec::new();
    for path in loop_devices_of(image)? {
        let file = OpenOptions::new().read(true).open(&path)?;
        match clear(&file) {
            // ENXIO: auto-clear has detached it.
            Err(error) if error.raw_os_error() != Some(libc::ENXIO) => return Err(error),
            _ => {}
        }
        drop(file);
        let began = Instant::now();
        while loop_devices_of(image)?.contains(&path) {
            if began.elapsed() > DETACH_TIMEOUT {
                return Err(io::Error::from_raw_os_error(libc::EBUSY));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        detached.push(path);
    }
    Ok(detached)
}

/// The loop devices that `image` is attached to.
pub fn loop_devices_of(image: &Path) -> io::Result<Vec<PathBuf>> {
    let attached = attached_loop_devices().into_iter();
    let those = attached.filter(|(_, file)| file == image);
    Ok(those
        .map(|(number, _)| PathBuf::from(format!("/dev/loop{number}")))
        .collect())
}

/// The attached loop devices by number, each with its backing file.
pub(crate) fn attached_loop_devices() -> Vec<(u32, PathBuf)> {
    let Ok(entries) = std::fs::read_dir("/sys/block") else {
        return Vec::new();
    };
    let number = |name: std::ffi::OsString| name.to_str()?.strip_prefix("loop")?.parse().ok();
    let mut found: Vec<_> = entries
        .flatten()
        .filter_map(|entry| number(entry.file_name()))
        .filter_map(|number: u32| Some((number, backing_file(number)?)))
        .collect();
    found.sort_unstable();
    found
}

/// The backing file of `/dev/loopN`; `None` if it is detached.
fn backing_file(number: u32) -> Option<PathBuf> {
    let text =
        std::fs::read_to_string(format!("/sys/block/loop{number}/loop/backing_file")).ok()?;
    let name = text.trim_end_matches('\n');
    Some(PathBuf::from(
        name.strip_suffix(" (deleted)").unwrap_or(name),
    ))
}

/// The file behind an open loop device, even if it was renamed or removed; `None` if the device is
/// detached or no loop device.
pub(crate) fn file_behind(device: &File) -> Option<FileId> {
    let mut info = MaybeUninit::<LoopInfo64>::zeroed();
    // SAFETY: LOOP_GET_STATUS64 writes one `struct loop_info64`, for which `info` has room; other
    // drivers refuse the request.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64, info.as_mut_ptr()) };
    if result != 0 {
        return None;
    }
    // SAFETY: every byte was zeroed, and the structure consists of numbers.
    let info = unsafe { info.assume_init() };
    // The kernel's huge_encode_dev().
    let low = u32::try_from(info.device & 0xffff_ffff).ok()?;
    Some(FileId {
        device: DeviceNumber {
            major: (low >> 8) & 0xfff,
            minor: (low & 0xff) | ((low >> 12) & 0xf_ff00),
        },
        inode: info.inode,
    })
}

fn free_number(control: &File) -> io::Result<u32> {
    // SAFETY: LOOP_CTL_GET_FREE takes no argument; the descriptor is open for the call.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
    u32::try_from(number).map_err(|_| io::Error::last_os_error())
}

fn configure(device: &File, backing: RawFd, block_bytes: u32, image: &Path) -> io::Result<()> {
    let mut file_name = [0; NAME_BYTES];
    let name = image.as_os_str().as_encoded_bytes();
    let shown = name.len().min(NAME_BYTES - 1);
    file_name[..shown].copy_from_slice(&name[..shown]);
    let config = LoopConfig {
        fd: u32::try_from(backing).map_err(io::Error::other)?,
        block_size: block_bytes,
        info: LoopInfo64 {
            device: 0,
            inode: 0,
            rdevice: 0,
            offset: 0,
            size_limit: 0,
            number: 0,
            encrypt_type: 0,
            encrypt_key_size: 0,
            flags: LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
            file_name,
            crypt_name: [0; NAME_BYTES],
            encrypt_key: [0; 32],
            init: [0; 2],
        },
        reserved: [0; 8],
    };
    // SAFETY: LOOP_CONFIGURE reads one `struct loop_config`: `config`, whose layout is asserted
    // above and which outlives the call.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) };
    check(result)
}

fn clear(device: &File) -> io::Result<()> {
    // SAFETY: LOOP_CLR_FD takes no argument; the descriptor is open for the call.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CLR_FD, 0) };
    check(result)
}
