//! Combines the recorders of the threads into the figures of the job.

use fslab_model::{CpuUse, OperationLatency};
use fslab_sys::ResourceUse;
use serde::{Deserialize, Serialize};

use super::clock::cpu_use;
use super::{Recorder, SeriesRecorder};
use crate::{Measured, ThreadMeasured};

/// Result of one thread or process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ThreadOutcome {
    /// Time before its first operation.
    start_ns: u64,
    /// Time after its last operation, including a closing sync.
    end_ns: u64,
    operations: u64,
    bytes: u64,
    latencies: Vec<OperationLatency>,
    series: SeriesRecorder,
    cpu: Option<CpuUse>,
    notes: Vec<String>,
}

impl ThreadOutcome {
    /// The result of a thread that ran from `start_ns` to `end_ns` with the operations in
    /// `recorder` and the resource use `used`.
    pub(crate) fn new(
        start_ns: u64,
        end_ns: u64,
        mut recorder: Recorder,
        used: Option<ResourceUse>,
    ) -> Self {
        let notes = recorder.take_notes();
        let (operations, bytes) = (recorder.operations(), recorder.bytes());
        let (latencies, series) = recorder.finish();
        Self {
            start_ns,
            end_ns,
            operations,
            bytes,
            latencies,
            series,
            cpu: used.map(cpu_use),
            notes,
        }
    }
}

impl ThreadOutcome {
    /// Adds a note.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The same on a clock that shows `ahead_ns` less.
    pub(crate) fn with_clock_ahead(self, ahead_ns: i64) -> Self {
        let shifted = |ns: u64| ns.saturating_add_signed(ahead_ns.saturating_neg());
        Self {
            start_ns: shifted(self.start_ns),
            end_ns: shifted(self.end_ns),
            ..self
        }
    }
}

/// The figures of a job with `outcomes`, of which there is at least one. `moves_data` says whether
/// they include bytes.
pub(crate) fn combine(
    outcomes: Vec<ThreadOutcome>,
    cpu: Option<CpuUse>,
    moves_data: bool,
) -> Measured {
    let start_ns = outcomes
        .iter()
        .map(|outcome| outcome.start_ns)
        .min()
        .unwrap_or(0);
    let since_ns = |end_ns: u64| end_ns - start_ns;
    let first_done_ns = outcomes
        .iter()
        .map(|outcome| since_ns(outcome.end_ns))
        .min();
    let last_done_ns = outcomes
        .iter()
        .map(|outcome| since_ns(outcome.end_ns))
        .max()
        .unwrap_or(0);
    let last_start_ns = outcomes.iter().map(|outcome| outcome.start_ns).max();
    let mut merged: Option<SeriesRecorder> = None;
    let mut latencies = Vec::new();
    let mut threads = Vec::with_capacity(outcomes.len());
    let mut notes = Vec::new();
    for outcome in outcomes {
        for note in outcome.notes {
            // All threads use the same file system: notes are merged.
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        merge_latencies(&mut latencies, &outcome.latencies);
        match &mut merged {
            None => merged = Some(outcome.series),
            Some(merged) => merged.merge(outcome.series),
        }
        threads.push(ThreadMeasured {
            elapsed_ns: outcome.end_ns - outcome.start_ns,
            operations: outcome.operations,
            bytes: outcome.bytes,
            latencies: outcome.latencies,
            cpu: outcome.cpu,
        });
    }
    let bytes = threads.iter().map(|thread| thread.bytes).sum();
    Measured {
        start_ns,
        start_skew_ns: last_start_ns.map_or(0, since_ns),
        elapsed_ns: last_done_ns,
        operations: threads.iter().map(|thread| thread.operations).sum(),
        bytes: moves_data.then_some(bytes),
        latencies,
        series: merged.map(SeriesRecorder::finish),
        cpu: cpu.or_else(|| sum_of_cpu(threads.iter().map(|thread| thread.cpu))),
        threads,
        first_done_ns: first_done_ns.unwrap_or(0),
        last_done_ns,
        notes,
    }
}

/// The sum; `None` if one is unknown.
pub(crate) fn sum_of_cpu(mut all: impl Iterator<Item = Option<CpuUse>>) -> Option<CpuUse> {
    let none = CpuUse {
        voluntary_switches: Some(0),
        involuntary_switches: Some(0),
        ..CpuUse::default()
    };
    all.try_fold(none, |sum, cpu| {
        let cpu = cpu?;
        let both = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
        Some(CpuUse {
            user_ns: sum.user_ns + cpu.user_ns,
            system_ns: sum.system_ns + cpu.system_ns,
            voluntary_switches: both(sum.voluntary_switches, cpu.voluntary_switches),
            involuntary_switches: both(sum.involuntary_switches, cpu.involuntary_switches),
        })
    })
}

fn merge_latencies(into: &mut Vec<OperationLatency>, from: &[OperationLatency]) {
    for more in from {
        match into.iter_mut().find(|it| it.operation == more.operation) {
            Some(latency) => latency.histogram.merge(&more.histogram),
            None => into.push(more.clone()),
        }
    }
}
