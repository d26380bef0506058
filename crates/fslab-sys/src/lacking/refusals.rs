//! Functions of what only Linux has.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::MountFlags;
use crate::os::UnixStream;
use crate::{
    Allocation, BlockCounters, DataFile, DeviceNumber, Extent, InUse, ProcessLimit, RenameFlag,
    TransferFlag,
};

/// The refusal of what only Linux has.
pub(crate) fn lacks(what: &str) -> io::Error {
    let text = format!("needs Linux: {what}");
    io::Error::new(io::ErrorKind::Unsupported, text)
}

/// The kernel parameter of guests, which are of Linux.
pub const MEASURED_MEMORY: &str = "needs Linux: a guest's measured memory";

/// Defines functions that refuse.
macro_rules! refused {
    ($($name:ident($($argument:ty),*) -> $returned:ty: $what:literal;)*) => {$(
        #[doc = concat!("Refused: needs Linux, for ", $what, ".")]
        pub fn $name($(_: $argument),*) -> io::Result<$returned> {
            Err(lacks($what))
        }
    )*};
}

#[cfg(windows)]
refused! {
    get_attribute(&std::ffi::CStr, &mut [u8]) -> usize: "extended attributes";
    set_attribute(&std::ffi::CStr, &[u8]) -> (): "extended attributes";
}

refused! {
    allocate_range(&File, Allocation, u64, u64) -> (): "fallocate(2)";
    copy_range(&File, &File, usize) -> usize: "copy_file_range(2)";
    device_numbers(&Path) -> (u32, u32): "device files";
    make_device_node(&Path, (u32, u32)) -> (): "device files";
    read_flagged(&File, &mut [u8], TransferFlag) -> usize: "preadv2(2)";
    write_flagged(&Path, &crate::PageBuffer, TransferFlag) -> usize: "pwritev2(2)";
    rename_with(&Path, &Path, RenameFlag) -> (): "renameat2(2)";
    sync_everything() -> (): "sync(2)";
    unnamed_file(&Path) -> File: "O_TMPFILE";
    advance_wall_clock(Duration) -> (): "a guest's clock";
    bring_up_loopback() -> (): "a guest's network";
    block_address(&File, u32) -> Option<u32>: "FIBMAP";
    create_written(&Path, u64, &dyn Fn() -> bool) -> (): "images for loop devices";
    close_layers_above(DeviceNumber, &str) -> Vec<String>: "layers on block devices";
    detach_loop_of(&Path) -> Vec<PathBuf>: "loop devices";
    loop_devices_of(&Path) -> Vec<PathBuf>: "loop devices";
    device_identity(&File) -> Vec<(&'static str, String)>: "block devices by sysfs";
    drop_caches() -> (): "/proc/sys/vm/drop_caches";
    extents(&File) -> Vec<Extent>: "FIEMAP";
    extents_by_block(&File) -> Vec<Extent>: "FIBMAP";
    file_in_use(&Path) -> Option<InUse>: "users of images by /proc";
    give_content_to_child(&mut Command, &[u8]) -> i32: "guests";
    give_stream_to_child(&mut Command) -> (UnixStream, i32): "guests";
    guest_program() -> PathBuf: "guests";
    lock_memory(i32) -> (): "a guest's locked memory";
    memory_file(u64) -> File: "memfd_create(2)";
    make_fifo(&Path) -> (): "named pipes";
    map_block_bytes(&File) -> u64: "FIGETBSZ";
    mount(&Path, &Path, &str, MountFlags, &str) -> (): "mount(2)";
    move_mount(&Path, &Path) -> (): "mount(2)";
    named_attribute(&Path, &std::ffi::CStr) -> Option<Vec<u8>>: "extended attributes";
    next_used(&File, u64) -> Option<u64>: "memfd_create(2)";
    open_block_device(&Path) -> File: "block devices by sysfs";
    power_off() -> (): "a guest's init";
    read_ahead_kib(&Path) -> u64: "readahead by sysfs";
    read_clock_of_page(&Path) -> (): "virtual time";
    read_held_clock(&Path) -> (): "virtual time";
    remove_named_attribute(&Path, &std::ffi::CStr) -> (): "extended attributes";
    reopen_for_writing(&File) -> File: "files by /proc";
    resident_pages(&File) -> u64: "pages in the page cache by mincore(2)";
    set_pipe_bytes(&File, usize) -> (): "sizes of pipes";
    set_named_attribute(&Path, &std::ffi::CStr, &[u8]) -> (): "extended attributes";
    share_blocks(&DataFile, &DataFile) -> (): "shared blocks (FICLONE)";
    switch_root(&Path) -> (): "a guest's init";
    unmount(&Path) -> Duration: "umount(2)";
    unmount_lazily(&Path) -> (): "umount(2)";
    unshare_descriptors() -> (): "unshare(2)";
    wait_for_any_child() -> (u32, i32): "a guest's init";
    zero_range(&File, u64, u64) -> (): "fallocate(2) of holes";
}

/// Refused: needs Linux, for sendfile(2).
pub fn send_file<S, F>(_socket: S, _file: F, _offset: u64, _count: usize) -> io::Result<usize> {
    Err(lacks("sendfile(2)"))
}

/// Refused: needs Linux, for openat2(2).
pub fn open_to_send<F>(_folder: F, _path: &Path) -> io::Result<File> {
    Err(lacks("openat2(2)"))
}

/// False: memory is locked in guests alone.
pub fn is_memory_locked() -> bool {
    false
}

/// False: virtual time is a guest's.
pub fn is_time_virtual() -> bool {
    false
}

/// `None`: the counter replaces the clock in guests alone.
pub fn counter_frequency() -> Option<u64> {
    None
}

/// Without effect: it is for guests.
pub fn read_clock_by_counter(_frequency: u64) {}

/// Without effect: it is for guests.
pub fn give_to_child(_command: &mut Command, _file: File) -> i32 {
    -1
}

/// Without effect: it is for guests.
pub fn run_on_processor(_command: &mut Command, _number: usize) {}

/// Without effect: it is for guests.
pub fn without_address_randomisation(_command: &mut Command) {}

/// Lets `command` start in `path`.
pub fn work_in(command: &mut Command, _directory: File, path: &Path) {
    command.current_dir(path);
}

/// `None`: the kernel does not tell.
pub fn out_of_memory_kills() -> Option<u64> {
    None
}

/// `None`: limits are not asked for.
pub fn process_limit(_limit: ProcessLimit) -> Option<u64> {
    None
}

/// What a machine lacks for a call to end with this error; `None` for other errors.
pub fn lack_of_machine(errno: i32) -> Option<&'static str> {
    let error = io::Error::from_raw_os_error(errno);
    (error.kind() == io::ErrorKind::OutOfMemory).then_some("memory")
}

