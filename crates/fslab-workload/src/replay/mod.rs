//! A trace is issued again: its files are made, its operations are issued in the order that they
//! demand, and what came of them is compared with what was recorded.
//!
//! ```text
//!     source --> trace, schedule
//!     stage       makes the files that were there            (not timed)
//!     script      operations, ready to be issued
//!     player      a thread for each recorded one --> moves   (timed)
//!     final_state compares the names that are left           (not timed)
//! ```

mod deviations;
mod final_state;
mod gate;
mod moves;
mod parameters;
mod phase;
mod player;
mod script;
mod source;
mod stage;
#[cfg(test)]
mod tests;

pub(crate) use parameters::ReplayParameters;
