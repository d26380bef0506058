//! macOS and FreeBSD: what the venue `dir` needs. The modules of Linux that are of POSIX alone are
//! taken from there.
//!
//! Compiled and linked, not run on either.

#[cfg(target_os = "freebsd")]
mod attributes;
mod beneath;
mod close_files;
mod cpu_use;
mod data_file;
mod directory;
mod ignored_signals;
mod leader_end;
mod machine;
mod process;
mod reaper;

#[cfg(target_os = "macos")]
#[path = "../linux/attributes.rs"]
mod attributes;
#[path = "../linux/child_group.rs"]
mod child_group;
#[path = "../linux/file_name.rs"]
mod file_name;
#[path = "../linux/group_keeper.rs"]
mod group_keeper;
#[path = "../linux/mapping.rs"]
mod mapping;
#[path = "../linux/names.rs"]
mod names;
#[path = "../linux/process_group.rs"]
mod process_group;
#[path = "../linux/random.rs"]
mod random;
#[path = "../linux/remove_tree.rs"]
mod remove_tree;
#[path = "../linux/room.rs"]
mod room;
#[path = "../linux/status.rs"]
mod status;
#[path = "../linux/stop.rs"]
mod stop;
#[path = "../linux/stream.rs"]
mod stream;
#[path = "../linux/trusted_folder.rs"]
mod trusted_folder;
#[path = "../linux/work_folder.rs"]
mod work_folder;

pub use crate::lacking::*;
pub use crate::portable::*;
pub use attributes::{get_attribute, set_attribute};
pub use child_group::ChildGroup;
pub use data_file::DataFile;
pub(crate) use file_name::open_untrusted;
pub use file_name::{file_identity, is_named, open_named, open_regular};
pub use machine::{
    cold_without_buffering, device_of, is_in_memory, monotonic_ns, mounts, page_bytes,
};
pub use mapping::Mapping;
pub use names::{NameDirectory, truncate_path};
pub use process::{
    PLAIN_PATH, boot_ticks, effective_user, host_name, is_superuser, kernel_release,
    kill_with_parent, let_child_inherit, let_children_inherit, processors, signal_if, signal_name,
    terminate_with_parent,
};
pub use process_group::ProcessGroup;
pub use random::{random_bytes, random_name};
pub use remove_tree::remove_tree;
pub use room::available_bytes;
pub use stop::{catch_file_size_limit, on_stop_signal, raise_on_stop_signals};
pub use stream::Stream;
pub use trusted_folder::TrustedFolder;
pub use work_folder::WorkFolder;
