//! Volumes: their room, their file systems, and writing back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    GetDiskFreeSpaceExW, GetDiskFreeSpaceW, GetLogicalDrives, GetVolumeInformationW,
};
use windows_sys::Win32::System::SystemInformation::{
    GetSystemInfo, GlobalMemoryStatusEx, MEMORYSTATUSEX, SYSTEM_INFO,
};

use super::text::{check, narrow, wide};
use crate::{FileSystemRoom, MachineMemory, Mount};

impl FileSystemRoom {
    /// Space of the volume of the directory `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let path = folder(path)?;
        let name = wide(&path);
        let (mut available, mut total, mut free) = (0, 0, 0);
        // SAFETY: the name ends with zero, and the variables outlive the call.
        check(unsafe {
            GetDiskFreeSpaceExW(
                name.as_ptr(),
                &raw mut available,
                &raw mut total,
                &raw mut free,
            )
        })?;
        let root = root_of(&path);
        let name = wide(&root);
        let (mut sectors, mut bytes, mut unused, mut all) = (0, 0, 0, 0);
        // SAFETY: the name ends with zero, and the variables outlive the call.
        check(unsafe {
            GetDiskFreeSpaceW(
                name.as_ptr(),
                &raw mut sectors,
                &raw mut bytes,
                &raw mut unused,
                &raw mut all,
            )
        })?;
        Ok(Self {
            block_bytes: u64::from(sectors) * u64::from(bytes),
            total_bytes: total,
            free_bytes: free,
            available_bytes: available,
            free_files: None,
            name_bytes_max: volume(&root)?.name_length_max.into(),
        })
    }
}

/// The directory with its last backslash, as the calls want it; of a file its directory.
fn folder(path: &Path) -> io::Result<PathBuf> {
    let real = fs::canonicalize(path)?;
    let real = match real.is_dir() {
        true => real,
        false => real.parent().map(Path::to_owned).unwrap_or_default(),
    };
    Ok(real.join(""))
}

/// The root of the volume that a canonical path is on.
fn root_of(path: &Path) -> PathBuf {
    let parts = path.components().take(2);
    parts.collect::<PathBuf>().join("")
}

/// What a volume says of itself.
struct Volume {
    fs_type: String,
    serial: u32,
    name_length_max: u32,
}

fn volume(root: &Path) -> io::Result<Volume> {
    let root = wide(root);
    let (mut serial, mut name_length_max, mut flags) = (0, 0, 0);
    let mut fs_type = [0; 64];
    // SAFETY: the name ends with zero; the variables and the buffer outlive the call, and the
    // buffer's length is passed.
    check(unsafe {
        GetVolumeInformationW(
            root.as_ptr(),
            std::ptr::null_mut(),
            0,
            &raw mut serial,
            &raw mut name_length_max,
            &raw mut flags,
            fs_type.as_mut_ptr(),
            fs_type.len() as u32,
        )
    })?;
    Ok(Volume {
        fs_type: narrow(&fs_type).to_lowercase(),
        serial,
        name_length_max,
    })
}

/// The volumes with a letter.
pub fn mounts() -> io::Result<Vec<Mount>> {
    // SAFETY: the call takes nothing.
    let drives = unsafe { GetLogicalDrives() };
    let letters = (b'A'..=b'Z').filter(|letter| drives >> (letter - b'A') & 1 == 1);
    let found = letters.filter_map(|letter| {
        let drive = format!("{}:", letter as char);
        let volume = volume(Path::new(&format!("{drive}\\"))).ok()?;
        let id = u64::from(letter);
        Some(Mount {
            id,
            parent: id,
            device_number: format!("{}:{:08x}", letter as char, volume.serial),
            root: "\\".into(),
            // As canonical paths begin.
            mount_point: format!("\\\\?\\{drive}\\").into(),
            fs_type: volume.fs_type,
            source: drive,
            options: Vec::new(),
        })
    });
    Ok(found.collect())
}

/// Bytes that this user may still write to the volume of `path`.
pub fn available_bytes(path: &Path) -> io::Result<u64> {
    FileSystemRoom::of(path).map(|room| room.available_bytes)
}

/// False: no file system of Windows is in memory alone.
pub fn is_in_memory(_path: &Path) -> io::Result<bool> {
    Ok(false)
}

/// The serial number of the volume that holds `path`.
pub fn device_of(path: &Path) -> io::Result<u64> {
    Ok(volume(&root_of(&folder(path)?))?.serial.into())
}

/// The page size in bytes.
pub fn page_bytes() -> usize {
    let mut info = SYSTEM_INFO::default();
    // SAFETY: the structure outlives the call.
    unsafe { GetSystemInfo(&raw mut info) };
    info.dwPageSize as usize
}

impl MachineMemory {
    /// The memory now; `None` if the system does not tell.
    pub fn now() -> Option<Self> {
        let mut memory = MEMORYSTATUSEX {
            dwLength: size_of::<MEMORYSTATUSEX>() as u32,
            ..MEMORYSTATUSEX::default()
        };
        // SAFETY: the structure outlives the call and has its own size.
        check(unsafe { GlobalMemoryStatusEx(&raw mut memory) }).ok()?;
        Some(Self {
            total_bytes: memory.ullTotalPhys,
            available_bytes: Some(memory.ullAvailPhys),
        })
    }
}
