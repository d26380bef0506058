//! Fuzzing on the stable toolchain: readers of untrusted texts get mutated ones.
//!
//! Owns the targets, the limits, and what becomes of an input that fails; libFuzzer searches. The
//! inputs that were found are in `corpus/`, and a test gives all of them to their targets. A target
//! must not panic, hang or take much memory, whatever it gets; whether it refuses or accepts is its
//! own matter.
//!
//! ```text
//!     campaign --(a process of libFuzzer for each target, with limits)--> corpus/TARGET/
//!     seeds (studies, fixtures, corpus) --libFuzzer--> input --Target--> nothing, or a fault
//! ```

mod campaign;
mod seeds;
mod stores;
mod target;
mod targets;
mod worker;

pub use seeds::{corpus_of, seeds_of};
pub use target::{Target, find, targets};
pub use worker::{begin, mutate, run};
