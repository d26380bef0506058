//! One trial on this kernel: format, mount, phases with their cache policy, unmount, check.
//!
//! Reads one specification, writes events, prints and decides nothing else. Where it runs, and what
//! its device is, is the venue's affair; what it mounts, it unmounts.
//!
//! ```text
//!     run_trial --> Target (directory | volume | fake) --> stages --> rounds --> phases --> events
//!                     |  mkfs, mount, cold, settle, unmount, check
//! ```

mod ageing;
mod aging_fileset;
mod attachment;
mod cache_warmer;
mod command;
mod confined;
mod counters;
mod disturbances;
mod events;
mod host;
mod kernel_watch;
mod layout;
mod own_formatter;
mod phase;
mod pool;
mod review;
mod round;
mod server;
mod stage;
mod start_state;
mod target;
mod trial;
mod virtual_time;
mod volume;
mod write_back;

pub use events::EventWriter;
pub use trial::run_trial;
