//! The monotonic clock, read through the vDSO without a system call if the clock source allows it.
//!
//! In User-Mode Linux every reading is a system call of about 15 us. There the processor's counter
//! replaces the clock, if the host's clock uses it: see [`counter_frequency`] and
//! [`read_clock_by_counter`]. In virtual time a memory page replaces it: see
//! [`read_clock_of_page`], and [`read_held_clock`] where the processor's instructions take time.

use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::thread::ClockId;

/// Page size of all architectures with User-Mode Linux.
const PAGE_BYTES: usize = 4096;
/// Duration of the frequency measurement: two clock readings err by less than 100 ns together, 2
/// ppm of this.
const MEASURED_FOR: Duration = Duration::from_millis(50);

/// After this many readings of an unchanged page the clock itself is read: a loop that waits for
/// time to pass must end.
const SAME_MAX: u32 = 1000;

/// Advances the wall clock, and with it the times that file systems give files. Durations are
/// measured by another clock.
///
/// # Errors
/// That of clock_settime(2): EPERM for who may not.
pub fn advance_wall_clock(by: Duration) -> io::Result<()> {
    let now = clock_time(libc::CLOCK_REALTIME);
    let by_s = i64::try_from(by.as_secs()).map_err(io::Error::other)?;
    let later = rustix::time::Timespec {
        tv_sec: now.tv_sec.saturating_add(by_s),
        tv_nsec: now.tv_nsec,
    };
    Ok(rustix::time::clock_settime(ClockId::Realtime, later)?)
}

/// The replacement for the clock, once set.
static SOURCE: OnceLock<Source> = OnceLock::new();

/// A replacement for the clock.
enum Source {
    Counter(Counter),
    Page(Page),
    Held(HeldClock),
}

impl Source {
    fn now_ns(&self) -> u64 {
        match self {
            Self::Counter(counter) => counter.now_ns(),
            Self::Page(page) => page.now_ns(),
            Self::Held(clock) => clock.now_ns(),
        }
    }
}

/// The processor's counter without the time for which the kernel held the clock: while the
/// processor worked for a simulated disk.
struct HeldClock {
    /// Never unmapped.
    page: &'static HeldClockPage,
}

/// The page of the kernel's driver, `struct page_clock`.
#[repr(C)]
struct HeldClockPage {
    held_ns: AtomicU64,
    start_ns: u64,
    start_ticks: u64,
    /// Nanoseconds per tick, times 2^32.
    tick_ns_scaled: u64,
}

impl HeldClock {
    fn now_ns(&self) -> u64 {
        let page = self.page;
        loop {
            let held_ns = page.held_ns.load(Ordering::Relaxed);
            let passed = ticks().wrapping_sub(page.start_ticks);
            // The clock may have been held between the two readings.
            if page.held_ns.load(Ordering::Relaxed) == held_ns {
                return page.start_ns + scaled_ns(passed, page.tick_ns_scaled) - held_ns;
            }
        }
    }
}

/// The nanoseconds of `ticks`.
fn scaled_ns(ticks: u64, tick_ns_scaled: u64) -> u64 {
    // 2^64 ns are more than five centuries.
    ((u128::from(ticks) * u128::from(tick_ns_scaled)) >> 32) as u64
}

/// A page in which the kernel stores the time; counts unchanged readings.
struct Page {
    /// Never unmapped.
    time_ns: &'static AtomicU64,
    last_ns: AtomicU64,
    same: AtomicU32,
}

impl Page {
    fn now_ns(&self) -> u64 {
        let now_ns = self.time_ns.load(Ordering::Relaxed);
        if self.last_ns.swap(now_ns, Ordering::Relaxed) != now_ns {
            self.same.store(0, Ordering::Relaxed);
        } else if self.same.fetch_add(1, Ordering::Relaxed) >= SAME_MAX {
            self.same.store(0, Ordering::Relaxed);
            return clock_ns();
        }
        now_ns
    }
}

/// How a kernel's driver reads the clock of [`monotonic_ns`] for the calls of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallClock {
    pub(super) kind: CallClockKind,
    /// The last reading of the page, and the number of unchanged ones.
    pub(super) last_ns: u64,
    pub(super) same: u32,
    pub(super) same_max: u32,
}

/// What a driver reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallClockKind {
    Monotonic,
    /// The same of a guest in virtual time.
    Page,
    /// The processor's counter.
    Counter,
}

impl CallClock {
    /// The clock as it is; `None` if no driver reads it.
    pub(super) fn now() -> Option<Self> {
        let mut clock = Self {
            kind: CallClockKind::Monotonic,
            last_ns: 0,
            same: 0,
            same_max: SAME_MAX,
        };
        match SOURCE.get() {
            None => {}
            Some(Source::Counter(_)) => clock.kind = CallClockKind::Counter,
            Some(Source::Held(_)) => return None,
            Some(Source::Page(page)) => {
                clock.kind = CallClockKind::Page;
                clock.last_ns = page.last_ns.load(Ordering::Relaxed);
                clock.same = page.same.load(Ordering::Relaxed);
            }
        }
        Some(clock)
    }

