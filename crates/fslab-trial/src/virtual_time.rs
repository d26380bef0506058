//! What a trial in virtual time asks of its host: the processor time that it costs there. Its own
//! clock says nothing of that, since in it the processor takes no time.

use std::fs;
use std::path::Path;

use fslab_model::{Failure, FailureKind, HostCost, Window};

/// Where the simulated disk shows both clocks of the host: processor time, and time that passed.
const HOST_CLOCKS: &str = "/sys/block/simdisk/host_clocks";

/// Where the guest's kernel keeps the virtual time.
const CLOCK: &str = "/dev/simclock";

/// Reads the virtual time from memory from now on.
pub(crate) fn read_clock() -> Result<(), Failure> {
    fslab_sys::read_clock_of_page(Path::new(CLOCK)).map_err(|error| {
        Failure::new(FailureKind::Device, "cannot read the virtual clock")
            .because(&error)
            .hint("the guest kernel may be of an earlier fslab: fslab lab build")
    })
}

/// Both clocks of the host at a moment, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostMoment {
    cpu_ns: u64,
    real_ns: u64,
}

impl HostMoment {
    /// Now; `None` without a simulated disk.
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

    /// What was spent from here to `end`.
    pub(crate) fn until(self, end: Self) -> HostCost {
        HostCost {
            cpu_ns: end.cpu_ns.saturating_sub(self.cpu_ns),
            real_ns: end.real_ns.saturating_sub(self.real_ns),
        }
    }
}

/// Runs `work` and says when that was.
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
    fn the_cost_is_what_both_clocks_have_moved() {
        let moment = |text| HostMoment::parse(text).expect("two numbers");
        let cost = moment("10 200\n").until(moment("15 300\n"));
        assert_eq!((cost.cpu_ns, cost.real_ns), (5, 100));
        assert_eq!(HostMoment::parse("10"), None);
        assert_eq!(HostMoment::parse("a b"), None);
    }
}
