//! Calls that many file systems refuse, for probes of what a driver has.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{CWD, FallocateFlags, FileType, Mode, OFlags, RenameFlags};

use crate::{Allocation, PageBuffer, RenameFlag, TransferFlag};

/// fallocate(2).
///
/// # Errors
/// That of fallocate(2): EOPNOTSUPP if the file system has no such mode.
pub fn allocate_range(file: &File, how: Allocation, offset: u64, length: u64) -> io::Result<()> {
    let flags = match how {
        Allocation::Plain => FallocateFlags::empty(),
        Allocation::KeepSize => FallocateFlags::KEEP_SIZE,
        Allocation::PunchHole => FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
        Allocation::ZeroRange => FallocateFlags::ZERO_RANGE,
        Allocation::CollapseRange => FallocateFlags::COLLAPSE_RANGE,
        Allocation::InsertRange => FallocateFlags::INSERT_RANGE,
    };
    Ok(rustix::fs::fallocate(file, flags, offset, length)?)
}

/// renameat2(2) with a flag.
///
/// # Errors
/// That of renameat2(2): EINVAL if the file system does not know the flag.
pub fn rename_with(from: &Path, to: &Path, flag: RenameFlag) -> io::Result<()> {
    let flags = match flag {
        RenameFlag::NoReplace => RenameFlags::NOREPLACE,
        RenameFlag::Exchange => RenameFlags::EXCHANGE,
        RenameFlag::Whiteout => RenameFlags::WHITEOUT,
    };
    Ok(rustix::fs::renameat_with(CWD, from, CWD, to, flags)?)
}

/// A file without a name in `directory`, by O_TMPFILE.
///
/// # Errors
/// That of open(2): EOPNOTSUPP if the file system has none.
pub fn unnamed_file(directory: &Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    Ok(rustix::fs::open(directory, flags, mode)?.into())
}

/// Copies up to `length` bytes from the begin of one file to the begin of another by
/// copy_file_range(2). Returns the bytes copied.
///
/// # Errors
/// That of copy_file_range(2): EINVAL if the file system has no way to do it.
pub fn copy_range(from: &File, to: &File, length: usize) -> io::Result<usize> {
    let (mut read_at, mut write_at) = (0, 0);
    let (read_at, write_at) = (Some(&mut read_at), Some(&mut write_at));
    Ok(rustix::fs::copy_file_range(
        from, read_at, to, write_at, length,
    )?)
}

/// Reads by preadv2(2) with a flag, from the begin of `file`.
///
/// # Errors
/// That of preadv2(2): EOPNOTSUPP if the file system does not know the flag, EAGAIN of
/// [`TransferFlag::NoWait`] where it would wait.
pub fn read_flagged(file: &File, buffer: &mut [u8], flag: TransferFlag) -> io::Result<usize> {
    let parts = [libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    }];
    // SAFETY: the part is the buffer, which outlives the call.
    let read = unsafe { libc::preadv2(file.as_raw_fd(), parts.as_ptr(), 1, 0, flag.bits()) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

/// Writes by pwritev2(2) with a flag, at the begin of the file at `path`, which is opened with
/// O_DIRECT for [`TransferFlag::Atomic`].
///
/// # Errors
/// Those of open(2) and pwritev2(2): EOPNOTSUPP if the file system does not know the flag.
pub fn write_flagged(path: &Path, buffer: &PageBuffer, flag: TransferFlag) -> io::Result<usize> {
    let direct = match flag {
        TransferFlag::Atomic => OFlags::DIRECT,
        _ => OFlags::empty(),
    };
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | direct;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let parts = [libc::iovec {
        iov_base: buffer.as_ptr().cast_mut().cast(),
        iov_len: buffer.len(),
    }];
    // SAFETY: the part is the buffer, which outlives the call and is only read.
    let written = unsafe { libc::pwritev2(file.as_raw_fd(), parts.as_ptr(), 1, 0, flag.bits()) };
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}

impl TransferFlag {
    fn bits(self) -> libc::c_int {
        // include/uapi/linux/fs.h; not all are known to libc.
        match self {
            Self::DataSync => 0x02,
            Self::Sync => 0x04,
            Self::NoWait => 0x08,
            Self::Append => 0x10,
            Self::NoAppend => 0x20,
            Self::Atomic => 0x40,
            Self::DontCache => 0x80,
        }
    }
}

/// Creates a character device.
///
/// # Errors
/// That of mknod(2): EPERM if the file system has no such files.
pub fn make_device_node(path: &Path, (major, minor): (u32, u32)) -> io::Result<()> {
    let device = rustix::fs::makedev(major, minor);
    let mode = Mode::RUSR | Mode::WUSR;
    Ok(rustix::fs::mknodat(
        CWD,
        path,
        FileType::CharacterDevice,
        mode,
        device,
    )?)
}

/// Major and minor number of the device file at `path`.
///
/// # Errors
/// That of lstat(2).
pub fn device_numbers(path: &Path) -> io::Result<(u32, u32)> {
    let device = rustix::fs::lstat(path)?.st_rdev;
    Ok((rustix::fs::major(device), rustix::fs::minor(device)))
}

/// sync(2): writes back all file systems.
pub fn sync_everything() -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}
