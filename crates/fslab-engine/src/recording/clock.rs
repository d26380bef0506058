//! The clocks of jobs: the real one, and a synthetic one advanced by the null engine.

use std::cell::Cell;

use fslab_model::CpuUse;
use fslab_sys::ResourceUse;

/// Shorter waits spin: waking up from a sleep takes about as long.
const SPIN_NS: u64 = 60_000;

/// A clock. The measuring loops are compiled once for each.
pub(crate) trait Clock {
    /// Nanoseconds since an arbitrary point.
    fn now_ns(&self) -> u64;

    /// Waits until `at_ns`; returns at once if that has passed.
    fn wait_until_ns(&self, at_ns: u64);

    /// Advances a synthetic clock.
    fn pass_ns(&self, ns: u64);

    /// The calling thread's resource use so far; `None` for a synthetic clock.
    fn thread_use(&self) -> Option<ResourceUse>;
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MonotonicClock;

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        fslab_sys::monotonic_ns()
    }

    fn wait_until_ns(&self, at_ns: u64) {
        loop {
            let left_ns = at_ns.saturating_sub(self.now_ns());
            if left_ns == 0 {
                return;
            }
            if left_ns > SPIN_NS {
                // A signal may end the sleep early; the loop then repeats it.
                let _ = fslab_sys::sleep_until_ns(at_ns - SPIN_NS);
            }
            std::hint::spin_loop();
        }
    }

    #[inline]
    fn pass_ns(&self, _ns: u64) {}

    fn thread_use(&self) -> Option<ResourceUse> {
        Some(ResourceUse::of_thread())
    }
}

/// A clock that is advanced by its caller.
#[derive(Debug, Default)]
pub(crate) struct SyntheticClock(Cell<u64>);

impl Clock for SyntheticClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    fn wait_until_ns(&self, at_ns: u64) {
        self.0.set(self.0.get().max(at_ns));
    }

    #[inline]
    fn pass_ns(&self, ns: u64) {
        self.0.set(self.0.get() + ns);
    }

    fn thread_use(&self) -> Option<ResourceUse> {
        None
    }
}

/// Converts to the type of the model.
pub fn cpu_use(used: ResourceUse) -> CpuUse {
    CpuUse {
        user_ns: used.user_ns,
        system_ns: used.system_ns,
        voluntary_switches: fslab_sys::COUNTS_SWITCHES.then_some(used.voluntary_switches),
        involuntary_switches: fslab_sys::COUNTS_SWITCHES.then_some(used.involuntary_switches),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synthetic_clock_advances_only_on_request() {
        let clock = SyntheticClock::default();
        clock.pass_ns(5);
        clock.wait_until_ns(3);
        assert_eq!(clock.now_ns(), 5);
        clock.wait_until_ns(9);
        assert_eq!(clock.now_ns(), 9);
        assert_eq!(clock.thread_use(), None);
    }

    #[test]
    fn waiting_on_the_real_clock_never_ends_early() {
        let clock = MonotonicClock;
        let at = clock.now_ns() + 300_000;
        clock.wait_until_ns(at);
        assert!(clock.now_ns() >= at);
    }
}
