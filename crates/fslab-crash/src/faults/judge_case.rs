//! Judges a case: what applications saw, and what is left after that.

use crate::{
    CrashState, FaultyReport, Judge, JudgedState, LogOperation, LogScript, Observed, ObservedEntry,
    ScriptStep, SectorContent, StateCheck, StateFault, StateOutcome, StatePart, StateReport,
    StepError,
};
use fslab_model::{FaultKind, StateKind};

use crate::faults::blocks::SECTOR_BYTES;
use crate::faults::{
    Aftermath, CaseOutcome, Detection, FaultCase, JudgedCase, KernelEnd, Recovery,
};

/// "Read-only file system", on every Linux. ext4 may refuse writes with it after an error and not
/// be mounted read-only.
const EROFS: i32 = 30;

/// Compares what a guest reported with the script: `scripts` were done before it, `script` on the
/// failing disk.
pub fn judge_case(
    case: &FaultCase,
    script: &LogScript,
    scripts: &[LogScript],
    outcome: &CaseOutcome,
) -> Result<JudgedCase, String> {
    let report = &outcome.report;
    let done = done_scripts(script, scripts, outcome);
    let judge = Judge::new(&done, &[])?;
    let at_ns = done.last().map_or(0, |it| it.end_ns);
    let left = left_of(&judge, at_ns, outcome.state.as_ref());
    let errors = errors_of(script, report);
    let wrong_bytes = [&report.before, &report.after]
        .into_iter()
        .flatten()
        .map(|tree| wrong_bytes(&judge_tree(&judge, at_ns, tree)))
        .max();
    let hits = outcome.counted.counts.first().copied().unwrap_or_default();
    Ok(JudgedCase {
        phase: script.phase.clone(),
        case: case.clone(),
        hits: hits.hits,
        retries: match hits.hits {
            0 => 0,
            _ => hits.accesses.saturating_sub(case.expected_accesses),
        },
        detection: detection_of(outcome, &errors),
        recovery: recovery_of(outcome),
        aftermath: left.aftermath,
        failed_steps: failed_steps(script, report),
        errors: errors
            .into_iter()
            .map(|(what, error)| format!("{what}: {error}"))
            .collect(),
        wrong_bytes: wrong_bytes.unwrap_or(0),
        diverged_bytes: diverged_bytes(report.after.as_ref(), outcome.state.as_ref()),
        kernel: match &outcome.ended {
            Some(end) => vec![end.to_string()],
            None => report.kernel.clone(),
        },
        lost_bytes: left.lost_bytes,
        lost_names: left.lost_names,
        lost_bytes_at_end: left.lost_bytes_at_end,
        unsynced_bytes: left.unsynced_bytes,
        check: left.check,
        mount_errors: left.mount_errors,
    })
}

/// The scripts as they were done. After a sync without an error everything of the last is due.
fn done_scripts(
    script: &LogScript,
    scripts: &[LogScript],
    outcome: &CaseOutcome,
) -> Vec<LogScript> {
    let mut done = scripts.to_vec();
    let mut last = outcome.report.script_of(script);
    let has_synced = outcome.report.mount_error.is_none()
        && outcome.report.sync_error.is_none()
        && outcome.ended.is_none();
    if has_synced {
        last.operations.push(LogOperation {
            step: ScriptStep::Sync,
            begin_ns: last.end_ns,
            end_ns: last.end_ns,
            has_failed: false,
        });
    }
    done.push(last);
    done
}

/// The steps that returned errors.
fn failed_steps(script: &LogScript, report: &FaultyReport) -> Vec<String> {
    let start = script.plan().map_or(0, |plan| plan.start);
    let steps = script.operations.iter().skip(start).zip(&report.steps);
    let failed = steps.filter_map(|(operation, error)| {
        let error = error.as_ref()?;
        Some(format!("{}: {}", operation.step, error.text))
    });
    failed.collect()
}

/// The errors that applications saw, each with what saw it.
fn errors_of(script: &LogScript, report: &FaultyReport) -> Vec<(String, String)> {
    let start = script.plan().map_or(0, |plan| plan.start);
    let steps = script.operations.iter().skip(start).zip(&report.steps);
    let word = |error: &StepError| error.text.clone();
    let mut errors: Vec<(String, String)> = Vec::new();
    let mut add = |what: &str, error: Option<&StepError>| {
        errors.extend(error.map(|it| (what.to_owned(), word(it))));
    };
    add("mount", report.mount_error.as_ref());
    let unreadable = |tree: &Option<Observed>| {
        let entries = tree.iter().flat_map(|it| it.iter());
        let mut bad = entries.filter_map(|(name, entry)| match entry {
            ObservedEntry::Unreadable(text) => Some((format!("read /{name}"), short(text))),
            _ => None,
        });
        bad.next()
    };
    let before = unreadable(&report.before);
    let after = unreadable(&report.after);
    if let Some((what, text)) = before {
        errors.push((what, text));
    }
    for (operation, error) in steps {
        let what = operation.step.to_string();
        errors.extend(error.as_ref().map(|it| (what, word(it))));
    }
    errors.extend(
        report
            .sync_error
            .as_ref()
            .map(|it| ("the last sync".to_owned(), word(it))),
    );
    errors.extend(
        report
            .write_error
            .as_ref()
            .map(|it| ("another file".to_owned(), word(it))),
    );
    errors.extend(after);
    errors
}

fn detection_of(outcome: &CaseOutcome, errors: &[(String, String)]) -> Detection {
    match errors.first() {
        _ if outcome.ended.is_some() => Detection::Kernel,
        Some((what, text)) if what == "mount" => {
            let errno = outcome.report.mount_error.as_ref().and_then(|it| it.errno);
            Detection::Errno(errno.map_or_else(|| text.clone(), fslab_sys::errno_name))
        }
        Some((_, text)) => Detection::Errno(text.clone()),
        None if !outcome.report.kernel.is_empty() => Detection::Log,
        None => Detection::Nothing,
    }
}

