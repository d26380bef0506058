//! macOS and FreeBSD: what the venue `dir` needs. The modules of Linux that are of POSIX alone are
//! taken from there.
//!
//! For FreeBSD compiled and linked, for macOS compiled in part; not run on either.

mod cpu_use;
mod data_file;
mod machine;
mod process;
mod stop;
mod work_folder;

#[path = "../linux/file_name.rs"]
mod file_name;
#[path = "../linux/mapping.rs"]
mod mapping;
#[path = "../linux/process_group.rs"]
mod process_group;
#[path = "../linux/random.rs"]
mod random;
#[path = "../linux/read_file.rs"]
mod read_file;
#[path = "../linux/remove_tree.rs"]
mod remove_tree;
#[path = "../linux/status.rs"]
mod status;
#[path = "../linux/stream.rs"]
mod stream;
#[path = "../linux/trusted_folder.rs"]
mod trusted_folder;

pub use crate::lacking::*;
pub use crate::portable::*;
pub use data_file::DataFile;
pub use file_name::{file_identity, is_named, open_regular};
pub use machine::{
    available_bytes, cold_without_buffering, device_of, is_in_memory, monotonic_ns, mounts,
    page_bytes, sleep_to_second, sleep_until_ns,
};
pub use mapping::Mapping;
pub use process::{
    PLAIN_PATH, boot_ticks, effective_user, host_name, is_superuser, kernel_release,
    kill_with_parent, let_child_inherit, let_children_inherit, processors, signal_if, signal_name,
    terminate_with_parent,
};
pub use process_group::ProcessGroup;
pub use random::{random_bytes, random_name};
pub use read_file::{read_named_text, read_regular_file, read_text_file};
pub use remove_tree::remove_tree;
pub use stop::{catch_file_size_limit, on_stop_signal, raise_on_stop_signals};
pub use stream::Stream;
pub use trusted_folder::TrustedFolder;
pub use work_folder::WorkFolder;
