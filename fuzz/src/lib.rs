//! Fuzzing on the stable toolchain: readers of untrusted texts get mutated ones.
//!
//! Owns the targets, the mutations and the search; the inputs that were found are in `corpus/`, and
//! a test gives all of them to their targets. A target must not panic, hang or take much memory,
//! whatever it gets; whether it refuses or accepts is its own matter.
//!
//! ```text
//!     seeds (studies, disks, fixtures, corpus) --Mutator--> input --Target--> nothing, or a fault
//!     campaign --(a process for each target, with a limit of memory)--> worker --> corpus/TARGET/
//! ```

mod campaign;
mod chance;
mod disk_log;
mod minimise;
mod mutator;
mod seeds;
mod stores;
mod structure;
mod target;
mod targets;
mod worker;

pub use campaign::{Campaign, Finding};
pub use seeds::{corpus_of, seeds_of};
pub use target::{Syntax, Target, find, targets};
pub use worker::{Fault, work};
