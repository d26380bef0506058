//! Clock, memory, and file systems of the machine.

use std::ffi::CStr;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::os::OsStringExt;
use crate::{MachineMemory, Mount};

/// Nanoseconds of a clock.
pub(super) fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec that outlives the call.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert!(status == 0, "the clock {clock} cannot be read");
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Nanoseconds of CLOCK_MONOTONIC since an arbitrary point.
#[inline]
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Whether unbuffered reads are cold was not examined on a machine.
pub fn cold_without_buffering() -> Result<(), &'static str> {
    Err("whether unbuffered reads find pages that are cached is not examined here")
}

/// The page size in bytes.
pub fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// True if the file system of `path` is in memory alone: tmpfs.
pub fn is_in_memory(path: &Path) -> io::Result<bool> {
    let path = std::fs::canonicalize(path)?;
    let above = |mount: &Mount| path.starts_with(&mount.mount_point);
    let mounts = mounts()?.into_iter().filter(above);
    let nearest = mounts.max_by_key(|mount| mount.mount_point.components().count());
    Ok(nearest.is_some_and(|mount| mount.fs_type == "tmpfs"))
}

/// The device number of the file system that holds `path`.
pub fn device_of(path: &Path) -> io::Result<u64> {
    Ok(std::fs::metadata(path)?.dev())
}

/// All mounts, from getmntinfo(3).
pub fn mounts() -> io::Result<Vec<Mount>> {
    let mut table: *mut libc::statfs = std::ptr::null_mut();
    // SAFETY: the call stores the address of a table that the library owns.
    let count = unsafe { libc::getmntinfo(&raw mut table, libc::MNT_NOWAIT) };
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the table has that many entries, and stays until the next call of this function's.
    let entries = unsafe { std::slice::from_raw_parts(table, count) };
    let text = |field: &[libc::c_char]| {
        // SAFETY: the kernel ends each text with zero inside of its field.
        let text = unsafe { CStr::from_ptr(field.as_ptr()) };
        std::ffi::OsString::from_vec(text.to_bytes().to_vec())
    };
    let mut mounts: Vec<Mount> = entries
        .iter()
        .enumerate()
        .map(|(number, entry)| Mount {
            id: number as u64,
            parent: number as u64,
            device_number: text(&entry.f_mntfromname).to_string_lossy().into_owned(),
            root: "/".into(),
            mount_point: PathBuf::from(text(&entry.f_mntonname)),
            fs_type: text(&entry.f_fstypename).to_string_lossy().into_owned(),
            source: text(&entry.f_mntfromname).to_string_lossy().into_owned(),
            options: Vec::new(),
        })
        .collect();
    for place in 0..mounts.len() {
        let at = &mounts[place].mount_point;
        let above = mounts.iter().filter(|it| it.mount_point != *at);
        let above = above.filter(|it| at.starts_with(&it.mount_point));
        let nearest = above.max_by_key(|it| it.mount_point.components().count());
        if let Some(parent) = nearest.map(|it| it.id) {
            mounts[place].parent = parent;
        }
    }
    Ok(mounts)
}

impl MachineMemory {
    /// The memory; what is available is not asked. `None` if the kernel does not tell.
    pub fn now() -> Option<Self> {
        let name = if cfg!(target_os = "macos") {
            c"hw.memsize"
        } else {
            c"hw.physmem"
        };
        let mut bytes = 0_u64;
        let mut length = size_of::<u64>();
        // SAFETY: the name is a C string; the variable outlives the call, and its length is passed.
        let status = unsafe {
            libc::sysctlbyname(
                name.as_ptr(),
                (&raw mut bytes).cast(),
                &raw mut length,
                std::ptr::null_mut(),
                0,
            )
        };
        (status == 0).then_some(Self {
            total_bytes: bytes,
            available_bytes: None,
        })
    }
}
