//! Adds the analysis of the traces of simulated disks to the trial's record.

use std::path::PathBuf;

use fslab_disk::trace::{DiskTraceError, Reader, analyse_all};
use fslab_model::{Bytes, Failure, FailureKind, TrialOutcome, TrialRecord, Window};

/// Adds disk activity in each phase, while each settled, and in the complete trial. If the trace
/// cannot be read, the trial has failed; an earlier failure is kept.
///
/// A guest that was killed has not written the end of its trace: what lies behind the last request
/// of a failed trial is not known.
pub(crate) fn add_insight(traces: &[PathBuf], disk: Bytes, record: &mut TrialRecord) {
    if let Err(error) = try_to_add(traces, disk, record)
        && record.outcome == TrialOutcome::Done
    {
        let text = "cannot read the trace of the simulated disk";
        let failure = Failure::new(FailureKind::Device, text).because(&error);
        record.outcome = TrialOutcome::Failed { failure };
    }
}

fn try_to_add(
    traces: &[PathBuf],
    disk: Bytes,
    record: &mut TrialRecord,
) -> Result<(), DiskTraceError> {
    let windows: Vec<Window> = record
        .phases
        .iter()
        .flat_map(|phase| [phase.window, phase.settle_window])
        .flatten()
        .collect();
    let readers = traces.iter().map(|trace| Reader::open(trace));
    let readers = readers.collect::<Result<_, _>>()?;
    let found = analyse_all(readers, &windows, disk.0 / 512)?;
    let is_whole = record.outcome == TrialOutcome::Done;
    let is_known = |window: Window| is_whole || window.end_ns <= found.end_ns;
    let mut insights = found.windows.into_iter();
    let mut of = |window: Option<Window>| {
        let window = window?;
        insights.next().filter(|_| is_known(window))
    };
    for phase in &mut record.phases {
        phase.insight = of(phase.window);
        phase.settle_insight = of(phase.settle_window);
    }
    record.insight = found.whole;
    Ok(())
}

#[cfg(test)]
mod tests {
    use fslab_disk::trace::{Op, Record, Writer};
    use fslab_model::{Headline, Parameters, PhaseKind, PhaseOutcome, PhaseRecord, PhaseSpec};

    use super::*;
    use crate::sample_trial::sample_trial;

    /// A trial with a phase in each of `windows`.
    fn trial(outcome: TrialOutcome, windows: &[(u64, u64)]) -> TrialRecord {
        let phase = |(begin_ns, end_ns): &(u64, u64)| {
            let spec = PhaseSpec::new("write", "write", Parameters::new());
            let headline = Headline::Throughput;
            let kind = PhaseKind::Write;
            let mut phase = PhaseRecord::empty(&spec, kind, headline, PhaseOutcome::Done);
            phase.window = Some(Window {
                begin_ns: *begin_ns,
                end_ns: *end_ns,
            });
            phase
        };
        TrialRecord {
            phases: windows.iter().map(phase).collect(),
            ..sample_trial(outcome)
        }
    }

    /// A guest that was killed lost the trace, and the report said that ext4 does not flush.
    #[test]
    fn behind_the_end_of_the_trace_of_a_killed_guest_nothing_is_known() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("trace");
        let mut writer = Writer::new(Vec::new()).expect("a trace");
        let record = Record {
            submit_ns: 10,
            start_ns: 20,
            done_ns: 90,
            sectors: 8,
            op: Op::Write,
            depth: 1,
            ..Record::default()
        };
        writer.add(&record).expect("added");
        let bytes = writer.finish().expect("a trace");
        std::fs::write(&path, bytes).expect("written");
        let windows = [(0, 90), (90, 200)];
        let known = |outcome: TrialOutcome| {
            let mut record = trial(outcome, &windows);
            add_insight(std::slice::from_ref(&path), Bytes::mib(1), &mut record);
            let phases = record.phases.iter();
            phases.map(|it| it.insight.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(known(TrialOutcome::Done), [true, true]);
        let failure = Failure::new(FailureKind::Timeout, "the trial exceeded its limit");
        assert_eq!(known(TrialOutcome::Failed { failure }), [true, false]);
    }
}
