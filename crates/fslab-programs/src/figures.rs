//! Figures of phases that run programs.

use fslab_engine::{Measured, cpu_use};
use fslab_job::{Finished, SyntheticCost, measured, synthetic_result};
use fslab_sys::ResourceUse;

use fslab_stats::mix;

/// Note on a program's figures in virtual time.
const VIRTUAL: &str = "the time is only that of the disk: in virtual time, computation takes none";

/// Time and amounts of a program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Account {
    pub(crate) start_ns: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) operations: u64,
    pub(crate) bytes: Option<u64>,
    /// `None` if no real time passed.
    pub(crate) used: Option<ResourceUse>,
}

impl Account {
    /// The result of a phase, with a note in virtual time.
    pub(crate) fn finished(self) -> Finished {
        let mut finished = Finished::from(self.measured());
        finished.notes.extend(virtual_note());
        finished
    }

    pub(crate) fn measured(self) -> Measured {
        Measured {
            start_ns: self.start_ns,
            cpu: self.used.map(cpu_use),
            ..measured(self.elapsed_ns, self.operations, self.bytes)
        }
    }
}

/// The note on virtual time if time is virtual.
pub(crate) fn virtual_note() -> Option<String> {
    fslab_sys::is_time_virtual().then(|| VIRTUAL.to_owned())
}

/// The result of the null engine. An operation takes about `each_ns`.
pub(crate) fn synthetic_program(
    seed: u64,
    operations: u64,
    bytes: Option<u64>,
    each_ns: u64,
) -> Measured {
    let draw = mix(seed, operations);
    synthetic_result(draw, SyntheticCost::about(each_ns), operations, bytes)
}
