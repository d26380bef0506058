//! The monotonic clock: the performance counter.

use std::sync::OnceLock;

use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

/// Nanoseconds per tick, times 2^32.
static TICK_NS_SCALED: OnceLock<u64> = OnceLock::new();

/// Nanoseconds of the performance counter since an arbitrary point.
#[inline]
pub fn monotonic_ns() -> u64 {
    let scale = *TICK_NS_SCALED.get_or_init(|| {
        let mut per_second = 0;
        // SAFETY: the variable outlives the call, which never fails since Windows XP.
        unsafe { QueryPerformanceFrequency(&raw mut per_second) };
        let per_second = u128::from(per_second.max(1).cast_unsigned());
        u64::try_from((1_000_000_000_u128 << 32) / per_second).unwrap_or(u64::MAX)
    });
    let mut ticks = 0;
    // SAFETY: the variable outlives the call, which never fails since Windows XP.
    unsafe { QueryPerformanceCounter(&raw mut ticks) };
    // 2^64 ns are more than five centuries.
    ((u128::from(ticks.cast_unsigned()) * u128::from(scale)) >> 32) as u64
}