    /// Continues with the readings that the driver has made.
    pub(super) fn go_on(self) {
        if let Some(Source::Page(page)) = SOURCE.get() {
            page.last_ns.store(self.last_ns, Ordering::Relaxed);
            page.same.store(self.same, Ordering::Relaxed);
        }
    }

    /// The time of a driver's reading.
    pub(super) fn ns_of(reading: u64) -> u64 {
        match SOURCE.get() {
            Some(Source::Counter(counter)) => counter.ns_at(reading),
            _ => reading,
        }
    }

    /// What a driver reads at `ns`.
    pub(super) fn reading_at(ns: u64) -> u64 {
        match SOURCE.get() {
            Some(Source::Counter(counter)) => counter.ticks_at(ns),
            _ => ns,
        }
    }
}

/// Converts the processor's counter to nanoseconds.
struct Counter {
    start_ns: u64,
    start_ticks: u64,
    /// Nanoseconds per tick, times 2^32.
    tick_ns_scaled: u64,
}

impl Counter {
    fn now_ns(&self) -> u64 {
        self.ns_at(ticks())
    }

    fn ns_at(&self, ticks: u64) -> u64 {
        let passed = ticks.wrapping_sub(self.start_ticks);
        self.start_ns + scaled_ns(passed, self.tick_ns_scaled)
    }

    /// The first tick at which `ns` has been reached; none is that late if it is far away.
    fn ticks_at(&self, ns: u64) -> u64 {
        let passed_ns = u128::from(ns.saturating_sub(self.start_ns));
        let passed = (passed_ns << 32).div_ceil(u128::from(self.tick_ns_scaled.max(1)));
        u64::try_from(passed).map_or(u64::MAX, |passed| self.start_ticks.saturating_add(passed))
    }
}

/// Ticks of the processor's counter per second; `None` if the running kernel does not use the
/// counter for its clock, and so does not trust it. Takes 50 ms.
pub fn counter_frequency() -> Option<u64> {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let trusted = std::fs::read_to_string(source).is_ok_and(|name| name.trim() == "tsc");
    if !trusted || cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    let (start_ns, start_ticks) = (clock_ns(), ticks());
    std::thread::sleep(MEASURED_FOR);
    let (passed_ns, passed) = (clock_ns() - start_ns, ticks().wrapping_sub(start_ticks));
    u64::try_from(u128::from(passed) * 1_000_000_000 / u128::from(passed_ns)).ok()
}

/// Makes [`monotonic_ns`] use the processor's counter with `frequency` ticks per second, for the
/// rest of the process. For a guest, with the frequency that its host measured.
pub fn read_clock_by_counter(frequency: u64) {
    let tick_ns_scaled = (1_000_000_000_u128 << 32) / u128::from(frequency.max(1));
    let _ = SOURCE.set(Source::Counter(Counter {
        start_ns: clock_ns(),
        start_ticks: ticks(),
        tick_ns_scaled: u64::try_from(tick_ns_scaled).unwrap_or(u64::MAX),
    }));
}

/// Makes [`monotonic_ns`] read the first eight bytes of the device at `path`, for the rest of the
/// process. A guest kernel in virtual time stores CLOCK_MONOTONIC there; a system call would
/// advance it.
///
/// # Errors
/// Those of open(2) and mmap(2): ENOENT if the kernel has no such page.
pub fn read_clock_of_page(path: &Path) -> io::Result<()> {
    let address = map_page(path)?;
    // SAFETY: the mapping is one page, page-aligned, readable, and never unmapped; the kernel
    // writes the eight bytes atomically.
    let time_ns = unsafe { &*address.cast::<AtomicU64>() };
    let _ = SOURCE.set(Source::Page(Page {
        time_ns,
        last_ns: AtomicU64::new(0),
        same: AtomicU32::new(0),
    }));
    Ok(())
}

/// Makes [`monotonic_ns`] use the processor's counter without the time that the page of the device
/// at `path` says the clock was held, for the rest of the process. In a guest whose processor's
/// instructions take virtual time, those of the simulated disk then take none.
///
/// # Errors
/// Those of open(2) and mmap(2): ENOENT if the kernel has no such clock.
pub fn read_held_clock(path: &Path) -> io::Result<()> {
    let address = map_page(path)?;
    // SAFETY: the mapping is one page, page-aligned, readable, and never unmapped. The kernel
    // writes the first eight bytes atomically and the others before the device exists.
    let page = unsafe { &*address.cast::<HeldClockPage>() };
    let _ = SOURCE.set(Source::Held(HeldClock { page }));
    Ok(())
}

/// Maps the page of the device at `path`, to be read until the process ends.
fn map_page(path: &Path) -> io::Result<*mut libc::c_void> {
    let file = std::fs::File::open(path)?;
    // SAFETY: a new mapping at an address that the kernel chooses overlaps no memory in use.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            PAGE_BYTES,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(address)
}

/// True if [`monotonic_ns`] follows a guest's virtual time, in which computation takes none.
pub fn is_time_virtual() -> bool {
    matches!(SOURCE.get(), Some(Source::Page(_)))
}

