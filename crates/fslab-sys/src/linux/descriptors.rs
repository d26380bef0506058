//! System calls on numbered open files and on paths below a directory, for replaying a program's
//! calls.
//!
//! The caller assigns the numbers, since a replayed program opens, duplicates and closes as it
//! likes. Short transfers stay short, and a number that is not open gives EBADF, as in the kernel.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::fs::{Mode, OFlags};

use crate::{At, Reached};

/// Descriptor of a number that is not open.
const CLOSED: i32 = -1;

/// Open files by the caller's numbers, and the directory that paths are relative to.
///
/// May be used by several threads. A thread that uses a number while another closes it gets what
/// the kernel would give.
#[derive(Debug)]
pub struct Descriptors {
    root: OwnedFd,
    /// Prefix for truncate(2), which has no variant relative to a directory.
    root_path: Vec<u8>,
    open: Box<[AtomicI32]>,
}

impl Descriptors {
    /// Paths are relative to `root`; numbers are below `count`.
    pub fn below(root: &Path, count: usize) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut root_path = root.as_os_str().as_bytes().to_vec();
        root_path.push(b'/');
        Ok(Self {
            root: rustix::fs::open(root, flags, Mode::empty())?,
            root_path,
            open: (0..count).map(|_| AtomicI32::new(CLOSED)).collect(),
        })
    }

    fn number(&self, file: u32) -> i32 {
        let slot = self.open.get(file as usize);
        slot.map_or(CLOSED, |it| it.load(Ordering::Acquire))
    }

    /// Assigns `file` the descriptor that a call returned.
    fn keep(&self, file: Option<u32>, descriptor: i32) -> io::Result<u64> {
        let descriptor = done(descriptor.into())?;
        let descriptor = i32::try_from(descriptor).map_err(io::Error::other)?;
        let slot = file.and_then(|file| self.open.get(file as usize));
        let replaced = slot.map_or(descriptor, |it| it.swap(descriptor, Ordering::AcqRel));
        if replaced != CLOSED {
            // SAFETY: the descriptor is owned here, and no number refers to it.
            unsafe { libc::close(replaced) };
        }
        Ok(0)
    }

    /// openat(2). If it was expected to fail, `file` is `None` and the file is closed again.
    pub fn open(&self, file: Option<u32>, name: &CStr, flags: i32, mode: u32) -> io::Result<u64> {
        let flags = flags | libc::O_CLOEXEC;
        // SAFETY: the name is a C string that outlives the call.
        let opened = unsafe { libc::openat(self.root.as_raw_fd(), name.as_ptr(), flags, mode) };
        self.keep(file, opened)
    }

    /// close(2).
    pub fn close(&self, file: u32) -> io::Result<u64> {
        let slot = self.open.get(file as usize);
        let descriptor = slot.map_or(CLOSED, |it| it.swap(CLOSED, Ordering::AcqRel));
        // SAFETY: the descriptor is owned here or invalid, and no number refers to it any more.
        done(unsafe { libc::close(descriptor) }.into())
    }

    /// fcntl(2) with F_DUPFD: `to` shares the position of `file`.
    pub fn duplicate(&self, file: u32, to: u32) -> io::Result<u64> {
        // SAFETY: the call takes only numbers.
        let new = unsafe { libc::fcntl(self.number(file), libc::F_DUPFD_CLOEXEC, 0) };
        self.keep(Some(to), new)
    }

    /// read(2) or pread(2).
    #[inline]
    pub fn read(&self, file: u32, into: &mut [u8], at: At) -> io::Result<u64> {
        let (descriptor, start, length) = (self.number(file), into.as_mut_ptr().cast(), into.len());
        let count = match at {
            // SAFETY: the buffer has the length that is passed, and no other owner.
            None => unsafe { libc::read(descriptor, start, length) },
            Some(offset) => {
                let offset = offset.cast_signed();
                // SAFETY: the same.
                unsafe { libc::pread(descriptor, start, length, offset) }
            }
        };
        done(count as i64)
    }

    /// write(2) or pwrite(2).
    #[inline]
    pub fn write(&self, file: u32, data: &[u8], at: At) -> io::Result<u64> {
        let (descriptor, start, length) = (self.number(file), data.as_ptr().cast(), data.len());
        let count = match at {
            // SAFETY: the length passed is that of the data, which outlives the call.
            None => unsafe { libc::write(descriptor, start, length) },
            Some(offset) => {
                let offset = offset.cast_signed();
                // SAFETY: the same.
                unsafe { libc::pwrite(descriptor, start, length, offset) }
            }
        };
        done(count as i64)
    }

    /// lseek(2).
    pub fn seek(&self, file: u32, offset: i64, whence: i32) -> io::Result<u64> {
        // SAFETY: the call takes only numbers.
        done(unsafe { libc::lseek(self.number(file), offset, whence) })
    }

    /// sendfile(2).
    pub fn send(&self, file: u32, at: At, to: u32, length: u64) -> io::Result<u64> {
        let mut offset = at.unwrap_or(0).cast_signed();
        let offset_or_none = match at {
            Some(_) => &raw mut offset,
            None => std::ptr::null_mut(),
        };
        let (from, to) = (self.number(file), self.number(to));
        // SAFETY: the offset is null or outlives the call.
        done(unsafe { libc::sendfile(to, from, offset_or_none, length as usize) } as i64)
    }

    /// copy_file_range(2).
    pub fn copy(&self, file: u32, at: At, to: u32, to_at: At, length: u64) -> io::Result<u64> {
        let mut offsets = [at, to_at].map(|at| at.unwrap_or(0).cast_signed());
        let [from_offset, to_offset] = &mut offsets;
        let or_none = |offset: *mut i64, at: At| {
            if at.is_some() {
                offset
            } else {
                std::ptr::null_mut()
            }
        };
        let (from, target) = (self.number(file), self.number(to));
        let (from_offset, to_offset) = (or_none(from_offset, at), or_none(to_offset, to_at));
        // SAFETY: the offsets are null or outlive the call.
        let count = unsafe {
            libc::copy_file_range(from, from_offset, target, to_offset, length as usize, 0)
        };
        done(count as i64)
    }

    /// fsync(2).
    pub fn fsync(&self, file: u32) -> io::Result<u64> {
        // SAFETY: the call takes only a number.
        done(unsafe { libc::fsync(self.number(file)) }.into())
    }

    /// fdatasync(2).
    pub fn fdatasync(&self, file: u32) -> io::Result<u64> {
        // SAFETY: the call takes only a number.
        done(unsafe { libc::fdatasync(self.number(file)) }.into())
    }

    /// syncfs(2).
    pub fn sync_file_system(&self, file: u32) -> io::Result<u64> {
        // SAFETY: the call takes only a number.
        done(unsafe { libc::syncfs(self.number(file)) }.into())
    }

    /// ftruncate(2).
    pub fn set_length(&self, file: u32, length: u64) -> io::Result<u64> {
        // SAFETY: the call takes only numbers.
        done(unsafe { libc::ftruncate(self.number(file), length.cast_signed()) }.into())
    }

    /// fallocate(2).
    pub fn allocate(&self, file: u32, mode: i32, offset: u64, length: u64) -> io::Result<u64> {
        let (offset, length) = (offset.cast_signed(), length.cast_signed());
        // SAFETY: the call takes only numbers.
        done(unsafe { libc::fallocate(self.number(file), mode, offset, length) }.into())
    }

    /// getdents64(2): fills `buffer` once.
    pub fn list(&self, file: u32, buffer: &mut [u8]) -> io::Result<u64> {
        let (descriptor, start) = (self.number(file), buffer.as_mut_ptr());
        // SAFETY: the buffer has the length that is passed, and no other owner.
        done(unsafe { libc::syscall(libc::SYS_getdents64, descriptor, start, buffer.len()) })
    }

    /// fstat(2), or fstatat(2) for a path.
    pub fn stat(&self, place: Reached<'_>) -> io::Result<u64> {
        let mut status = std::mem::MaybeUninit::<libc::stat>::uninit();
        let into = status.as_mut_ptr();
        let (descriptor, name, flags) = self.reach(place);
        // SAFETY: the name is a C string, `into` points to room for a status, and both outlive the
        // call.
        done(unsafe { libc::fstatat(descriptor, name.as_ptr(), into, flags) }.into())
    }

    /// faccessat(2).
    pub fn access(&self, name: &CStr, mode: i32) -> io::Result<u64> {
        // SAFETY: the name is a C string that outlives the call.
        done(unsafe { libc::faccessat(self.root.as_raw_fd(), name.as_ptr(), mode, 0) }.into())
    }

    /// fchmod(2), or fchmodat(2) for a path.
    pub fn change_mode(&self, place: Reached<'_>, mode: u32) -> io::Result<u64> {
        let status = match place {
            // SAFETY: the call takes only numbers.
            Reached::File(file) => unsafe { libc::fchmod(self.number(file), mode) },
            Reached::Name { name, .. } => {
                // SAFETY: the name is a C string that outlives the call.
                unsafe { libc::fchmodat(self.root.as_raw_fd(), name.as_ptr(), mode, 0) }
            }
        };
        done(status.into())
    }

    /// fchownat(2); `None` keeps the user or group.
    pub fn change_owner(
        &self,
        place: Reached<'_>,
        user: Option<u32>,
        group: Option<u32>,
    ) -> io::Result<u64> {
        let [user, group] = [user, group].map(|id| id.unwrap_or(u32::MAX));
        let (descriptor, name, flags) = self.reach(place);
        // SAFETY: the name is a C string that outlives the call.
        done(unsafe { libc::fchownat(descriptor, name.as_ptr(), user, group, flags) }.into())
    }

    /// utimensat(2): sets both times to now.
    pub fn touch(&self, place: Reached<'_>) -> io::Result<u64> {
        let status = match place {
            Reached::File(file) => {
                // SAFETY: a null pointer sets both times to now.
                unsafe { libc::futimens(self.number(file), std::ptr::null()) }
            }
            Reached::Name { name, .. } => {
                let (root, _, flags) = self.reach(place);
                // SAFETY: as above; the name is a C string that outlives the call.
                unsafe { libc::utimensat(root, name.as_ptr(), std::ptr::null(), flags) }
            }
        };
        done(status.into())
    }

    /// truncate(2).
    pub fn truncate(&self, name: &CStr, length: u64) -> io::Result<u64> {
        let path = CString::new([&self.root_path, name.to_bytes()].concat())?;
        // SAFETY: the path is a C string that outlives the call.
        done(unsafe { libc::truncate(path.as_ptr(), length.cast_signed()) }.into())
    }

    /// readlinkat(2).
    pub fn read_link(&self, name: &CStr) -> io::Result<u64> {
        let mut text = [0_u8; 4096];
        let (root, start, length) = (self.root.as_raw_fd(), text.as_mut_ptr().cast(), text.len());
        // SAFETY: the name is a C string, the length passed is the buffer's, and both outlive the
        // call.
        done(unsafe { libc::readlinkat(root, name.as_ptr(), start, length) } as i64)
    }

    /// mkdirat(2).
    pub fn make_directory(&self, name: &CStr, mode: u32) -> io::Result<u64> {
        // SAFETY: the name is a C string that outlives the call.
        done(unsafe { libc::mkdirat(self.root.as_raw_fd(), name.as_ptr(), mode) }.into())
    }

    /// unlinkat(2) of a file or an empty directory.
    pub fn unlink(&self, name: &CStr, directory: bool) -> io::Result<u64> {
        let flags = if directory { libc::AT_REMOVEDIR } else { 0 };
        // SAFETY: the name is a C string that outlives the call.
        done(unsafe { libc::unlinkat(self.root.as_raw_fd(), name.as_ptr(), flags) }.into())
    }

    /// renameat2(2); renameat(2) without flags.
    pub fn rename(&self, name: &CStr, to: &CStr, flags: i32) -> io::Result<u64> {
        let root = self.root.as_raw_fd();
        let status = if flags == 0 {
            // SAFETY: both names are C strings that outlive the call.
            unsafe { libc::renameat(root, name.as_ptr(), root, to.as_ptr()) }
        } else {
            let flags = flags.cast_unsigned();
            // SAFETY: the same.
            unsafe { libc::renameat2(root, name.as_ptr(), root, to.as_ptr(), flags) }
        };
        done(status.into())
    }

    /// linkat(2).
    pub fn link(&self, name: &CStr, to: &CStr) -> io::Result<u64> {
        let root = self.root.as_raw_fd();
        // SAFETY: both names are C strings that outlive the call.
        done(unsafe { libc::linkat(root, name.as_ptr(), root, to.as_ptr(), 0) }.into())
    }

    /// symlinkat(2).
    pub fn symlink(&self, target: &CStr, name: &CStr) -> io::Result<u64> {
        let root = self.root.as_raw_fd();
        // SAFETY: both are C strings that outlive the call.
        done(unsafe { libc::symlinkat(target.as_ptr(), root, name.as_ptr()) }.into())
    }

    /// Directory, path and flags with which a call of the `at` family refers to `place`.
    fn reach<'a>(&self, place: Reached<'a>) -> (i32, &'a CStr, i32) {
        match place {
            Reached::File(file) => (self.number(file), c"", libc::AT_EMPTY_PATH),
            Reached::Name { name, follow } => {
                let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
                (self.root.as_raw_fd(), name, flags)
            }
        }
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        for file in 0..self.open.len() {
            if let Ok(file) = u32::try_from(file) {
                // Numbers that are not open give EBADF.
                let _ = self.close(file);
            }
        }
    }
}

