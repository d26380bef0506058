//! Judges the states of a log, each one once: those that were kept before are not judged again.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fslab_crash::{
    CrashState, DiskLog, Examination, FailingState, Judge, JudgedState, PromisedBy, Promises,
    minimise,
};
use fslab_model::{Failure, FailureKind, StateKind, Survival};
use fslab_venue::{Control, StateJudge, StateJudgeSettings, examine};

use super::kept_states::KeptStates;

/// Receives the progress of judging a log.
pub trait StateObserver: Sync {
    /// `before` of `of` states were judged by an earlier command.
    fn known(&self, before: usize, of: usize);
    /// `done` of `of` states are judged.
    fn judged(&self, done: usize, of: usize);
}

/// The states of a log.
pub struct JudgedStates {
    /// What is left, over all states.
    pub survival: Survival,
    /// The states in which something is wrong.
    pub failing: Vec<FailingState>,
}

/// Judges the states of an examination that `kept` does not have, and keeps each in it.
///
/// # Errors
/// Those of the guests and of the file of kept states; a stop on request.
pub fn judge_states(
    examination: &Examination,
    settings: &[StateJudgeSettings],
    mut kept: Option<KeptStates>,
    observer: &dyn StateObserver,
    control: &Control,
) -> Result<JudgedStates, Failure> {
    let subject = examination.log().head.parsed_subject()?;
    let known = kept.as_mut().map(KeptStates::take_known);
    let known = known.unwrap_or_default();
    let judged = judged_states(examination, &known, settings, kept, observer, control)?;
    let promises = Promises::built_in();
    let by = PromisedBy::of(&promises, &subject);
    Ok(JudgedStates {
        survival: examination.survival(&judged, by),
        failing: by.failing(judged),
    })
}

fn judged_states(
    examination: &Examination,
    known: &BTreeMap<String, JudgedState>,
    settings: &[StateJudgeSettings],
    kept: Option<KeptStates>,
    observer: &dyn StateObserver,
    control: &Control,
) -> Result<Vec<JudgedState>, Failure> {
    let of = examination.states().len();
    let is_known = |state: &CrashState| known.contains_key(&examination.name(state));
    let before = match known.is_empty() {
        true => 0,
        false => examination
            .states()
            .iter()
            .filter(|it| is_known(&it.1))
            .count(),
    };
    if before > 0 {
        observer.known(before, of);
    }
    let done = AtomicUsize::new(before);
    let has_kept = kept.is_some();
    let kept = Mutex::new(kept);
    let failed = Mutex::new(None);
    let take = |judged: &JudgedState| {
        if let Ok(mut kept) = kept.lock()
            && let Some(Err(error)) = kept.as_mut().map(|kept| kept.add(judged))
        {
            *kept = None;
            if let Ok(mut failed) = failed.lock() {
                *failed = Some(error);
            }
            control.request_stop();
        }
        observer.judged(done.fetch_add(1, Ordering::Relaxed) + 1, of);
    };
    let is_stopped = || control.is_stopping();
    let judged = examine(examination, known, settings, &is_stopped, &take)?;
    if let Some(error) = failed.into_inner().ok().flatten() {
        return Err(error);
    }
    judged.ok_or_else(|| {
        let text = "judging was stopped on request";
        let failure = Failure::new(FailureKind::Interrupted, text);
        match has_kept {
            true => failure.hint("run the same command again to continue"),
            false => failure
                .hint("use --resume to save judged states, so that the next run can continue"),
        }
    })
}

/// Judges one state in a guest.
///
/// # Errors
/// Those of the guest, and scripts that cannot have been done.
pub fn judge_state(
    log: &DiskLog,
    state: &CrashState,
    settings: StateJudgeSettings,
) -> Result<JudgedState, Failure> {
    let judge = judge_of(log)?;
    let mut guest = StateJudge::new(log, settings)?;
    let outcome = guest.judge(state)?;
    guest.end()?;
    Ok(judge.judge(StateKind::Sampled, state, state.to_string(), &outcome))
}

/// A state that no single loss can be left out of.
pub struct MinimalState {
    /// The state.
    pub state: CrashState,
    /// What is wrong with it.
    pub judged: Option<JudgedState>,
    /// The states that were judged.
    pub tried: usize,
}

/// Leaves out lost writes of `state` as long as it breaks the same promises; at most `tries` times.
/// `None` if nothing is wrong with it.
///
/// # Errors
/// Those of the guest, and scripts that cannot have been done.
pub fn minimal_state(
    log: &DiskLog,
    state: &CrashState,
    tries: usize,
    settings: StateJudgeSettings,
) -> Result<Option<MinimalState>, Failure> {
    let judge = judge_of(log)?;
    let subject = log.head.parsed_subject()?;
    let promises = Promises::built_in();
    let by = PromisedBy::of(&promises, &subject);
    let mut guest = StateJudge::new(log, settings)?;
    let (mut failure, mut tried, mut wanted) = (None, 0, None);
    let mut last = None;
    let found = minimise(state, tries, |state| {
        if failure.is_some() {
            return false;
        }
        tried += 1;
        let outcome = match guest.judge(state) {
            Ok(outcome) => outcome,
            Err(error) => {
                failure = Some(error);
                return false;
            }
        };
        let judged = judge.judge(StateKind::Sampled, state, state.to_string(), &outcome);
        // The state is what it fails by: another way to fail is another state.
        let broken = by.broken_in(&judged);
        let wanted = wanted.get_or_insert_with(|| broken.clone());
        let is_same = judged.is_failing() && wanted.is_subset(&broken);
        if is_same {
            last = Some(judged);
        }
        is_same
    });
    guest.end()?;
    match failure {
        Some(failure) => Err(failure),
        None => Ok(found.map(|state| MinimalState {
            state,
            judged: last,
            tried,
        })),
    }
}

fn judge_of(log: &DiskLog) -> Result<Judge<'_>, Failure> {
    Judge::new(&log.head.scripts, &log.head.databases).map_err(|error| {
        let text = format!("invalid scripts in the log: {error}");
        Failure::new(FailureKind::BadInput, text)
    })
}
