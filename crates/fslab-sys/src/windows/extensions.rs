//! Extensions of the standard library by their names on Unix.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Names as bytes.
pub trait OsStrExt {
    /// The bytes of its UTF-8, or of the standard library's extension of it.
    fn as_bytes(&self) -> &[u8];
    /// The name of these bytes; U+FFFD, which names no file, if they are no UTF-8.
    fn from_bytes(bytes: &[u8]) -> &Self;
}

impl OsStrExt for OsStr {
    fn as_bytes(&self) -> &[u8] {
        self.as_encoded_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> &Self {
        Self::new(std::str::from_utf8(bytes).unwrap_or("\u{fffd}"))
    }
}

/// Owned names as bytes.
pub trait OsStringExt {
    /// The name of these bytes; what is no UTF-8 in them becomes U+FFFD.
    fn from_vec(bytes: Vec<u8>) -> Self;
    /// Its bytes.
    fn into_vec(self) -> Vec<u8>;
}

impl OsStringExt for OsString {
    fn from_vec(bytes: Vec<u8>) -> Self {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }

    fn into_vec(self) -> Vec<u8> {
        self.into_encoded_bytes()
    }
}

/// Reads and writes at an offset. They move the file's position.
pub trait FileExt {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize>;

    /// Reads until `into` is full.
    ///
    /// # Errors
    /// That of ReadFile; `UnexpectedEof` if the file ends first.
    fn read_exact_at(&self, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !into.is_empty() {
            match self.read_at(into, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => {
                    into = &mut into[count..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }

    /// Writes all of `data`.
    ///
    /// # Errors
    /// That of WriteFile; `WriteZero` if nothing more is taken.
    fn write_all_at(&self, mut data: &[u8], mut offset: u64) -> io::Result<()> {
        while !data.is_empty() {
            match self.write_at(data, offset)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => {
                    data = &data[count..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }
}

impl FileExt for File {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::os::windows::fs::FileExt;
        // ERROR_HANDLE_EOF is the end, not an error.
        match self.seek_read(into, offset) {
            Err(error) if error.raw_os_error() == Some(38) => Ok(0),
            read => read,
        }
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        use std::os::windows::fs::FileExt;
        self.seek_write(data, offset)
    }
}

/// Permissions as a mode.
pub trait PermissionsExt {
    /// 0o444 for a read-only file, 0o666 for others. Whether it is a program is not known: none is.
    fn mode(&self) -> u32;
    /// Read-only if the owner may not write.
    fn set_mode(&mut self, mode: u32);
}

impl PermissionsExt for Permissions {
    fn mode(&self) -> u32 {
        if self.readonly() { 0o444 } else { 0o666 }
    }

    fn set_mode(&mut self, mode: u32) {
        self.set_readonly(mode & 0o200 == 0);
    }
}

/// The mode of new directories.
pub trait DirBuilderExt {
    /// Without effect: access follows from the list that the directory inherits.
    fn mode(&mut self, mode: u32) -> &mut Self;
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, _mode: u32) -> &mut Self {
        self
    }
}

/// Properties of a command's process.
pub trait CommandExt {
    /// Starts it outside of this console's group, so that Ctrl-C does not reach it.
    fn process_group(&mut self, group: i32) -> &mut Command;

    /// Without effect: a command line begins with the program.
    fn arg0(&mut self, name: impl AsRef<OsStr>) -> &mut Command;
}

impl CommandExt for Command {
    fn arg0(&mut self, _name: impl AsRef<OsStr>) -> &mut Command {
        self
    }

    fn process_group(&mut self, _group: i32) -> &mut Command {
        use std::os::windows::process::CommandExt as _;
        self.creation_flags(windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP)
    }
}

/// How a process ended.
pub trait ExitStatusExt {
    /// Always `None`: no process ends by a signal.
    fn signal(&self) -> Option<i32>;
    /// The status of an exit code in the form of wait(2).
    fn from_raw(raw: i32) -> Self;
}

impl ExitStatusExt for ExitStatus {
    fn signal(&self) -> Option<i32> {
        None
    }

    fn from_raw(raw: i32) -> Self {
        let code = (raw >> 8 & 0xff).cast_unsigned();
        std::os::windows::process::ExitStatusExt::from_raw(code)
    }
}

/// A symbolic link at `link` to `target`, which needs a privilege or the developer mode.
pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, link)
}

/// What the metadata of a file say; what they do not say on Windows is 0.
pub trait MetadataExt {
    /// 0o444 or 0o666, as [`PermissionsExt`]; 0o777 for a directory.
    fn mode(&self) -> u32;
    /// Length in bytes.
    fn size(&self) -> u64;
    /// Seconds of the last change.
    fn mtime(&self) -> i64;
    /// Nanoseconds of it.
    fn mtime_nsec(&self) -> i64;

    /// Seconds of the last access.
    fn atime(&self) -> i64;
    /// Nanoseconds of it.
    fn atime_nsec(&self) -> i64;

    /// As `mtime`.
    fn ctime(&self) -> i64 {
        self.mtime()
    }

    /// As `mtime_nsec`.
    fn ctime_nsec(&self) -> i64 {
        self.mtime_nsec()
    }

    /// Not known.
    fn dev(&self) -> u64 {
        0
    }

    /// Not known.
    fn ino(&self) -> u64 {
        0
    }

    /// Not known.
    fn nlink(&self) -> u64 {
        0
    }

    /// Not known.
    fn uid(&self) -> u32 {
        0
    }

    /// Not known.
    fn gid(&self) -> u32 {
        0
    }

    /// Not known.
    fn blocks(&self) -> u64 {
        0
    }
}

impl MetadataExt for std::fs::Metadata {
    fn mode(&self) -> u32 {
        match self.is_dir() {
            true => 0o777,
            false => self.permissions().mode(),
        }
    }

    fn size(&self) -> u64 {
        self.len()
    }

    fn mtime(&self) -> i64 {
        since_1970(self.modified()).as_secs().cast_signed()
    }

    fn mtime_nsec(&self) -> i64 {
        since_1970(self.modified()).subsec_nanos().into()
    }

    fn atime(&self) -> i64 {
        since_1970(self.accessed()).as_secs().cast_signed()
    }

    fn atime_nsec(&self) -> i64 {
        since_1970(self.accessed()).subsec_nanos().into()
    }
}

fn since_1970(time: io::Result<std::time::SystemTime>) -> std::time::Duration {
    let passed = time.map(|at| at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default());
    passed.unwrap_or_default()
}

/// Kinds of files.
pub trait FileTypeExt {
    /// False: no path leads to a block device.
    fn is_block_device(&self) -> bool {
        false
    }
}

impl FileTypeExt for std::fs::FileType {}

/// Refused.
pub fn chown(_path: impl AsRef<Path>, _user: Option<u32>, _group: Option<u32>) -> io::Result<()> {
    Err(crate::lacking::lacks("chown"))
}
