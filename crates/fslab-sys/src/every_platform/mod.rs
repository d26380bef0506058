//! What is the same on every platform of a type whose system calls are each platform's.

mod mapping;
mod process_group;
mod read_file;
// The platforms with a queue.
#[cfg(any(target_os = "linux", windows))]
mod ring;
mod sync_strength;
mod time_limit;

pub use read_file::{read_named_text, read_regular_file, read_text_file};
pub use time_limit::TimeLimit;
