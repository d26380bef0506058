//! Windows: what the venue `dir` needs, by the names that the rest of fslab uses.
//!
//! Paths are those of Win32. Cache state and sync strength are named by their flags: a file opened
//! `direct` has FILE_FLAG_NO_BUFFERING, one opened with O_DSYNC FILE_FLAG_WRITE_THROUGH, and every
//! sync is FlushFileBuffers, which includes the device's cache.

mod child_group;
mod clock;
mod data_file;
pub(crate) mod extensions;
mod files;
mod mapping;
mod names;
mod process;
mod process_group;
mod ring;
mod room;
pub(crate) mod sockets;
mod stop;
mod stream;
mod text;

pub use crate::lacking::*;
pub use crate::portable::*;
pub use child_group::ChildGroup;
pub use clock::monotonic_ns;
pub use data_file::DataFile;
pub use files::{
    TrustedFolder, WorkFolder, file_identity, is_named, open_named, open_regular, remove_tree,
};
pub(crate) use files::{open_folder, open_untrusted};
pub use mapping::Mapping;
pub use names::{NameDirectory, truncate_path};
pub use process::{
    PLAIN_PATH, boot_ticks, cold_without_buffering, effective_user, host_name, is_superuser,
    kernel_release, kill_with_parent, let_child_inherit, let_children_inherit, processors,
    random_bytes, random_name, signal_if, signal_name, terminate_with_parent,
};
pub use process_group::ProcessGroup;
pub use ring::Ring;
pub use room::{available_bytes, device_of, is_in_memory, mounts, page_bytes};
pub use stop::{catch_file_size_limit, on_stop_signal, raise_on_stop_signals};
pub use stream::Stream;
