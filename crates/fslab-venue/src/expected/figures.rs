//! Whether figures can be those of a trial: numbers in their ranges, and times that fit into the
//! time that has passed.

use std::fmt::Debug;
use std::time::Duration;

use fslab_model::{
    METRICS, OperationLatency, PhaseOutcome, PhaseRecord, StepRecord, ThreadRecord, TimeSeries,
    Window,
};
use serde::Serialize;
use serde_json::Value;

/// Largest count, number of bytes or time in ns: sums of some of them stay in 64 bits.
const NUMBER_MAX: u64 = 1 << 60;
/// Number of intervals of a progress over time.
const INTERVALS_MAX: usize = 4096;
/// Threads of a job whose parameters do not say how many have figures.
const THREADS_MAX: u64 = 1024;
/// How far clocks may differ: a share, and a fixed time.
const CLOCK_ERROR: f64 = 0.05;
const CLOCK_SLACK: Duration = Duration::from_secs(2);

/// The clock of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// The same time passes for the reader of the record.
    Real,
    /// Time that only the trial's system has, or none at all.
    Virtual,
}

impl Clock {
    /// Checks that a duration fits into `elapsed_ns` of the reader's clock.
    pub(super) fn ensure_duration(what: &str, ns: u64, elapsed_ns: u64) -> Result<(), String> {
        let most_ns = elapsed_ns as f64 * (1.0 + CLOCK_ERROR) + CLOCK_SLACK.as_nanos() as f64;
        if ns as f64 <= most_ns {
            return Ok(());
        }
        let seconds = |ns: u64| ns as f64 / 1e9;
        Err(format!(
            "{:.1} s for {what}, but only {:.1} s have passed",
            seconds(ns),
            seconds(elapsed_ns)
        ))
    }

    /// Checks the times of a trial that took `elapsed_ns` on the reader's clock.
    pub(super) fn ensure_times(
        self,
        phases: &[PhaseRecord],
        steps: &[StepRecord],
        elapsed_ns: u64,
    ) -> Result<(), String> {
        let sum = |times: &mut dyn Iterator<Item = u64>| times.fold(0, u64::saturating_add);
        if self == Self::Virtual {
            let hosts = phases.iter().filter_map(|phase| phase.host);
            let real_ns = sum(&mut hosts.map(|host| host.real_ns));
            Self::ensure_duration("its phases on the host", real_ns, elapsed_ns)?;
            return ensure_order(phases);
        }
        let phases_ns = sum(&mut phases.iter().filter_map(phase_ns));
        Self::ensure_duration("its phases", phases_ns, elapsed_ns)?;
        let steps_ns = sum(&mut steps.iter().map(|step| step.elapsed_ns));
        Self::ensure_duration("its steps", steps_ns, elapsed_ns)?;
        let latencies = phases.iter().flat_map(|phase| &phase.latencies);
        let longest = latencies.filter_map(|it| it.histogram.max_ns()).max();
        Self::ensure_duration("an operation", longest.unwrap_or(0), elapsed_ns)
    }
}

/// Time of a phase with its sync and unmount.
fn phase_ns(phase: &PhaseRecord) -> Option<u64> {
    let settled = phase.settled.unwrap_or_default();
    let settled_ns = settled.sync_ns.saturating_add(settled.unmount_ns);
    Some(phase.elapsed_ns?.saturating_add(settled_ns))
}

/// Checks that no window of virtual time begins before the one before has ended.
fn ensure_order(phases: &[PhaseRecord]) -> Result<(), String> {
    let mut last_ns = 0;
    for phase in phases {
        for window in [phase.window, phase.settle_window].into_iter().flatten() {
            if window.begin_ns < last_ns {
                return Err(format!(
                    "a phase '{}' that began before the last ended",
                    phase.name
                ));
            }
            last_ns = window.end_ns;
        }
    }
    Ok(())
}

/// Checks the figures of a phase of at most `threads` threads; an error says what it has.
pub(super) fn ensure_plausible(
    phase: &PhaseRecord,
    threads: u64,
    clock: Clock,
) -> Result<(), String> {
    let is_done = phase.outcome == PhaseOutcome::Done;
    if is_done && (phase.elapsed_ns.is_none() || phase.operations.is_none()) {
        return Err("no time or no operations".to_owned());
    }
    if !is_done && has_figures(phase) {
        return Err("figures although it is not done".to_owned());
    }
    if phase.threads.len() as u64 > threads.max(THREADS_MAX) {
        return Err(format!("figures of {} threads", phase.threads.len()));
    }
    let counts = [phase.elapsed_ns, phase.operations, phase.bytes];
    ensure_small("a count", counts.into_iter().flatten())?;
    if phase.first_done_ns > phase.elapsed_ns {
        return Err("a thread that finished after all had".to_owned());
    }
    if phase.harness_share.is_some_and(|share| share < 0.0) {
        return Err("a negative share of fslab".to_owned());
    }
    phase.series.as_ref().map_or(Ok(()), ensure_series)?;
    ensure_latencies(&phase.latencies)?;
    phase.threads.iter().try_for_each(ensure_thread)?;
    ensure_own(phase)?;
    ensure_windows(phase, clock)?;
    ensure_numbers(&phase.cpu)?;
    ensure_numbers(&phase.device)?;
    ensure_numbers(&phase.settled)?;
    ensure_numbers(&phase.host)?;
    ensure_numbers(&phase.insight)?;
    ensure_numbers(&phase.settle_insight)
}

