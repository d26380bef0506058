//! Detects other activity on the machine during a phase.
//!
//! Kernel counters are read before and after a phase, never during it. Only stopped processes and
//! waiting for a processor have no such counters: a low-rate sampler thread detects them. If it
//! sleeps much longer than requested, this process did not run.
//!
//! Thresholds are measured: see docs/figures.md.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fslab_model::{Bytes, DeviceUse, Disturbance, DisturbanceKind, PhaseKind, format_ns};
use fslab_sys::{ProcessStat, ProcessorTimes, StorageUse};

/// Interval of the sampler, which then uses 0.05 % of one processor.
const TICK: Duration = Duration::from_millis(100);
/// A sleep this much longer than requested counts as a stop.
const STOP_NS_MIN: u64 = 200_000_000;
/// Limit of threads whose waiting time is summed.
const THREADS_MAX: usize = 64;
/// Limit of descendants that are examined.
const DESCENDANTS_MAX: usize = 256;

/// Thresholds as shares of the time of all processors.
const STEAL_SHARE_MIN: f64 = 0.05;
const PROCESSOR_SHARE_MIN: f64 = 0.10;
/// Share of the phase's duration.
const WAITING_SHARE_MIN: f64 = 0.10;
/// Share of the bytes that the device transferred in that direction.
const DEVICE_SHARE_MIN: f64 = 0.05;
/// The same if the I/O of other processes is unreadable and inferred.
const INFERRED_SHARE_MIN: f64 = 0.5;
/// Less processor time is below the resolution of the kernel's ticks.
const PROCESSOR_NS_MIN: u64 = 50_000_000;
/// Less I/O is housekeeping of the kernel.
const DEVICE_BYTES_MIN: u64 = 1 << 20;
const INFERRED_BYTES_MIN: u64 = 16 << 20;

/// Counters at one moment; `None` if unknown.
struct Moment {
    at: Instant,
    times: Option<ProcessorTimes>,
    own_ns: u64,
    others_ns: u64,
    own: Option<StorageUse>,
    others: Option<StorageUse>,
}

impl Moment {
    fn now() -> Self {
        let processes: Vec<_> = fslab_sys::processes().collect();
        let own = std::process::id();
        let family = with_descendants(own, &processes);
        // The trial's parent waits for it.
        let parent = processes
            .iter()
            .find(|it| it.pid == own)
            .map(|it| it.parent);
        let (mut ours, mut others) = (Vec::new(), Vec::new());
        for process in processes.iter().filter(|it| !it.is_kernel()) {
            match family.contains(&process.pid) {
                true => ours.push(*process),
                false if Some(process.pid) == parent => {}
                false => others.push(*process),
            }
        }
        let used_ns = |processes: &[ProcessStat]| processes.iter().map(|it| it.used_ns).sum();
        Self {
            at: Instant::now(),
            times: ProcessorTimes::now(),
            own_ns: used_ns(&ours),
            others_ns: used_ns(&others),
            own: storage(&ours),
            others: storage(&others),
        }
    }
}

/// `process` and its descendants.
fn with_descendants(process: u32, processes: &[ProcessStat]) -> BTreeSet<u32> {
    let mut family = BTreeSet::from([process]);
    loop {
        let before = family.len();
        let more = processes.iter().filter(|it| family.contains(&it.parent));
        let more: Vec<u32> = more.map(|it| it.pid).collect();
        family.extend(more);
        if family.len() == before {
            return family;
        }
    }
}

/// The sum of their storage I/O; `None` if no process is readable.
fn storage(processes: &[ProcessStat]) -> Option<StorageUse> {
    let (mut sum, mut is_known) = (StorageUse::default(), false);
    for process in processes {
        match StorageUse::of(process.pid) {
            Ok(used) => {
                sum.read_bytes += used.read_bytes;
                sum.write_bytes += used.write_bytes;
            }
            // The process has ended, and its parent has its counts; or it is another user's.
            Err(_) => continue,
        }
        is_known = true;
    }
    is_known.then_some(sum)
}

