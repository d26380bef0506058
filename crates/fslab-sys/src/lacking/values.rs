//! Types of what only Linux has.

use std::ffi::CStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::lacks;
use crate::{At, ConfinedBy, KernelLine, Reached};

/// A loop device: never made.
#[derive(Debug)]
pub enum LoopDevice {}

impl LoopDevice {
    /// Refused.
    pub fn attach(_image: &Path, _block_bytes: u32) -> io::Result<Self> {
        Err(lacks("loop devices"))
    }

    pub fn path(&self) -> &Path {
        match *self {}
    }
}

/// The kernel's log, which cannot be read.
#[derive(Debug)]
pub struct KernelLog(io::Error);

impl KernelLog {
    /// The refusal.
    pub fn mark() -> Self {
        Self(lacks("the kernel's log by /dev/kmsg"))
    }

    /// The refusal.
    pub fn from_start() -> Self {
        Self::mark()
    }

    /// Why the log cannot be read.
    pub fn refusal(&self) -> Option<&io::Error> {
        Some(&self.0)
    }

    /// False.
    pub fn has_gaps(&self) -> bool {
        false
    }

    /// None.
    pub fn since(&mut self) -> Vec<KernelLine> {
        Vec::new()
    }
}

/// Limits of writing by Landlock: never made.
#[derive(Debug)]
pub enum WriteLimits {}

impl WriteLimits {
    /// `None`.
    pub fn new() -> io::Result<Option<Self>> {
        Ok(None)
    }

    pub fn allow_below(&mut self, _folder: &Path) -> io::Result<()> {
        match *self {}
    }

    pub fn allow_writing(&mut self, _path: &Path) -> io::Result<()> {
        match *self {}
    }

    pub fn apply(self, _command: &mut Command) {
        match self {}
    }
}

/// A separate root for threads: never made.
#[derive(Clone, Debug)]
pub enum HostRoot {}

impl HostRoot {
    /// Refused.
    pub fn find() -> io::Result<Self> {
        Err(lacks("a separate root for threads"))
    }

    pub fn confined_by(&self) -> ConfinedBy {
        match *self {}
    }

    pub fn confine<T>(&self, _: &Path, _: impl FnOnce(&Confinement) -> T) -> io::Result<T> {
        match *self {}
    }
}

/// A tree that is the root of threads: never made.
#[derive(Clone, Debug)]
pub enum Confinement {}

impl Confinement {
    pub fn outer_path(&self, _inside: &Path) -> PathBuf {
        match *self {}
    }

    pub fn inside<T>(&self, _work: impl FnOnce() -> T) -> io::Result<T> {
        match *self {}
    }

    pub fn outside<T>(&self, _work: impl FnOnce() -> T) -> T {
        match *self {}
    }
}

/// Numbered descriptors of a replayed trace: never made.
#[derive(Debug)]
pub enum Descriptors {}

/// Defines methods that are never called.
macro_rules! never {
    ($($name:ident($($argument:ty),*);)*) => {
        impl Descriptors {
            /// Refused.
            pub fn below(_root: &Path, _count: usize) -> io::Result<Self> {
                Err(lacks("replayed system calls"))
            }

            $(
                pub fn $name(&self $(, _: $argument)*) -> io::Result<u64> {
                    match *self {}
                }
            )*
        }
    };
}

never! {
    open(Option<u32>, &CStr, i32, u32);
    close(u32);
    duplicate(u32, u32);
    read(u32, &mut [u8], At);
    write(u32, &[u8], At);
    seek(u32, i64, i32);
    send(u32, At, u32, u64);
    copy(u32, At, u32, At, u64);
    fsync(u32);
    fdatasync(u32);
    sync_file_system(u32);
    set_length(u32, u64);
    allocate(u32, i32, u64, u64);
    list(u32, &mut [u8]);
    stat(Reached<'_>);
    access(&CStr, i32);
    change_mode(Reached<'_>, u32);
    change_owner(Reached<'_>, Option<u32>, Option<u32>);
    touch(Reached<'_>);
    truncate(&CStr, u64);
    read_link(&CStr);
    make_directory(&CStr, u32);
    unlink(&CStr, bool);
    rename(&CStr, &CStr, i32);
    link(&CStr, &CStr);
    symlink(&CStr, &CStr);
}
