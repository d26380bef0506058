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
mod attachment;
mod command;
mod counters;
mod events;
mod host;
mod layout;
mod phase;
mod pool;
mod population;
mod round;
mod server;
mod stage;
mod target;
mod trial;
mod virtual_time;
mod volume;
mod warmth;

pub use events::EventWriter;
pub use trial::run_trial;
