//! Facts about the machine and the tools, kept with every run and trial.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts of a trial by name: tool versions, the recognised file system, loop settings.
pub type Facts = BTreeMap<String, String>;

/// The fact of a trial that names the kernel's driver which mounted its file system.
pub const DRIVER_FACT: &str = "driver";

/// The fact of a trial that names the file system for which its driver was written, if it is
/// another.
pub const DRIVER_OWNER_FACT: &str = "driver.owner";

/// The fact of a trial that is the size of a block or cluster of its file system, in bytes, as
/// statvfs(3) gives it.
pub const ALLOCATION_UNIT_FACT: &str = "allocation_unit";

/// The fact with the disk that a phase took out of an array.
pub const FAILED_DISK_FACT: &str = "stack.failed_disk";

/// The fact with the bytes of all disks of a stack.
pub const DISK_BYTES_FACT: &str = "stack.disk_bytes";

/// The fact with the bytes of the devices that the file system of a stack has.
pub const STACK_BYTES_FACT: &str = "stack.device_bytes";

/// The fact of a trial that lists the features which mkfs gave its file system.
pub const FEATURES_FACT: &str = "features";

/// Prefix of the facts of a file system in a trial record.
pub const FILE_SYSTEM_FACT: &str = "fs.";

/// The fact whose measurement damages a block below the file system, in a trial record.
pub const DAMAGED_DATA_FACT: &str = "fs.data.damaged";

/// A fact of a file system, which the job `facts` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactDefinition {
    /// Its name, in a trial record after [`FILE_SYSTEM_FACT`].
    pub name: &'static str,
    /// What it says, as the label of a value.
    pub about: &'static str,
    /// Whether it depends on the size of the device.
    pub of_size: bool,
}

const fn fact(name: &'static str, about: &'static str) -> FactDefinition {
    FactDefinition {
        name,
        about,
        of_size: false,
    }
}

const fn fact_of_size(name: &'static str, about: &'static str) -> FactDefinition {
    FactDefinition {
        of_size: true,
        ..fact(name, about)
    }
}

/// All facts of a file system, in the order in which they are shown.
pub const FILE_SYSTEM_FACTS: &[FactDefinition] = &[
    fact("driver.maintenance", "maintenance of its driver"),
    fact("name.longest", "longest name"),
    fact("name.beyond", "a longer name"),
    fact("name.case", "upper and lower case"),
    fact("name.invalid_utf8", "a name that is no UTF-8"),
    fact("name.decomposed", "a name with a combining accent"),
    fact(
        "name.beyond_bmp",
        "a name beyond the basic plane of Unicode",
    ),
    fact("name.final_dot", "a name that ends with a dot"),
    fact("name.final_blank", "a name that ends with a blank"),
    fact("name.colon", "a name with a colon"),
    fact("directory.order", "order of a listing"),
    fact_of_size("directory.files", "files in one directory"),
    fact_of_size("directory.directories", "directories in one directory"),
    fact("time.modified", "granularity of the modification time"),
    fact("time.accessed", "granularity of the access time"),
    fact("time.created", "creation time"),
    fact("time.first", "earliest time"),
    fact("time.last", "latest time"),
    fact("time.changed", "times that a remount changes"),
    fact_of_size("file.largest_offset", "largest offset that lseek(2) takes"),
    fact_of_size("file.largest_write", "largest offset that pwrite(2) takes"),
    fact_of_size("space.used_when_empty", "space used when empty"),
    fact_of_size("space.files", "files that fit"),
    fact_of_size("space.one_byte", "space of a file of one byte"),
    fact("mode.special", "set-user-ID bit"),
    fact("node.device", "device files"),
    fact(
        "data.appended",
        "data appended after a sync, after a remount",
    ),
    fact("data.damaged", "reading a block with a flipped bit"),
    fact("call.fallocate", "fallocate(2)"),
    fact("call.renameat2", "flags of renameat2(2)"),
    fact("call.o_tmpfile", "O_TMPFILE"),
    fact("call.copy_file_range", "copy_file_range(2)"),
    fact("call.preadv2", "flags of preadv2(2)"),
    fact("call.pwritev2", "flags of pwritev2(2)"),
    fact("call.fiemap", "FIEMAP"),
    fact("call.fsync_directory", "fsync(2) of a directory"),
    fact("direct.read", "reading with O_DIRECT"),
    fact("direct.write", "writing with O_DIRECT"),
    fact("sync.fsync", "fsync(2) sends"),
    fact("sync.fsync_directory", "fsync(2) of a directory sends"),
    fact("sync.o_sync", "a write with O_SYNC sends"),
    fact("sync.syncfs", "syncfs(2) sends"),
    fact("sync.sync", "sync(2) sends"),
    fact("write.create", "creating a file sends at once"),
    fact("write.rename", "renaming sends at once"),
    fact("write.unlink", "unlink(2) sends at once"),
    fact("write.block", "appending 4 KiB sends at once"),
    fact("write.data", "writing 1 MiB sends at once"),
    fact("write.read", "reading a file sends, for its access time"),
    fact(
        "sync_option.create",
        "creating a file sends, mounted with the option sync",
    ),
    fact(
        "sync_option.rename",
        "renaming sends, mounted with the option sync",
    ),
    fact(
        "sync_option.unlink",
        "unlink(2) sends, mounted with the option sync",
    ),
    fact(
        "sync_option.block",
        "appending 4 KiB sends, mounted with the option sync",
    ),
];

/// The machine of a run. `None` means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineFacts {
    /// The host's name.
    pub host: Option<String>,
    /// Operating system, as /etc/os-release names it.
    pub os: Option<String>,
    /// Kernel release and version.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Processors online.
    pub cpu_count: Option<u32>,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Architecture, such as x86_64.
    pub architecture: Option<String>,
    /// Hypervisor, if the machine is a guest.
    pub hypervisor: Option<String>,
}
