//! Which trials count for means, deviations and sums: those without a failure, up to the last phase
//! that a claim names. What a study adds behind it is not of the original.

use std::collections::BTreeSet;

use fslab_model::{PhaseOutcome, PhaseRecord, Plan, TrialOutcome, TrialRecord};

use crate::Claims;

/// The position in the plan of the last phase that a claim names.
pub(crate) fn last_named(claims: &Claims, plan: &Plan) -> Option<usize> {
    let named: BTreeSet<&str> = claims
        .claims
        .iter()
        .flat_map(|claim| claim.holds.kind.phases())
        .collect();
    plan.phases
        .iter()
        .rposition(|spec| named.contains(spec.study_phase()))
}

/// Whether the trial has no failure, or only in phases behind `last`.
pub(crate) fn is_done_until(trial: &TrialRecord, plan: &Plan, last: Option<usize>) -> bool {
    if trial.outcome == TrialOutcome::Done {
        return true;
    }
    let position = |record: &PhaseRecord| {
        let mut specs = plan.phases.iter();
        specs.position(|spec| spec.name == record.name)
    };
    let mut failed = trial
        .phases
        .iter()
        .filter(|record| matches!(record.outcome, PhaseOutcome::Failed { .. }))
        .peekable();
    failed.peek().is_some() && failed.all(|record| position(record) > last)
}
