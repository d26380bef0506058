//! System calls and probes; the only crate with unsafe code, and the only one that knows the
//! platform.
//!
//! Independent of fslab's other crates: parameters and results are paths, numbers and I/O errors.
//!
//! ```text
//!     linux/    everything
//!     windows/  what the venue `dir` needs, with overlapped I/O as the queue
//!     unix/     the same for macOS and FreeBSD
//!     every_platform/ methods that are the same for each platform's type of that name
//!     portable/ what the standard library does, for those without such modules
//!     lacking/  what only Linux has: the same names, which refuse and say why
//! ```
//! [`abilities`] is the table of what each platform has.
#![expect(
    unsafe_code,
    reason = "every system call that needs it stands here and nowhere else"
)]

mod abilities;
mod array_member;
mod calendar;
mod call_operations;
mod data_options;
mod devices;
mod every_platform;
mod extended_state;
mod loading;
mod mount_table;
mod name_buffer;
mod names_reached;
mod page_buffer;
mod processes;
mod rare_calls;
mod ring_options;
mod user_folders;

pub mod os;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
mod lacking;
#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(all(unix, not(target_os = "linux")))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(all(unix, not(target_os = "linux")))]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

pub use abilities::{
    Ability, AbilityRow, CLOCK_NAME, COUNTS_SWITCHES, Platform, QUEUE_ENGINE, QUEUE_REGISTERS,
    abilities, platform_facts,
};
pub use array_member::ArrayMember;
pub use calendar::unix_seconds;
pub use call_operations::{CallFile, DoneOperation, STAMP_BYTES, StoppedOperation};
pub use data_options::{DataFileOptions, FileAdvice, OpenedSync, StreamUse};
pub use devices::{BlockCounters, DeviceNumber, Extent, ExtentFlags, FileSystemRoom, InUse, Mount};
pub use every_platform::{
    TimeLimit, read_at_most, read_named_file, read_named_text, read_regular_file, read_text_file,
};
#[cfg(not(target_os = "linux"))]
pub use every_platform::{sleep_to_second, sleep_until_ns};
pub use extended_state::extended_state_bytes;
pub use loading::{inherited_loading, load_uniformly};
pub use mount_table::parse_mount_table;
pub use name_buffer::NameBuffer;
pub use names_reached::{At, NameEntry, Reached};
pub use page_buffer::PageBuffer;
pub use processes::{
    ConfinedBy, GroupEnd, KernelLine, MachineMemory, ProcessIdentity, ProcessLimit, ProcessStat,
    ProcessorTimes, ResourceUse, Signal, StorageUse,
};
pub use rare_calls::{Allocation, RenameFlag, TransferFlag};
pub use ring_options::{RingCompletion, RingOptions, RingSync, RingTransfer};
pub use user_folders::{USER_FOLDER_VARIABLE, own_program, user_folder};
