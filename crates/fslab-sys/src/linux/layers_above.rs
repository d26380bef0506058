//! Closes the mappings and arrays that lie on a device.
//!
//! Owns the ioctl of the device mapper that removes a mapping (linux/dm-ioctl.h).

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::status::check;
use crate::{ArrayMember, DeviceNumber};

const CONTROL: &str = "/dev/mapper/control";
/// `_IOWR(0xfd, 4, struct dm_ioctl)`.
const DM_DEV_REMOVE: libc::c_ulong = 0xC138_FD04;
const NAME_BYTES: usize = 128;

/// How long a device may stay busy after its last user has closed it.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Devices on top of each other that are followed.
const DEPTH_MAX: usize = 16;

/// `struct dm_ioctl`.
#[repr(C)]
struct DmIoctl {
    version: [u32; 3],
    data_size: u32,
    data_start: u32,
    target_count: u32,
    open_count: i32,
    flags: u32,
    event_nr: u32,
    padding: u32,
    dev: u64,
    name: [u8; NAME_BYTES],
    uuid: [u8; 129],
    data: [u8; 7],
}

const _: () = assert!(size_of::<DmIoctl>() == 312);

/// Closes every mapping and array on `device`, the upper ones first, and returns their names. All
/// of them must have a name that begins with `prefix`.
///
/// # Errors
/// If one has another name, or stays busy; the upper ones are closed then.
pub fn close_layers_above(device: DeviceNumber, prefix: &str) -> io::Result<Vec<String>> {
    let mut closed = Vec::new();
    close_above(device, prefix, &mut closed, 0)?;
    Ok(closed)
}

fn close_above(
    device: DeviceNumber,
    prefix: &str,
    closed: &mut Vec<String>,
    depth: usize,
) -> io::Result<()> {
    if depth == DEPTH_MAX {
        return Err(io::Error::other(
            "too many devices lie on top of each other",
        ));
    }
    let below = device.kernel_name().unwrap_or_default();
    for holder in holders_of(&below) {
        let Some(number) = number_of(&holder) else {
            continue;
        };
        close_above(number, prefix, closed, depth + 1)?;
        // It may have gone with what lay on it.
        let Some(layer) = LayerAbove::of(&holder, &below)? else {
            continue;
        };
        if !layer.name().starts_with(prefix) {
            let text = format!("{below} is held by {}", layer.name());
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
        }
        layer.close()?;
        closed.push(layer.name().to_owned());
    }
    Ok(())
}

/// A device that lies on another.
enum LayerAbove {
    Mapping { name: String },
    Array { name: String, state: PathBuf },
}

impl LayerAbove {
    /// The layer of the kernel's name `holder` on the device `below`; `None` if it is gone.
    fn of(holder: &str, below: &str) -> io::Result<Option<Self>> {
        let sysfs = Path::new("/sys/class/block").join(holder);
        if let Ok(name) = fs::read_to_string(sysfs.join("dm/name")) {
            let name = name.trim_end().to_owned();
            return Ok(Some(Self::Mapping { name }));
        }
        let state = sysfs.join("md/array_state");
        if state.exists() {
            let member = ArrayMember::on(&Path::new("/dev").join(below))?;
            let name = member.map_or_else(|| holder.to_owned(), |member| member.name);
            return Ok(Some(Self::Array { name, state }));
        }
        match sysfs.exists() {
            false => Ok(None),
            true => Err(io::Error::other(format!(
                "{below} is held by {holder}, neither a mapping nor an array"
            ))),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Mapping { name } | Self::Array { name, .. } => name,
        }
    }

    fn close(&self) -> io::Result<()> {
        let began = Instant::now();
        loop {
            let closed = match self {
                Self::Mapping { name } => remove_mapping(name),
                Self::Array { state, .. } => fs::write(state, "clear"),
            };
            match closed {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return Ok(()),
                Err(error)
                    if error.raw_os_error() == Some(libc::EBUSY)
                        && began.elapsed() < BUSY_TIMEOUT =>
                {
                    thread::sleep(Duration::from_millis(20));
                }
                closed => return closed,
            }
        }
    }
}

fn holders_of(device: &str) -> Vec<String> {
    let folder = Path::new("/sys/class/block").join(device).join("holders");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}

fn number_of(device: &str) -> Option<DeviceNumber> {
    let path = Path::new("/sys/class/block").join(device).join("dev");
    DeviceNumber::parse(fs::read_to_string(path).ok()?.trim())
}

fn remove_mapping(name: &str) -> io::Result<()> {
    let mut request = DmIoctl {
        version: [4, 0, 0],
        data_size: size_of::<DmIoctl>() as u32,
        data_start: 0,
        target_count: 0,
        open_count: 0,
        flags: 0,
        event_nr: 0,
        padding: 0,
        dev: 0,
        name: [0; NAME_BYTES],
        uuid: [0; 129],
        data: [0; 7],
    };
    // The name ends with a zero.
    let room = request.name[..NAME_BYTES - 1].get_mut(..name.len());
    let room = room.ok_or_else(|| io::Error::from_raw_os_error(libc::ENAMETOOLONG))?;
    room.copy_from_slice(name.as_bytes());
    let control = File::options().read(true).write(true).open(CONTROL)?;
    // SAFETY: the kernel reads and writes `data_size` bytes of the structure, which outlives the
    // call.
    check(unsafe { libc::ioctl(control.as_raw_fd(), DM_DEV_REMOVE, &raw mut request) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_holders_has_nothing_to_close() {
        let none = DeviceNumber {
            major: 1,
            minor: 1 << 19,
        };
        let closed = close_layers_above(none, "fslab_").expect("nothing");
        assert!(closed.is_empty());
    }
}