fn has_figures(phase: &PhaseRecord) -> bool {
    let is_any = phase
        .elapsed_ns
        .or(phase.operations)
        .or(phase.bytes)
        .is_some()
        || phase.cpu.is_some()
        || phase.series.is_some()
        || phase.device.is_some()
        || phase.settled.is_some();
    let lists = [
        phase.latencies.len(),
        phase.threads.len(),
        phase.figures.len(),
        phase.lists.len(),
    ];
    is_any || lists.iter().any(|count| *count > 0)
}

fn ensure_small(what: &str, numbers: impl IntoIterator<Item = u64>) -> Result<(), String> {
    match numbers.into_iter().find(|number| *number > NUMBER_MAX) {
        Some(number) => Err(format!("{what} of {number}")),
        None => Ok(()),
    }
}

fn ensure_series(series: &TimeSeries) -> Result<(), String> {
    let intervals = series.operations.len();
    if series.interval_ns == 0 || intervals > INTERVALS_MAX || intervals != series.bytes.len() {
        return Err(format!("a progress of {intervals} intervals"));
    }
    ensure_small("the width of an interval", [series.interval_ns])?;
    let numbers = series.operations.iter().chain(&series.bytes);
    ensure_small("an interval", numbers.copied())
}

fn ensure_latencies(latencies: &[OperationLatency]) -> Result<(), String> {
    let counts = latencies.iter().map(|it| it.histogram.count());
    ensure_small("a number of latencies", counts)
}

fn ensure_thread(thread: &ThreadRecord) -> Result<(), String> {
    let counts = [thread.elapsed_ns, thread.operations, thread.bytes];
    ensure_small("a count of a thread", counts)?;
    ensure_latencies(&thread.latencies)?;
    ensure_numbers(&thread.cpu)
}

/// Checks the figures of the workload alone.
fn ensure_own(phase: &PhaseRecord) -> Result<(), String> {
    for (name, value) in &phase.figures {
        if !METRICS.iter().any(|metric| metric.name == name) {
            return Err(format!("an unknown figure {}", quoted(name)));
        }
        if !value.is_finite() || *value < 0.0 {
            return Err(format!("{value} as its figure {name}"));
        }
    }
    Ok(())
}

fn ensure_windows(phase: &PhaseRecord, clock: Clock) -> Result<(), String> {
    let windows = [phase.window, phase.settle_window];
    let ns = windows
        .iter()
        .flatten()
        .flat_map(|it| [it.begin_ns, it.end_ns]);
    ensure_small("a time", ns)?;
    let length = |window: Window| window.end_ns.checked_sub(window.begin_ns);
    if windows.into_iter().flatten().any(|it| length(it).is_none()) {
        return Err("a window that ends before it begins".to_owned());
    }
    let is_other = phase
        .window
        .is_some_and(|it| length(it) != phase.elapsed_ns);
    if is_other || (clock == Clock::Real && phase.window.is_some()) {
        return Err("a window of virtual time that is not its own".to_owned());
    }
    Ok(())
}

/// Checks all numbers of counters with many fields.
pub(super) fn ensure_numbers(counters: &impl Serialize) -> Result<(), String> {
    let tree = serde_json::to_value(counters).map_err(|error| error.to_string())?;
    match largest(&tree) {
        number if number <= NUMBER_MAX => Ok(()),
        number => Err(format!("a counter of {number}")),
    }
}

fn largest(tree: &Value) -> u64 {
    match tree {
        Value::Number(number) => number.as_u64().unwrap_or(0),
        Value::Array(list) => list.iter().map(largest).max().unwrap_or(0),
        Value::Object(fields) => fields.values().map(largest).max().unwrap_or(0),
        _ => 0,
    }
}

/// Checks the times of steps.
pub(super) fn ensure_steps(steps: &[StepRecord]) -> Result<(), String> {
    ensure_small(
        "the time of a step",
        steps.iter().map(|step| step.elapsed_ns),
    )
}

/// Characters shown of a text that does not match.
const SHOWN_MAX: usize = 60;

/// A text from elsewhere, for a message: shortened, without control characters.
pub fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN_MAX).collect();
    let rest = if shown.len() < text.len() { "..." } else { "" };
    format!("'{}{rest}'", shown.escape_debug())
}
