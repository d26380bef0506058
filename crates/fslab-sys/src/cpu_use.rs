//! Processor time and context switches of the process or of one thread, from getrusage(2).

/// What was used since the process or thread began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceUse {
    /// Time in user mode.
    pub user_ns: u64,
    /// Time in the kernel.
    pub system_ns: u64,
    /// Context switches because it waited.
    pub voluntary_switches: u64,
    /// Context switches because its time was up.
    pub involuntary_switches: u64,
}

impl ResourceUse {
    /// The use of all threads of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self::of(libc::RUSAGE_SELF)
    }

    /// The use of the calling thread.
    #[must_use]
    pub fn of_thread() -> Self {
        Self::of(libc::RUSAGE_THREAD)
    }

    /// What was used between `earlier` and `self`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }

    fn of(who: libc::c_int) -> Self {
        // SAFETY: rusage is made of integers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is a valid rusage that outlives the call.
        let status = unsafe { libc::getrusage(who, &raw mut usage) };
        assert!(status == 0, "getrusage(2) fails only on a wrong argument");
        usage.into()
    }

    /// What this and `other` used together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
        }
    }
}

impl From<libc::rusage> for ResourceUse {
    fn from(usage: libc::rusage) -> Self {
        let ns = |time: libc::timeval| {
            time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1_000
        };
        Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            voluntary_switches: usage.ru_nvcsw.cast_unsigned(),
            involuntary_switches: usage.ru_nivcsw.cast_unsigned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_loop_uses_user_time() {
        let before = ResourceUse::of_thread();
        let began = std::time::Instant::now();
        let mut sum = 0_u64;
        // Kernels that account by ticks split a thread's time and its process's differently.
        let is_seen = || {
            ResourceUse::of_thread().since(before).user_ns > 0
                && ResourceUse::of_process().user_ns > 0
        };
        while !is_seen() {
            sum = std::hint::black_box(sum + 1);
            assert!(
                began.elapsed().as_secs() < 20,
                "a busy loop used no user time"
            );
        }
    }
}
