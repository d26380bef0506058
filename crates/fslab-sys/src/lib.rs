//! System calls and probes; the only crate with unsafe code.
//!
//! Independent of fslab's other crates: parameters and results are paths, numbers and I/O errors.
#![expect(
    unsafe_code,
    reason = "every system call that needs it stands here and nowhere else"
)]

mod atomic_file;
mod backing;
mod block_device;
mod calendar;
mod call_names;
mod child_group;
mod clock;
mod confinement;
mod cpu_use;
mod data_file;
mod descriptors;
mod device_identity;
mod device_users;
mod extended_state;
mod extents;
mod file_name;
mod file_system;
mod group_keeper;
mod kernel_log;
mod landlock;
mod loading;
mod locked_memory;
mod loop_device;
mod loopback;
mod machine_load;
mod mapping;
mod mount_table;
mod mounting;
mod name_buffer;
mod names;
mod page_buffer;
mod process;
mod process_group;
mod process_identity;
mod random;
mod read_file;
mod remove_tree;
mod residency;
mod ring;
mod send_file;
mod shared_counter;
mod space;
mod status;
mod stream;
mod time_limit;
mod trusted_folder;
mod work_folder;
mod worker_process;

pub use atomic_file::{AtomicFile, private_folder, try_create_in, write_atomically};
pub use backing::{device_below, read_ahead_kib, requests_in_flight};
pub use block_device::{BlockCounters, DeviceNumber};
pub use calendar::unix_seconds;
pub use call_names::{errno_name, errno_number, flag_bits};
pub use child_group::{ChildGroup, GroupEnd};
pub use clock::{
    counter_frequency, is_time_virtual, monotonic_ns, read_clock_by_counter, read_clock_of_page,
    read_held_clock, sleep_to_second, sleep_until_ns,
};
pub use confinement::{ConfinedBy, Confinement, HostRoot, work_in};
pub use cpu_use::ResourceUse;
pub use data_file::{DataFile, DataFileOptions, FileAdvice, OpenedSync};
pub use descriptors::{At, Descriptors, Reached};
pub use device_identity::{device_identity, open_block_device};
pub use device_users::{InUse, image_in_use};
pub use extended_state::extended_state_bytes;
pub use extents::{Extent, ExtentFlags, block_address, extents, extents_by_block, map_block_bytes};
pub use file_name::{is_named, open_regular};
pub use file_system::{
    FileSystemRoom, is_in_memory, named_attribute, remove_named_attribute, set_named_attribute,
    share_blocks,
};
pub use kernel_log::{KernelLine, KernelLog};
pub use landlock::WriteLimits;
pub use loading::{inherited_loading, load_uniformly};
pub use locked_memory::{MEASURED_MEMORY, is_memory_locked, lock_memory, unshare_descriptors};
pub use loop_device::{LoopDevice, detach_loop_of};
pub use loopback::bring_up_loopback;
pub use machine_load::{
    MachineMemory, ProcessStat, ProcessorTimes, StorageUse, children, children_of,
    out_of_memory_kills, processes, run_delays,
};
pub use mapping::Mapping;
pub use mount_table::{Mount, mounts, parse_mount_table};
pub use mounting::{
    MountFlags, WriteBackWatch, device_of, drop_caches, mount, move_mount, switch_root,
    sync_file_system, unmount, unmount_lazily,
};
pub use name_buffer::NameBuffer;
pub use names::{NameDirectory, NameEntry, get_attribute, set_attribute, truncate_path};
pub use page_buffer::PageBuffer;
pub use process::{
    PLAIN_PATH, effective_user, host_name, is_superuser, kernel_release, kill_with_parent,
    let_child_inherit, let_children_inherit, power_off, processors, run_on_processor, signal_name,
    terminate_with_parent, wait_for_any_child, without_address_randomisation,
};
pub use process_group::ProcessGroup;
pub use process_identity::{ProcessIdentity, Signal, boot_ticks, signal_if};
pub use random::{random_bytes, random_name};
pub use read_file::{read_named_text, read_regular_file, read_text_file};
pub use remove_tree::remove_tree;
pub use residency::{page_bytes, resident_pages};
pub use ring::{Ring, RingCompletion, RingOptions, RingSync, RingTransfer};
pub use send_file::{open_to_send, send_file};
pub use shared_counter::SharedCounter;
pub use space::{available_bytes, create_written, zero_range};
pub use stream::{Stream, StreamUse};
pub use time_limit::TimeLimit;
pub use trusted_folder::TrustedFolder;
pub use work_folder::WorkFolder;
pub use worker_process::{WorkerProcess, WorkerSide};
