//! Linux: everything that fslab does.

mod atomic_file;
mod attributes;
mod backing;
mod beneath;
mod block_device;
mod call_array;
mod call_batch;
mod call_names;
mod child_files;
mod child_group;
mod clock;
mod close_files;
mod confinement;
mod cpu_use;
mod data_file;
mod descriptors;
mod device_identity;
mod device_users;
mod directory;
mod extents;
mod fifo;
mod file_name;
mod file_system;
mod group_keeper;
mod guest_program;
mod ignored_signals;
mod kernel_log;
mod landlock;
mod layers_above;
mod leader_end;
mod limits;
mod locked_memory;
mod loop_device;
mod loopback;
mod machine_load;
mod mapping;
mod medium;
mod mounting;
mod names;
mod output_folder;
mod process;
mod process_group;
mod process_identity;
mod random;
mod rare_calls;
mod reaper;
mod remove_tree;
mod residency;
mod ring;
mod room;
mod send_file;
mod shared_counter;
mod space;
mod status;
mod stop;
mod stream;
mod time_limit;
mod trusted_folder;
mod work_folder;
mod worker_process;

// What macOS and FreeBSD have in their place, where it runs here, too.
#[cfg(test)]
#[path = "../unix/leader_end.rs"]
mod unix_leader_end;
#[cfg(test)]
#[path = "../unix/reaper.rs"]
mod unix_reaper;

pub use atomic_file::{AtomicFile, private_folder, try_create_in, write_atomically};
pub use attributes::{get_attribute, set_attribute};
pub use backing::{device_below, read_ahead_kib, requests_in_flight};
pub use call_array::{
    CallArray, TakenCallArray, call_arrays_made, has_call_array, open_call_array,
    use_call_array_without_driver,
};
pub use call_batch::{CallBatch, OpenedByCall};
pub use call_names::{errno_name, errno_number, flag_bits};
pub use child_files::{
    give_content_to_child, give_stream_to_child, give_to_child, memory_file, next_used,
};
pub use child_group::ChildGroup;
pub use clock::{
    advance_wall_clock, counter_frequency, is_time_virtual, monotonic_ns, read_clock_by_counter,
    read_clock_of_page, read_held_clock, sleep_to_second, sleep_until_ns,
};
pub use confinement::{Confinement, HostRoot, work_in};
pub use data_file::DataFile;
pub use descriptors::Descriptors;
pub use device_identity::{device_identity, open_block_device};
pub use device_users::file_in_use;
pub use extents::{block_address, extents, extents_by_block, map_block_bytes};
pub use fifo::{make_fifo, reopen_for_writing, set_pipe_bytes};
pub(crate) use file_name::open_untrusted;
pub use file_name::{file_identity, is_named, open_named, open_regular};
pub use file_system::{
    is_in_memory, named_attribute, remove_named_attribute, set_named_attribute, share_blocks,
};
pub use guest_program::guest_program;
pub use kernel_log::KernelLog;
pub use landlock::WriteLimits;
pub use layers_above::close_layers_above;
pub use limits::{lack_of_machine, process_limit};
pub use locked_memory::{MEASURED_MEMORY, is_memory_locked, lock_memory, unshare_descriptors};
pub use loop_device::{LoopDevice, detach_loop_of, loop_devices_of};
pub use loopback::bring_up_loopback;
pub use machine_load::{children, children_of, out_of_memory_kills, processes, run_delays};
pub use mapping::Mapping;
pub use medium::memory_below;
pub use mounting::{
    MountFlags, WriteBackWatch, device_of, drop_caches, mount, mounts, move_mount, switch_root,
    sync_file_system, unmount, unmount_lazily,
};
pub use names::{NameDirectory, truncate_path};
pub use output_folder::OutputFolder;
pub use process::{
    PLAIN_PATH, effective_user, host_name, is_superuser, kernel_release, kill_with_parent,
    let_child_inherit, let_children_inherit, power_off, processors, run_on_processor, signal_name,
    terminate_with_parent, wait_for_any_child, without_address_randomisation,
};
pub use process_group::ProcessGroup;
pub use process_identity::{boot_ticks, signal_if};
pub use random::{random_bytes, random_name};
pub use rare_calls::{
    allocate_range, copy_range, device_numbers, make_device_node, read_flagged, rename_with,
    sync_everything, unnamed_file, write_flagged,
};
pub use remove_tree::remove_tree;
pub use residency::{cold_without_buffering, page_bytes, resident_pages};
pub use ring::Ring;
pub use room::available_bytes;
pub use send_file::{open_to_send, send_file};
pub use shared_counter::SharedCounter;
pub use space::{create_written, zero_range};
pub use stop::{catch_file_size_limit, on_stop_signal, raise_on_stop_signals};
pub use stream::Stream;
pub use trusted_folder::TrustedFolder;
pub use work_folder::WorkFolder;
pub use worker_process::{WorkerProcess, WorkerSide};