#[cfg(target_arch = "x86_64")]
fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux allows it in user mode.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    0
}

/// Nanoseconds of CLOCK_MONOTONIC since an arbitrary point, or of its replacement.
///
/// # Panics
/// If the kernel has no monotonic clock; every Linux has.
#[inline]
pub fn monotonic_ns() -> u64 {
    SOURCE.get().map_or_else(clock_ns, Source::now_ns)
}

fn clock_ns() -> u64 {
    let time = clock_time(libc::CLOCK_MONOTONIC);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The time of a clock.
///
/// rustix would look for every function that a vDSO may have, and ends the process where one is
/// missing: getcpu in that of User-Mode Linux 7.2.
pub(super) fn clock_time(clock: libc::clockid_t) -> libc::timespec {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec that outlives the call.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert!(status == 0, "the clock {clock} cannot be read");
    time
}

/// Sleeps until [`monotonic_ns`] reaches `at_ns`; returns at once if it has passed.
///
/// # Errors
/// EINTR if a signal arrives first.
pub fn sleep_until_ns(at_ns: u64) -> io::Result<()> {
    let Some(Source::Held(_)) = SOURCE.get() else {
        return sleep_until_clock_ns(at_ns);
    };
    // The clock may be held meanwhile, so that it arrives later than the kernel's.
    while let Some(left_ns) = at_ns.checked_sub(monotonic_ns()).filter(|left| *left > 0) {
        sleep_until_clock_ns(clock_ns() + left_ns)?;
    }
    Ok(())
}

fn sleep_until_clock_ns(at_ns: u64) -> io::Result<()> {
    let time = libc::timespec {
        tv_sec: (at_ns / 1_000_000_000).cast_signed(),
        tv_nsec: (at_ns % 1_000_000_000).cast_signed(),
    };
    // SAFETY: `time` is a valid timespec; with TIMER_ABSTIME nothing is written to the null
    // pointer.
    let errno = unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const time,
            std::ptr::null_mut(),
        )
    };
    if errno == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(errno))
    }
}

/// Sleeps until `beyond` after the next full second of the system time.
pub fn sleep_to_second(beyond: Duration) -> io::Result<()> {
    let now = clock_time(libc::CLOCK_REALTIME);
    let beyond_ns = i64::from(beyond.subsec_nanos());
    let until = rustix::time::Timespec {
        tv_sec: now.tv_sec + 1 + i64::try_from(beyond.as_secs()).unwrap_or(0),
        tv_nsec: beyond_ns,
    };
    loop {
        match rustix::thread::clock_nanosleep_absolute(ClockId::Realtime, &until) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_keeps_the_time_of_the_clock() {
        let Some(frequency) = counter_frequency() else {
            println!("skipped: this kernel keeps its time by another clock");
            return;
        };
        let counter = Counter {
            start_ns: clock_ns(),
            start_ticks: ticks(),
            tick_ns_scaled: ((1_000_000_000_u128 << 32) / u128::from(frequency)) as u64,
        };
        std::thread::sleep(Duration::from_millis(100));
        let (before_ns, counted_ns, after_ns) = (clock_ns(), counter.now_ns(), clock_ns());
        // Tolerance: a thousandth of the elapsed time plus the time between the readings.
        let tolerance_ns = 100_000 + (after_ns - before_ns);
        assert!(
            counted_ns.abs_diff(before_ns) < tolerance_ns,
            "{before_ns} {counted_ns}"
        );
    }

    #[test]
    fn a_held_clock_has_the_counters_time_without_what_was_held() {
        static PAGE: HeldClockPage = HeldClockPage {
            held_ns: AtomicU64::new(0),
            start_ns: 1_000_000_000_000,
            start_ticks: 0,
            tick_ns_scaled: 1 << 32,
        };
        let clock = HeldClock { page: &PAGE };
        let before_ns = clock.now_ns();
        PAGE.held_ns.store(500_000_000_000, Ordering::Relaxed);
        let after_ns = clock.now_ns();
        // Less than 100 s of ticks pass between the readings.
        assert!(before_ns - after_ns > 400_000_000_000);
        assert_eq!(scaled_ns(10, 3 << 31), 15);
    }

    #[test]
    fn a_page_is_read_until_it_is_unchanged_for_many_readings() {
        static TIME: AtomicU64 = AtomicU64::new(7);
        let page = Page {
            time_ns: &TIME,
            last_ns: AtomicU64::new(0),
            same: AtomicU32::new(0),
        };
        assert!((0..SAME_MAX).all(|_| page.now_ns() == 7));
        TIME.store(8, Ordering::Relaxed);
        assert!((0..=SAME_MAX).all(|_| page.now_ns() == 8));
        assert!(page.now_ns() > 8, "the clock itself, which is far beyond");
    }

    #[test]
    fn the_clock_advances_and_sleeping_reaches_the_requested_time() {
        let start = monotonic_ns();
        sleep_until_ns(start + 2_000_000).expect("no signal is due");
        assert!(monotonic_ns() >= start + 2_000_000);
    }
}