fn done(returned: i64) -> io::Result<u64> {
    u64::try_from(returned).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{errno_name, flag_bits};

    /// A fresh directory; the caller removes it.
    fn folder(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("fslab-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).expect("makes");
        path
    }

    #[test]
    fn a_duplicate_shares_the_position_and_outlives_the_original() {
        let folder = folder("duplicates");
        let files = Descriptors::below(&folder, 3).expect("opens");
        let flags = flag_bits("O_RDWR|O_CREAT|O_EXCL").expect("known");
        files.open(Some(0), c"a", flags, 0o600).expect("creates");
        assert_eq!(files.write(0, b"0123456789", None).expect("writes"), 10);
        files.duplicate(0, 1).expect("duplicates");
        files.seek(0, 4, 0).expect("seeks");
        files.close(0).expect("closes");
        let mut byte = [0];
        assert_eq!(files.read(1, &mut byte, None).expect("reads"), 1);
        assert_eq!(byte, *b"4");
        assert_eq!(files.read(1, &mut byte, Some(9)).expect("reads"), 1);
        assert_eq!(byte, *b"9");
        let closed = files.read(0, &mut byte, None).expect_err("closed");
        assert_eq!(
            errno_name(closed.raw_os_error().expect("an errno")),
            "EBADF"
        );
        let again = files
            .open(Some(2), c"a", flags, 0o600)
            .expect_err("is there");
        assert_eq!(
            errno_name(again.raw_os_error().expect("an errno")),
            "EEXIST"
        );
        assert_eq!(files.number(2), CLOSED);
        std::fs::remove_dir_all(folder).expect("removes");
    }

    #[test]
    fn names_are_made_moved_and_removed_below_the_folder() {
        let folder = folder("names-below");
        let files = Descriptors::below(&folder, 2).expect("opens");
        let name = |name| Reached::Name {
            name,
            follow: false,
        };
        files.make_directory(c"d", 0o700).expect("makes");
        files.symlink(c"d/x", c"l").expect("links");
        assert_eq!(files.read_link(c"l").expect("reads"), 3);
        files.stat(name(c"l")).expect("is there");
        let dangling = files.stat(Reached::Name {
            name: c"l",
            follow: true,
        });
        assert!(dangling.is_err(), "it points to nothing");
        files.rename(c"l", c"d/l", 0).expect("moves");
        files.unlink(c"d/l", false).expect("removes");
        files
            .open(Some(0), c"d", libc::O_DIRECTORY, 0)
            .expect("opens");
        let mut buffer = [0; 1024];
        assert!(files.list(0, &mut buffer).expect("lists") > 0);
        files.stat(Reached::File(0)).expect("is open");
        files.unlink(c"d", true).expect("removes");
        std::fs::remove_dir(folder).expect("is empty");
    }
}
