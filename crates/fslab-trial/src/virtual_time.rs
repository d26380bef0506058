//! The clock of a trial in virtual time, and the processor time that it costs on its host where
//! computing takes no virtual time.

use std::fs;
use std::path::Path;

use fslab_model::{Failure, FailureKind, HostCost, Window};

/// Host clocks, shown by the simulated disk: processor time and real time.
const HOST_CLOCKS: &str = "/sys/block/simdisk/host_clocks";

/// The guest kernel's page with the virtual time.
const CLOCK: &str = "/dev/simclock";

/// The page of fslab's module with the time for which the clock was held.
const HELD_CLOCK: &str = "/dev/fslab-clock";

/// Makes this process read the virtual time from memory, and from the processor's counter if its
/// instructions are `counted`.
pub(crate) fn read_clock(counted: bool) -> Result<(), Failure> {
    let read = match counted {
        true => fslab_sys::read_held_clock(Path::new(HELD_CLOCK)),
        false => fslab_sys::read_clock_of_page(Path::new(CLOCK)),
    };
    read.map_err(|error| {
        Failure::new(FailureKind::Device, "cannot read the virtual clock")
            .because(&error)
            .hint("the guest kernel may be from an earlier fslab; rebuild it with fslab lab build")
    })
}

/// A reading of both host clocks, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostMoment {
    cpu_ns: u64,
    real_ns: u64,
}

impl HostMoment {
    /// Reads the clocks; `None` without a simulated disk.
    pub(crate) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string(HOST_CLOCKS).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let (cpu, real) = text.trim().split_once(' ')?;
        Some(Self {
            cpu_ns: cpu.parse().ok()?,
            real_ns: real.parse().ok()?,
        })
    }

    /// The time from here to `end`.
    pub(crate) fn until(self, end: Self) -> HostCost {
        HostCost {
            cpu_ns: end.cpu_ns.saturating_sub(self.cpu_ns),
            real_ns: end.real_ns.saturating_sub(self.real_ns),
        }
    }
}

/// Runs `work` and returns when it ran.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Window) {
    let begin_ns = fslab_sys::monotonic_ns();
    let done = work();
    let end_ns = fslab_sys::monotonic_ns();
    (done, Window { begin_ns, end_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_the_difference_of_both_clocks() {
        let moment = |text| HostMoment::parse(text).expect("two numbers");
        let cost = moment("10 200\n").until(moment("15 300\n"));
        assert_eq!((cost.cpu_ns, cost.real_ns), (5, 100));
        assert_eq!(HostMoment::parse("10"), None);
        assert_eq!(HostMoment::parse("a b"), None);
    }
}