/// The trial's writes that the device has not written yet.
#[derive(Default)]
pub(crate) struct Backlog {
    /// First reading: bytes made dirty by the trial, and bytes written by the device.
    start: Option<(u64, u64)>,
}

impl Backlog {
    /// Backlog after `written` bytes by the trial and `by_device` by the device.
    fn bytes(&mut self, written: u64, by_device: u64) -> u64 {
        let (own, device) = *self.start.get_or_insert((written, by_device));
        let dirtied = written.saturating_sub(own);
        dirtied.saturating_sub(by_device.saturating_sub(device))
    }
}

/// Observes a phase.
pub(crate) struct Observation {
    before: Moment,
    sampler: Sampler,
}

/// Properties of the phase.
pub(crate) struct Watched {
    pub(crate) kind: PhaseKind,
    /// Number of threads; more than processors wait for each other.
    pub(crate) threads: usize,
    pub(crate) device: Option<DeviceUse>,
    /// The trial's unwritten data at the start of the phase.
    pub(crate) backlog_bytes: u64,
    /// False in a load of several ranks: what the others do looks like that of other programs.
    pub(crate) is_alone: bool,
}

impl Observation {
    /// Starts the observation.
    pub(crate) fn begin() -> Self {
        Self {
            before: Moment::now(),
            sampler: Sampler::start(),
        }
    }

    /// The trial's unwritten data at the start of the phase.
    pub(crate) fn backlog(&self, backlog: &mut Backlog, written_by_device: Option<u64>) -> u64 {
        let own = self.before.own.map(|own| own.write_bytes);
        own.zip(written_by_device)
            .map_or(0, |(own, device)| backlog.bytes(own, device))
    }

    pub(crate) fn end(self) -> Observed {
        let samples = self.sampler.end();
        Observed {
            before: self.before,
            after: Moment::now(),
            samples,
        }
    }
}

/// A finished observation.
pub(crate) struct Observed {
    before: Moment,
    after: Moment,
    samples: Samples,
}

impl Observed {
    /// The disturbances above their thresholds.
    pub(crate) fn disturbances(&self, watched: &Watched) -> Vec<Disturbance> {
        let passed = self.after.at.duration_since(self.before.at);
        let counted = Counted {
            passed_ns: u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX).max(1),
            processors: self.before.times.map_or(1, |times| times.processors.max(1)),
            steal_ns: grown(self.before.times, self.after.times, |it| it.steal_ns),
            others_ns: self.others_ns(),
            samples: self.samples,
            own: used_between(self.before.own, self.after.own),
            others: used_between(self.before.others, self.after.others),
        };
        counted.disturbances(watched)
    }

    /// Processor time of other programs. A container does not see all of them, but the machine's
    /// total includes their user time.
    fn others_ns(&self) -> u64 {
        let seen = self.after.others_ns.saturating_sub(self.before.others_ns);
        let own = self.after.own_ns.saturating_sub(self.before.own_ns);
        let user = grown(self.before.times, self.after.times, |it| it.user_ns).unwrap_or(0);
        seen.max(user.saturating_sub(own))
    }
}

fn grown(
    before: Option<ProcessorTimes>,
    after: Option<ProcessorTimes>,
    of: impl Fn(ProcessorTimes) -> u64,
) -> Option<u64> {
    Some(of(after?).saturating_sub(of(before?)))
}

fn used_between(before: Option<StorageUse>, after: Option<StorageUse>) -> Option<StorageUse> {
    let (before, after) = (before?, after?);
    Some(StorageUse {
        read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
        write_bytes: after.write_bytes.saturating_sub(before.write_bytes),
    })
}

/// Differences of the counters over a phase.
struct Counted {
    passed_ns: u64,
    processors: u32,
    steal_ns: Option<u64>,
    others_ns: u64,
    samples: Samples,
    own: Option<StorageUse>,
    others: Option<StorageUse>,
}

