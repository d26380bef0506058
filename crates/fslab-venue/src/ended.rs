//! What becomes of a trial whose process has ended: its record, checked against its specification,
//! and whether its failure is one of the host.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fslab_model::{
    Failure, FailureKind, RecordBuilder, TrialOutcome, TrialRecord, TrialRun, TrialSpec,
};

use crate::expected::ExpectedRecord;
use crate::guest::add_insight;
use crate::host_failure::{Scene, charge_host, of_preparation};
use crate::places::Start;
use crate::room_watch::RoomWatch;

/// A trial whose process has ended.
pub(crate) struct Ended<'a> {
    pub(crate) spec: &'a TrialSpec,
    pub(crate) expected: &'a ExpectedRecord,
    pub(crate) start: &'a Start,
    /// The directory of images; `None` if the disk is none.
    pub(crate) images: Option<&'a Path>,
    pub(crate) room: Option<RoomWatch>,
    /// True if this run was asked to stop.
    pub(crate) is_stopping: bool,
}

/// The record of a trial that has ended; with the trace's analysis for a simulated disk.
pub(crate) fn record_of(
    ended: &Ended<'_>,
    run: &dyn Fn(Duration, String) -> TrialRun,
    ending: Ending,
) -> TrialRecord {
    let Ended {
        spec,
        expected,
        start,
        ..
    } = ended;
    let report = ending.builder.finish(ending.death);
    let mut record = report.into_record(run(ending.elapsed, ending.console));
    let whole = expected
        .ensure_all(record.phases.len(), &record.outcome)
        .and_then(|()| expected.ensure_times(&record.phases, &record.steps, record.elapsed_ns));
    let falsehood = whole.err().filter(|_| !ending.is_false);
    if let Some(why) = &falsehood {
        let failure = mismatch(why);
        record.outcome = TrialOutcome::Failed { failure };
    }
    if falsehood.is_some() || ending.is_false {
        withdraw_all(&mut record);
    }
    if let (Start::InGuest(_, share), true) = (start, spec.virtual_time) {
        // A trace that cannot be cut is not readable: that error is reported.
        let _ = share.cut_trace();
        let traces = share.traces(spec.subject.disks() as usize);
        add_insight(&traces, spec.size_bytes, &mut record);
    }
    let scene = Scene {
        was_full: ended.room.as_ref().is_some_and(RoomWatch::was_full),
        images: ended.images,
        guest_memory: memory_of_guest(start),
        is_stopping: ended.is_stopping,
    };
    charge_host(&mut record, &scene);
    record
}

/// The directory of a guest's memory that the user knows: the one for all trials, if the file is in
/// this trial's. `None` without a guest.
fn memory_of_guest(start: &Start) -> Option<PathBuf> {
    let Start::InGuest(guest, share) = start else {
        return None;
    };
    let memory = guest.memory_folder(share);
    let outer = share.folder().parent().filter(|_| memory == share.folder());
    Some(outer.map_or(memory.clone(), Path::to_owned))
}

/// Withdraws the figures of a trial that has reported what cannot be.
fn withdraw_all(record: &mut TrialRecord) {
    if let TrialOutcome::Failed { failure } = &record.outcome {
        let phases = record.phases.iter_mut();
        phases.for_each(|phase| phase.withdraw(failure));
    }
}

/// The outcome of a trial after its device was released, or not: then it has failed, through no
/// fault of its subject.
pub(crate) fn outcome_after_release(outcome: TrialOutcome, left: Option<Failure>) -> TrialOutcome {
    match (outcome, left) {
        (TrialOutcome::Done, Some(failure)) => TrialOutcome::Failed {
            failure: of_preparation(failure),
        },
        (TrialOutcome::Failed { failure }, left) => TrialOutcome::Failed {
            failure: append_cleanup_error(failure, left),
        },
        (TrialOutcome::Done, None) => TrialOutcome::Done,
    }
}

/// `failure`, with a cleanup error added to its causes.
pub(crate) fn append_cleanup_error(mut failure: Failure, left: Option<Failure>) -> Failure {
    if let Some(left) = left {
        failure.causes.push(format!("and afterwards: {left}"));
        failure
            .hint
            .get_or_insert("remove what is left with `fslab clean`".into());
    }
    failure
}

/// Result of a trial's process.
pub(crate) struct Ending {
    pub(crate) builder: RecordBuilder,
    /// The failure that ended it, if any.
    pub(crate) death: Option<Failure>,
    pub(crate) console: String,
    pub(crate) elapsed: Duration,
    /// True if it reported what its specification does not allow: its figures are none.
    pub(crate) is_false: bool,
    /// True if SIGKILL did not end it: its resources must stay leased.
    pub(crate) is_stuck: bool,
}

/// The failure of a trial whose report its specification does not allow: `why` says what it has.
pub(crate) fn mismatch(why: &str) -> Failure {
    let text = format!("the report of the trial does not match its specification: it has {why}");
    Failure::new(FailureKind::Protocol, text)
}
