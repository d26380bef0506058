//! Whether `fslab crash judge` finds faults that are planted in a kernel: each patch of
//! `tests/mutants/` is built, a study is recorded with it, and the states of its disk are judged.
//!
//! ```text
//!     catalogue (mutants.toml) -> session -+-> rounds   which faults are in one kernel
//!                                          +-> tree     the source, with their patches
//!                                          +-> fslab    builds, records, judges
//!                                          +-> verdict  whether the states of a log show it
//! ```

mod catalogue;
mod fslab;
mod options;
mod planted_faults;
mod rounds;
mod tree;
mod verdict;

pub(crate) use options::USAGE;
pub(crate) use planted_faults::run;
