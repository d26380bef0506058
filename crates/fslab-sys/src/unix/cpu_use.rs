//! Processor time of this process and of threads.

use crate::ResourceUse;

impl ResourceUse {
    /// Resources used by all threads of this process.
    pub fn of_process() -> Self {
        // SAFETY: rusage consists of integers, for which zero is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is a valid rusage that outlives the call.
        let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
        assert!(status == 0, "getrusage(2) fails only on a wrong argument");
        usage.into()
    }

    /// Processor time of the calling thread, all of it as time in user mode: macOS does not divide
    /// it.
    pub fn of_thread() -> Self {
        Self {
            user_ns: super::machine::clock_ns(libc::CLOCK_THREAD_CPUTIME_ID),
            ..Self::default()
        }
    }
}

impl From<libc::rusage> for ResourceUse {
    fn from(usage: libc::rusage) -> Self {
        let ns = |time: libc::timeval| {
            let (seconds, us) = (time.tv_sec as u64, time.tv_usec as u64);
            seconds * 1_000_000_000 + us * 1_000
        };
        Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            voluntary_switches: usage.ru_nvcsw.cast_unsigned(),
            involuntary_switches: usage.ru_nivcsw.cast_unsigned(),
        }
    }
}