impl Counted {
    fn disturbances(&self, watched: &Watched) -> Vec<Disturbance> {
        let found = [
            self.stopped(),
            self.steal(),
            self.processor().filter(|_| watched.is_alone),
            self.waiting(watched.threads),
            self.writers(watched).filter(|_| watched.is_alone),
            self.readers(watched).filter(|_| watched.is_alone),
        ];
        found.into_iter().flatten().collect()
    }

    fn stopped(&self) -> Option<Disturbance> {
        let ns = self.samples.stopped_ns;
        let share = ns as f64 / self.passed_ns as f64;
        let threshold = (STOP_NS_MIN as f64 / self.passed_ns as f64).min(1.0);
        let text = format!(
            "the trial did not run for {} of {}: it was stopped, or the machine had no time for it",
            format_ns(ns as f64),
            format_ns(self.passed_ns as f64)
        );
        past(
            DisturbanceKind::Stopped,
            ns,
            share.min(1.0),
            threshold,
            text,
        )
    }

    /// Time of all processors.
    fn capacity_ns(&self) -> f64 {
        self.passed_ns as f64 * f64::from(self.processors)
    }

    fn steal(&self) -> Option<Disturbance> {
        let ns = self.steal_ns.filter(|ns| *ns >= PROCESSOR_NS_MIN)?;
        let share = ns as f64 / self.capacity_ns();
        let text = format!(
            "the hypervisor gave {:.0} % of the processors' time to others",
            share * 100.0
        );
        past(DisturbanceKind::Steal, ns, share, STEAL_SHARE_MIN, text)
    }

    fn processor(&self) -> Option<Disturbance> {
        let ns = Some(self.others_ns).filter(|ns| *ns >= PROCESSOR_NS_MIN)?;
        let share = ns as f64 / self.capacity_ns();
        let text = format!(
            "other programs used {:.1} of {} processors",
            ns as f64 / self.passed_ns as f64,
            self.processors
        );
        past(
            DisturbanceKind::Processor,
            ns,
            share,
            PROCESSOR_SHARE_MIN,
            text,
        )
    }

    fn waiting(&self, threads: usize) -> Option<Disturbance> {
        let ns = self.samples.waiting_ns;
        if threads > self.processors as usize || ns < PROCESSOR_NS_MIN {
            return None;
        }
        let share = ns as f64 / (self.passed_ns as f64 * threads.max(1) as f64);
        let text = format!(
            "its threads were ready to run and waited for a processor for {:.0} % of the time",
            share * 100.0
        );
        past(DisturbanceKind::Waiting, ns, share, WAITING_SHARE_MIN, text)
    }

    fn writers(&self, watched: &Watched) -> Option<Disturbance> {
        let device = watched.device?.write_bytes;
        let own = self.own.map_or(0, |own| own.write_bytes) + watched.backlog_bytes;
        let beyond = device.saturating_sub(own);
        let is_reading = watched.kind == PhaseKind::Read;
        let found = match self.others.map(|others| others.write_bytes) {
            Some(others) => (beyond.min(others), DEVICE_SHARE_MIN, DEVICE_BYTES_MIN),
            None if is_reading => (beyond, INFERRED_SHARE_MIN, INFERRED_BYTES_MIN),
            None => return None,
        };
        // A reading phase is compared with what it read.
        let whole = match is_reading {
            true => watched.device?.read_bytes.max(device),
            false => device,
        };
        by_device(DisturbanceKind::Writers, "wrote", found, whole)
    }

    fn readers(&self, watched: &Watched) -> Option<Disturbance> {
        let device = watched.device?;
        let beyond = device.read_bytes.saturating_sub(self.own?.read_bytes);
        let others = self.others?.read_bytes;
        let found = (beyond.min(others), DEVICE_SHARE_MIN, DEVICE_BYTES_MIN);
        let whole = device.read_bytes.max(device.write_bytes);
        by_device(DisturbanceKind::Readers, "read", found, whole)
    }
}

