//! What a trial in virtual time asks of its host: the processor time that it costs there. Its own
//! clock says nothing of that, since in it the processor takes no time.

use std::fs;

use fslab_model::{HostCost, Window};

/// Where the simulated disk tells both clocks of the host: processor time, and time that passed.
const HOST_CLOCKS: &str = "/sys/block/simdisk/host_clocks";

/// Both clocks of the host at a moment, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostMoment {
    cpu_ns: u64,
    real_ns: u64,
}

impl HostMoment {
    /// Now; `None` where no simulated disk tells it.
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
