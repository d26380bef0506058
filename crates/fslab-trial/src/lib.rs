//! A trial on this kernel: format, mount, phases with their cache policy, unmount, check.
//!
//! Reads a specification and writes events, nothing else. The venue decides where it runs and
//! prepares its device; the trial unmounts everything it mounts.
//!
//! ```text
//!     run_trial --> Target (directory | volume | fake) --> stages --> rounds --> phases --> events
//!                     |  mkfs, mount, cold, settle, unmount, check
//! ```

mod ageing;
mod aging_fileset;
mod attachment;
mod busy;
mod cache_warmer;
mod call_array;
mod command;
mod confined;
mod counters;
mod dirty_limit;
mod disturbances;
mod drive_buffer;
mod events;
mod host;
mod judging;
mod kernel_watch;
mod layout;
mod network_server;
mod nfs_server;
mod open_stack;
mod own_formatter;
mod phase;
mod pool;
mod rank_link;
mod required_facts;
mod review;
mod round;
mod serve;
mod server;
mod shared_directory;
mod stage;
mod start_state;
mod target;
mod trial;
mod virtual_time;
mod volume;
mod write_back;

pub use events::EventWriter;
pub use judging::ensure_judgeable;
pub use serve::{serve_judgement, serve_trial};
pub use trial::run_trial;