fn by_device(
    kind: DisturbanceKind,
    did: &str,
    (bytes, threshold, least): (u64, f64, u64),
    whole: u64,
) -> Option<Disturbance> {
    let bytes = Some(bytes).filter(|bytes| *bytes >= least)?;
    let share = bytes as f64 / whole.max(1) as f64;
    let text = format!(
        "the device {did} {} for other programs, {:.0} % of what it moved",
        Bytes(bytes),
        share * 100.0
    );
    past(kind, bytes, share, threshold, text)
}

fn past(
    kind: DisturbanceKind,
    amount: u64,
    share: f64,
    threshold: f64,
    text: String,
) -> Option<Disturbance> {
    (amount > 0 && share >= threshold).then_some(Disturbance {
        kind,
        amount,
        share,
        threshold,
        text,
    })
}

/// Result of the sampler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Samples {
    stopped_ns: u64,
    waiting_ns: u64,
}

/// The sampling thread, which ends when this is dropped: after a failed phase it would otherwise
/// use processor time during later phases.
struct Sampler {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Samples>>,
}

impl Sampler {
    fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_over);
        let thread = thread::spawn(move || sample(&flag));
        Self {
            is_over,
            thread: Some(thread),
        }
    }

    fn end(mut self) -> Samples {
        self.join()
    }

    fn join(&mut self) -> Samples {
        self.is_over.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else {
            return Samples::default();
        };
        thread.thread().unpark();
        thread.join().unwrap_or_default()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.join();
    }
}

fn sample(is_over: &AtomicBool) -> Samples {
    let mut samples = Samples::default();
    let mut delays: BTreeMap<u32, u64> = fslab_sys::run_delays(THREADS_MAX).into_iter().collect();
    let mut last = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        thread::park_timeout(TICK);
        let passed = last.elapsed();
        last = Instant::now();
        samples.stopped_ns += stop_ns(passed, any_descendant_is_stopped);
        for (thread, delay) in fslab_sys::run_delays(THREADS_MAX) {
            // A new thread has waited since its start.
            let before = delays.insert(thread, delay).unwrap_or(0);
            samples.waiting_ns += delay.saturating_sub(before);
        }
    }
    samples
}

/// Time without execution in a pause that was to be a tick; the complete pause if a process of the
/// trial is stopped.
fn stop_ns(passed: Duration, is_stopped: impl Fn() -> bool) -> u64 {
    let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    match ns(passed.saturating_sub(TICK)) {
        gap if gap >= STOP_NS_MIN => gap,
        _ if is_stopped() => ns(passed),
        _ => 0,
    }
}

