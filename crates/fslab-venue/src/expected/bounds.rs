//! How much a trial may write: lines and bytes that follow from its phases.

use fslab_model::PhaseSpec;
use fslab_workload::Workload;
use serde_json::Value;

/// Bytes of a trial's record besides its phases: steps with their outputs, facts, the console.
const BASE_BYTES: u64 = 32 << 20;
/// Bytes of an event besides its threads; the largest has the times of enumerated scripts.
const EVENT_BYTES: u64 = 16 << 20;
/// Bytes of a phase, and again of each of its threads: histograms of ten kinds of operations with
/// thousands of buckets each, and the progress over time.
const PHASE_BYTES: u64 = 512 << 10;
/// Events besides those of phases: steps before and after them.
const BASE_LINES: u64 = 10_000;
/// Events of a phase: remounts, and what the kernel said.
const PHASE_LINES: u64 = 64;
/// Parameters of jobs that say how many threads have figures.
const THREAD_COUNTS: [&str; 4] = ["threads", "clients", "processes", "workers"];

/// Limits of what a trial writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputBounds {
    /// Bytes of a line with one event.
    pub event_bytes: u64,
    /// Bytes of all events, and of a line with the record.
    pub record_bytes: u64,
    /// Number of events.
    pub lines: u64,
}

impl OutputBounds {
    /// Those of a trial whose phases have so many threads, on all ranks, and run in so many rounds.
    pub(super) fn of(threads: impl Iterator<Item = u64>, rounds: u64) -> Self {
        let (mut phases, mut bytes, mut most) = (0_u64, 0_u64, 0);
        for threads in threads {
            let of_phase = PHASE_BYTES.saturating_mul(threads.saturating_add(1));
            phases += 1;
            bytes = bytes.saturating_add(of_phase);
            most = most.max(of_phase);
        }
        Self {
            event_bytes: EVENT_BYTES.saturating_add(most),
            record_bytes: BASE_BYTES.saturating_add(bytes.saturating_mul(rounds)),
            lines: BASE_LINES.saturating_add((phases * PHASE_LINES).saturating_mul(rounds)),
        }
    }
}

/// Number of threads of a phase with separate figures.
pub(super) fn threads_of(workload: &Workload, phase: &PhaseSpec) -> u64 {
    let resolved = workload.job_parameters(&phase.parameters);
    // Parameters that cannot be used end the trial before the phase.
    let parameters = resolved.as_ref().unwrap_or(&phase.parameters);
    parameters.iter().map(counted).sum::<u64>().max(1)
}

/// The threads that a parameter asks for; those of the jobs of a list are added.
fn counted((name, value): (&String, &Value)) -> u64 {
    match value {
        Value::Number(number) if THREAD_COUNTS.contains(&name.as_str()) => {
            number.as_u64().unwrap_or(0)
        }
        Value::Array(jobs) => {
            let of_jobs = jobs.iter().filter_map(Value::as_object);
            of_jobs.flat_map(|job| job.iter().map(counted)).sum()
        }
        Value::Object(job) => job.iter().map(counted).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::{Bytes, Parameters};

    use super::*;

    #[test]
    fn bounds_follow_from_phases_threads_and_rounds() {
        let one = OutputBounds::of([1].into_iter(), 1);
        assert_eq!(one.record_bytes, BASE_BYTES + 2 * PHASE_BYTES);
        assert_eq!(one.event_bytes, EVENT_BYTES + 2 * PHASE_BYTES);
        let many = OutputBounds::of([1, 63].into_iter(), 10);
        assert_eq!(many.record_bytes, BASE_BYTES + 10 * 66 * PHASE_BYTES);
        assert_eq!(many.event_bytes, EVENT_BYTES + 64 * PHASE_BYTES);
        assert_eq!(many.lines, BASE_LINES + 20 * PHASE_LINES);
        let endless = OutputBounds::of([u64::MAX].into_iter(), u64::MAX);
        assert_eq!(endless.record_bytes, u64::MAX);
    }

    #[test]
    fn threads_are_those_of_the_job_whether_the_study_or_the_workload_says_so() {
        let of = |workload: &str, parameters: Parameters| {
            let workload = fslab_workload::find(workload).expect("there");
            let resolved = workload.resolve(&parameters, Bytes::gib(1));
            let phase = PhaseSpec::new("p", workload.name(), resolved.expect("resolves"));
            threads_of(workload, &phase)
        };
        assert_eq!(of("write", Parameters::new()), 1);
        let four = Parameters::from_iter([("threads".to_owned(), 4.into())]);
        assert_eq!(of("write", four), 4);
        assert_eq!(of("fb-varmail", Parameters::new()), 16);
    }
}
