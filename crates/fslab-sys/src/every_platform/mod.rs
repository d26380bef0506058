//! What is the same on every platform of a type whose system calls are each platform's.

mod kept_output;
mod mapping;
mod process_group;
mod read_file;
// The platforms with a queue.
#[cfg(any(target_os = "linux", windows))]
mod ring;
#[cfg(unix)]
mod signal;
#[cfg(not(target_os = "linux"))]
mod sleep;
mod sync_strength;
mod time_limit;

pub(crate) use kept_output::KeptOutput;
pub use read_file::{
    read_at_most, read_named_file, read_named_text, read_regular_file, read_text_file,
};
#[cfg(not(target_os = "linux"))]
pub use sleep::{sleep_to_second, sleep_until_ns};
pub use time_limit::TimeLimit;
