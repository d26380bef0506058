//! Why a subject is no candidate: it failed, was in part not measured, or is not durable.

use fslab_model::TrialOutcome;

use crate::{Analysis, Ground, GroundFigure, Repeat};

/// Why a subject is not recommended, whatever its figures are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// Trials failed.
    Failed {
        /// Their number.
        trials: usize,
        /// The number of trials with a record.
        of: usize,
        /// The failure of the first.
        reason: String,
    },
    /// A phase that other subjects have was not measured.
    NotMeasured {
        /// The index of the first such phase.
        phase: usize,
        /// The number of such phases.
        phases: usize,
        /// The reason at the first.
        reason: String,
    },
    /// It synced, and no flush reached the disk, where other subjects flushed.
    NoFlush {
        /// The index of the first such phase.
        phase: usize,
        /// The number of such phases.
        phases: usize,
    },
    /// It breaks a promise after a power loss.
    BreaksPromise {
        /// The states that do.
        states: u64,
        /// The states that were judged.
        of: u64,
    },
}

/// The shortfalls of a subject; empty for a candidate.
pub fn shortfalls(analysis: &Analysis, grounds: &[Ground], subject: usize) -> Vec<Shortfall> {
    let found = [
        failed(analysis, subject),
        not_measured(analysis, grounds, subject),
        no_flush(analysis, subject),
        breaks_promise(analysis, subject),
    ];
    found.into_iter().flatten().collect()
}

fn failed(analysis: &Analysis, subject: usize) -> Option<Shortfall> {
    let failures: Vec<String> = analysis
        .trials_of(subject)
        .filter_map(|trial| match &trial.outcome {
            TrialOutcome::Failed { failure } => Some(failure.to_string()),
            TrialOutcome::Done => None,
        })
        .collect();
    Some(Shortfall::Failed {
        trials: failures.len(),
        of: analysis.trials_of(subject).count(),
        reason: failures.into_iter().next()?,
    })
}

/// A repeat without a figure counts, unless the run has not come to it yet.
fn not_measured(analysis: &Analysis, grounds: &[Ground], subject: usize) -> Option<Shortfall> {
    let mut missing = grounds.iter().filter_map(|ground| {
        let phase = &analysis.phases[ground.phase];
        let cell = phase.cells.get(subject)?;
        // A sum of times needs no rate.
        let is_rate = ground.figure != GroundFigure::Time;
        let unmeasured = |repeat: &&Repeat| is_rate || !ground.is_measured(phase, subject, repeat);
        let missing = cell.repeats.iter().filter(unmeasured);
        let reason = missing.clone().find_map(Repeat::shortfall);
        let is_absent = missing.count() == cell.repeats.len();
        let reason = reason.or_else(|| cell.absence().filter(|_| is_absent))?;
        Some((ground.phase, reason))
    });
    let (phase, reason) = missing.next()?;
    Some(Shortfall::NotMeasured {
        phase,
        phases: missing.count() + 1,
        reason,
    })
}

fn no_flush(analysis: &Analysis, subject: usize) -> Option<Shortfall> {
    let phases = analysis.phases.iter().enumerate();
    let mut found = phases.filter(|(_, phase)| phase.sends_no_flush(subject));
    let (phase, _) = found.next()?;
    Some(Shortfall::NoFlush {
        phase,
        phases: found.count() + 1,
    })
}

fn breaks_promise(analysis: &Analysis, subject: usize) -> Option<Shortfall> {
    let mut trials = analysis.trials_of(subject);
    let survival = trials.find_map(|trial| trial.survival.as_ref()?.judged())?;
    (survival.broken_states > 0).then_some(Shortfall::BreaksPromise {
        states: survival.broken_states,
        of: survival.states,
    })
}