/// The name of the error in a text of the library, which ends with its number.
fn short(text: &str) -> String {
    let number = text.rsplit_once("(os error ").map(|(_, rest)| rest);
    let number = number.and_then(|it| it.trim_end_matches(')').parse().ok());
    number.map_or_else(|| text.to_owned(), fslab_sys::errno_name)
}

fn recovery_of(outcome: &CaseOutcome) -> Recovery {
    let report = &outcome.report;
    match &outcome.ended {
        Some(KernelEnd::Died(..)) => Recovery::Panic,
        Some(KernelEnd::Hung(_)) => Recovery::Hang,
        None if report.mount_error.is_some() => Recovery::RefusesMount,
        None if report.is_read_only => Recovery::ReadOnly,
        None => match &report.write_error {
            Some(error) if error.errno == Some(EROFS) => Recovery::ReadOnly,
            Some(_) => Recovery::Stops,
            None => Recovery::GoesOn,
        },
    }
}

/// What is left, before and after a repair.
struct Left {
    aftermath: Aftermath,
    lost_bytes: u64,
    lost_names: Vec<String>,
    lost_bytes_at_end: u64,
    unsynced_bytes: u64,
    check: Option<StateCheck>,
    mount_errors: Vec<String>,
}

fn left_of(judge: &Judge, at_ns: u64, state: Option<&StateOutcome>) -> Left {
    let judged = |outcome: &StateOutcome| judge_state(judge, at_ns, outcome);
    let ended = StateOutcome::Hung(StatePart::Prepare);
    let state = state.unwrap_or(&ended);
    let first = judged(state);
    let repaired = match state {
        StateOutcome::Judged(report) => report.repair.as_ref().map(|repair| {
            judged(&StateOutcome::Judged(Box::new(StateReport {
                mount_error: repair.mount_error.clone(),
                tree: repair.tree.clone(),
                ..StateReport::default()
            })))
        }),
        _ => None,
    };
    let last = repaired.as_ref().unwrap_or(&first);
    let lost = lost_of(&last.findings);
    let is_bad = first.check == Some(StateCheck::Errors) && repaired.is_none();
    let aftermath = match () {
        () if last.unmountable.is_some() => Aftermath::Unmountable,
        () if !lost.is_empty() || !last.unreadable.is_empty() => Aftermath::Lost,
        () if is_bad => Aftermath::Damaged,
        () if repaired.is_some() => Aftermath::Repaired,
        () => Aftermath::Intact,
    };
    let bytes = |found: &[&StateFault]| found.iter().map(|it| it.bytes).sum::<u64>();
    let lost_first = lost_of(&first.findings);
    Left {
        aftermath,
        lost_bytes: bytes(&lost_first),
        lost_names: lost
            .iter()
            .map(|it| format!("{} {}", it.name, it.fault.as_str()))
            .chain(last.unreadable.iter().map(|it| format!("{it} unreadable")))
            .collect(),
        lost_bytes_at_end: bytes(&lost),
        unsynced_bytes: last.unsynced.bytes,
        check: first.check,
        mount_errors: [&first, last]
            .iter()
            .filter_map(|it| it.unmountable.clone())
            .collect(),
    }
}

fn judge_state(judge: &Judge, at_ns: u64, outcome: &StateOutcome) -> JudgedState {
    let state = CrashState {
        at_ns,
        lost: Vec::new(),
    };
    judge.judge(StateKind::Prefix, &state, String::new(), outcome)
}

/// What is wrong in a tree that was seen while the disk failed.
fn judge_tree(judge: &Judge, at_ns: u64, tree: &Observed) -> Vec<StateFault> {
    let report = StateReport {
        tree: Some(tree.clone()),
        ..StateReport::default()
    };
    judge_state(judge, at_ns, &StateOutcome::Judged(Box::new(report))).findings
}

/// Faults of what was synced: data that was not is no loss.
fn lost_of(findings: &[StateFault]) -> Vec<&StateFault> {
    let is_lost = |it: &&StateFault| it.fault != FaultKind::Exposed;
    findings.iter().filter(is_lost).collect()
}

/// Bytes that were read and are none that a step wrote there.
fn wrong_bytes(findings: &[StateFault]) -> u64 {
    let is_wrong = |it: &&StateFault| {
        matches!(
            it.fault,
            FaultKind::Garbage | FaultKind::Foreign | FaultKind::Exposed
        )
    };
    let wrong = findings.iter().filter(is_wrong);
    wrong.map(|it| it.bytes).sum()
}

/// Bytes of files that the cache had and the disk has not.
fn diverged_bytes(cached: Option<&Observed>, state: Option<&StateOutcome>) -> u64 {
    let (Some(cached), Some(StateOutcome::Judged(report))) = (cached, state) else {
        return 0;
    };
    let Some(tree) = &report.tree else { return 0 };
    let diverged = cached
        .iter()
        .map(|(name, entry)| match (entry, tree.get(name)) {
            (ObservedEntry::File(cached), Some(ObservedEntry::File(stored))) => {
                let stored: Vec<SectorContent> = stored.sectors().collect();
                let sectors = cached.sectors().enumerate();
                sectors
                    .filter(|(place, it)| stored.get(*place) != Some(it))
                    .count() as u64
            }
            (ObservedEntry::File(cached), _) => cached.sectors().count() as u64,
            _ => 0,
        });
    diverged.sum::<u64>() * SECTOR_BYTES
}