fn any_descendant_is_stopped() -> bool {
    let mut waiting = fslab_sys::children();
    let mut seen = 0;
    while let Some(pid) = waiting.pop() {
        seen += 1;
        if ProcessStat::of(pid).is_some_and(|it| it.is_stopped()) {
            return true;
        }
        if seen < DESCENDANTS_MAX {
            waiting.extend(fslab_sys::children_of(pid));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn quiet() -> Counted {
        let moved = StorageUse {
            read_bytes: 0,
            write_bytes: 100 << 20,
        };
        Counted {
            passed_ns: 10 * SECOND,
            processors: 2,
            steal_ns: Some(0),
            others_ns: SECOND / 10,
            samples: Samples::default(),
            own: Some(moved),
            others: Some(StorageUse::default()),
        }
    }

    fn watched() -> Watched {
        Watched {
            kind: PhaseKind::Write,
            threads: 1,
            device: Some(DeviceUse {
                write_bytes: 110 << 20,
                ..DeviceUse::default()
            }),
            backlog_bytes: 0,
            is_alone: true,
        }
    }

    fn kinds(counted: &Counted, watched: &Watched) -> Vec<DisturbanceKind> {
        let found = counted.disturbances(watched);
        assert!(found.iter().all(|it| it.share >= it.threshold), "{found:?}");
        found.iter().map(|it| it.kind).collect()
    }

    #[test]
    fn a_quiet_machine_has_no_disturbance_and_a_journal_is_no_other_writer() {
        assert_eq!(kinds(&quiet(), &watched()), []);
    }

    #[test]
    fn each_disturbance_is_recorded_past_its_threshold() {
        let mut counted = quiet();
        counted.samples.stopped_ns = 3 * SECOND;
        counted.samples.waiting_ns = 2 * SECOND;
        counted.steal_ns = Some(SECOND);
        counted.others_ns = 10 * SECOND;
        counted.others = Some(StorageUse {
            read_bytes: 0,
            write_bytes: 1 << 30,
        });
        use DisturbanceKind::{Processor, Steal, Stopped, Waiting, Writers};
        let all = [Stopped, Steal, Processor, Waiting, Writers];
        assert_eq!(kinds(&counted, &watched()), all);
        let writers = &counted.disturbances(&watched())[4];
        assert_eq!(
            writers.amount,
            10 << 20,
            "no more than the device wrote beyond our own"
        );
        // Beside other ranks, what they do is not that of other programs.
        let of_ranks = Watched {
            is_alone: false,
            ..watched()
        };
        assert_eq!(kinds(&counted, &of_ranks), [Stopped, Steal, Waiting]);
    }

    #[test]
    fn threads_that_are_more_than_processors_wait_for_each_other() {
        let mut counted = quiet();
        counted.samples.waiting_ns = 30 * SECOND;
        let many = Watched {
            threads: 8,
            ..watched()
        };
        assert_eq!(kinds(&counted, &many), []);
    }

    #[test]
    fn what_others_write_to_another_device_and_what_was_dirty_before_is_no_disturbance() {
        let mut counted = quiet();
        counted.others = Some(StorageUse {
            read_bytes: 0,
            write_bytes: 5 << 30,
        });
        counted.own = Some(StorageUse::default());
        let elsewhere = Watched {
            backlog_bytes: 110 << 20,
            ..watched()
        };
        assert_eq!(kinds(&counted, &elsewhere), []);
    }

    #[test]
    fn if_other_processes_are_unreadable_writes_of_the_device_during_reads_reveal_them() {
        let mut counted = quiet();
        counted.others = None;
        counted.own = Some(StorageUse::default());
        assert_eq!(
            kinds(&counted, &watched()),
            [],
            "a journal may be all of it"
        );
        let reading = Watched {
            kind: PhaseKind::Read,
            ..watched()
        };
        assert_eq!(kinds(&counted, &reading), [DisturbanceKind::Writers]);
    }

    #[test]
    fn a_long_pause_is_a_stop_and_so_is_a_stopped_helper() {
        let ms = Duration::from_millis;
        assert_eq!(stop_ns(ms(130), || false), 0);
        assert_eq!(stop_ns(ms(3100), || false), 3 * SECOND);
        assert_eq!(stop_ns(ms(100), || true), SECOND / 10);
    }

    #[test]
    fn a_stopped_process_of_the_trial_is_detected() {
        let sampler = Sampler::start();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "kill -STOP $$"])
            .spawn()
            .expect("starts");
        thread::sleep(Duration::from_millis(700));
        let samples = sampler.end();
        child.kill().expect("ends");
        child.wait().expect("has ended");
        assert!(samples.stopped_ns >= STOP_NS_MIN, "{samples:?}");
    }

    // A failed phase had left its thread behind, which sampled until the end of the trial.
    #[test]
    fn the_thread_ends_with_its_sampler() {
        let sampler = Sampler::start();
        let is_over = Arc::clone(&sampler.is_over);
        drop(sampler);
        assert!(is_over.load(Ordering::Relaxed));
        assert_eq!(Arc::strong_count(&is_over), 1, "the thread has ended");
    }

    #[test]
    fn the_backlog_is_the_dirty_data_that_is_not_written() {
        let mut backlog = Backlog::default();
        assert_eq!(backlog.bytes(100, 40), 0);
        assert_eq!(backlog.bytes(600, 140), 400);
        assert_eq!(backlog.bytes(600, 900), 0);
    }
}
