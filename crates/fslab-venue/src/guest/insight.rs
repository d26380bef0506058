//! What the trace of a simulated disk adds to the record of its trial.

use std::path::Path;

use fslab_disk::trace::{DiskTraceError, Reader, analyse};
use fslab_model::{Bytes, Failure, FailureKind, TrialOutcome, TrialRecord, Window};

/// Adds what the disk did in each phase, while each settled, and in the whole trial. A trial whose
/// trace cannot be read has failed; one that has failed anyway keeps its own reason.
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
