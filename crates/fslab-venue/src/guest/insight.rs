//! Adds the analysis of a simulated disk's trace to the trial's record.

use std::path::Path;

use fslab_disk::trace::{DiskTraceError, Reader, analyse};
use fslab_model::{Bytes, Failure, FailureKind, TrialOutcome, TrialRecord, Window};

/// Adds disk activity in each phase, while each settled, and in the complete trial. If the trace
/// cannot be read, the trial has failed; an earlier failure is kept.
pub(crate) fn add_insight(trace: &Path, disk: Bytes, record: &mut TrialRecord) {
    if let Err(error) = try_to_add(trace, disk, record)
        && record.outcome == TrialOutcome::Done
    {
        let text = "cannot read the trace of the simulated disk";
        let failure = Failure::new(FailureKind::Device, text).because(&error);
        record.outcome = TrialOutcome::Failed { failure };
    }
}

fn try_to_add(trace: &Path, disk: Bytes, record: &mut TrialRecord) -> Result<(), DiskTraceError> {
    let windows: Vec<Window> = record
        .phases
        .iter()
        .flat_map(|phase| [phase.window, phase.settle_window])
        .flatten()
        .collect();
    let found = analyse(Reader::open(trace)?, &windows, disk.0 / 512)?;
    let mut insights = found.windows.into_iter();
    for phase in &mut record.phases {
        phase.insight = phase.window.and_then(|_| insights.next());
        phase.settle_insight = phase.settle_window.and_then(|_| insights.next());
    }
    record.insight = found.whole;
    Ok(())
}
