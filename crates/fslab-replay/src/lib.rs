//! The workload `replay`: creates the files of a trace, issues its operations in an order that
//! gives the same result, and compares the outcome with the recording.
//!
//! ```text
//!     source --> trace, schedule
//!     setup       creates the initial files                     (not timed)
//!     script      the operations as system calls
//!     player      a thread for each recorded one --> syscalls   (timed)
//!     final_state compares the final files                      (not timed)
//! ```

mod deviations;
mod final_state;
mod gate;
mod job;
mod parameters;
mod phase;
mod player;
mod prepared_calls;
mod setup;
mod source;
mod syscalls;
mod table;
#[cfg(test)]
mod tests;

pub use table::REPLAY_JOBS;