/// None: the kernel does not count them.
pub fn run_delays(_threads_max: usize) -> Vec<(u32, u64)> {
    Vec::new()
}

/// None: the table of processes is not read.
pub fn children() -> Vec<u32> {
    Vec::new()
}

/// None: the table of processes is not read.
pub fn children_of(_pid: u32) -> Vec<u32> {
    Vec::new()
}

/// `None`: devices are not known by numbers.
pub fn device_below(_path: &Path) -> Option<DeviceNumber> {
    None
}

/// `None`: devices are not known by numbers.
pub fn requests_in_flight(_device: DeviceNumber) -> Option<u64> {
    None
}

/// The number as text: traces of system calls are Linux's.
pub fn errno_name(number: i32) -> String {
    format!("errno {number}")
}

/// `None`: traces of system calls are Linux's.
pub fn errno_number(_name: &str) -> Option<i32> {
    None
}

/// `None`: traces of system calls are Linux's.
pub fn flag_bits(_words: &str) -> Option<i32> {
    None
}

impl DeviceNumber {
    /// Refused: needs Linux, for block devices by sysfs.
    pub fn of(_path: &Path) -> io::Result<Self> {
        Err(lacks("block devices by sysfs"))
    }

    /// Refused: needs Linux, for block devices by sysfs.
    pub fn holding(_path: &Path) -> io::Result<Self> {
        Err(lacks("block devices by sysfs"))
    }

    /// `None`.
    pub fn kernel_name(self) -> Option<String> {
        None
    }

    /// Refused: needs Linux, for block devices by sysfs.
    pub fn logical_block_bytes(self) -> io::Result<u32> {
        Err(lacks("block devices by sysfs"))
    }

    /// Refused: needs Linux.
    pub fn size_bytes(self) -> io::Result<u64> {
        Err(lacks("block devices by sysfs"))
    }

    /// Refused: needs Linux, for block devices by sysfs.
    pub fn counters(self) -> io::Result<BlockCounters> {
        Err(lacks("block devices by sysfs"))
    }

    /// Refused: needs Linux, for block devices by sysfs.
    pub fn in_use(self, _path: &Path) -> io::Result<Option<InUse>> {
        Err(lacks("users of devices by /proc"))
    }
}
