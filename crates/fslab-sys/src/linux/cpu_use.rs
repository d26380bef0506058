//! Processor time and context switches of a process or thread, from getrusage(2).

use crate::ResourceUse;

impl ResourceUse {
    /// Resources used by all threads of this process.
    pub fn of_process() -> Self {
        Self::of(libc::RUSAGE_SELF)
    }

    /// Resources used by the calling thread.
    pub fn of_thread() -> Self {
        Self::of(libc::RUSAGE_THREAD)
    }

    fn of(who: libc::c_int) -> Self {
        // SAFETY: rusage consists of integers, for which zero is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is a valid rusage that outlives the call.
        let status = unsafe { libc::getrusage(who, &raw mut usage) };
        assert!(status == 0, "getrusage(2) fails only on a wrong argument");
        usage.into()
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
        // Kernels with tick accounting split a thread's time and its process's differently.
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
