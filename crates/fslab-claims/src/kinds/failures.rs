//! Claims about failures: `fails`, and the share of failed repeats.

use fslab_model::{PhaseOutcome, PhaseRecord, TrialOutcome, TrialRecord};

use crate::evidence::{Evidence, Member, Ranges};
use crate::judgement::{Case, Judgement};
use crate::missing::MissingReason;
use crate::ratio::Selection;
use crate::{Finding, Limits, Score};

/// How a phase ended in one repeat.
enum PhaseEnd<'r> {
    Done,
    Failed(String),
    /// Not run, for a reason other than a failure.
    Skipped(&'r str),
}

/// Evaluates `fails`: the phase fails in every repeat of each of `subjects`.
pub(crate) fn fails(case: &Case<'_, '_>, phase: &str, subjects: &[String]) -> Judgement {
    let scale = case.evidence.run.header.plan.scale;
    if !scale.is_full() {
        return Judgement::missing(format!(
            "what fails at full scale may not fail at {scale}: it needs a run at scale 1"
        ));
    }
    let limits = Limits::at_least(100.0);
    let finding = |name: &String| match case.evidence.member(name) {
        Err(gap) => Finding::gap(format!("{name}: {phase}"), gap, limits),
        Ok(member) => {
            let what = format!("{}: {phase}", member.label);
            match case.evidence.phase_ends(&member, phase, &case.ranges) {
                Err(gap) => Finding::gap(what, gap, limits),
                Ok(phase_ends) => finding(what, &phase_ends),
            }
        }
    };
    Judgement::all(subjects.iter().map(finding).collect())
}

fn finding(what: String, phase_ends: &[PhaseEnd<'_>]) -> Finding {
    let failed = phase_ends
        .iter()
        .filter(|it| matches!(it, PhaseEnd::Failed(_)))
        .count();
    let reason = phase_ends.iter().find_map(|it| match it {
        PhaseEnd::Failed(text) => Some(text.clone()),
        _ => None,
    });
    Finding {
        remark: reason,
        ..Finding::of_repeats(what, failed, phase_ends.len())
    }
}

impl<'r> Evidence<'r> {
    /// How a phase ended in each repeat of a subject whose plan has it.
    fn phase_ends(
        &self,
        member: &Member,
        phase: &str,
        ranges: &Ranges,
    ) -> Result<Vec<PhaseEnd<'r>>, MissingReason> {
        let trials = self.records(member, phase);
        let phase_ends: Vec<PhaseEnd<'r>> = trials
            .iter()
            .filter_map(|(trial, records)| phase_end(trial, records))
            .collect();
        if let Some(PhaseEnd::Skipped(reason)) = phase_ends
            .iter()
            .find(|it| matches!(it, PhaseEnd::Skipped(_)))
        {
            return Err(format!("'{phase}' was skipped for {}: {reason}", member.label).into());
        }
        if phase_ends.is_empty() {
            let phases = [phase.to_owned()];
            let gap = self.figures(member, &phases, ranges, Score::Headline).err();
            return Err(gap.unwrap_or_else(|| format!("{} has no trial", member.label).into()));
        }
        Ok(phase_ends)
    }

    /// The number of repeats that failed in the claim's phases, or before them, and of all.
    pub(crate) fn failed(
        &self,
        member: &Member,
        selection: Selection<'_>,
    ) -> Result<(usize, usize), MissingReason> {
        let (mut failed, mut all) = (0, 0);
        for phase in selection.phases {
            let phase_ends = self.phase_ends(member, phase, selection.ranges)?;
            failed += phase_ends
                .iter()
                .filter(|it| matches!(it, PhaseEnd::Failed(_)))
                .count();
            all += phase_ends.len();
        }
        Ok((failed, all))
    }
}

/// How the phase ended in one trial; `None` if the trial neither ran it nor failed in a phase
/// before it: the plan has no such phase, or the trial failed for another reason.
fn phase_end<'r>(trial: &'r TrialRecord, records: &[&'r PhaseRecord]) -> Option<PhaseEnd<'r>> {
    let failed_phase = trial
        .phases
        .iter()
        .find_map(|record| match &record.outcome {
            PhaseOutcome::Failed { failure } => Some((record, failure)),
            _ => None,
        });
    for record in records {
        match &record.outcome {
            PhaseOutcome::Done => {}
            PhaseOutcome::Failed { failure } => return Some(PhaseEnd::Failed(failure.to_string())),
            PhaseOutcome::Skipped { reason } => {
                let cause = failed_phase
                    .filter(|(failed, _)| *reason == PhaseOutcome::reason_after(&failed.name));
                return Some(match cause {
                    Some((failed, failure)) => {
                        PhaseEnd::Failed(format!("'{}' before it failed: {failure}", failed.name))
                    }
                    None => PhaseEnd::Skipped(reason),
                });
            }
        }
    }
    match (&trial.outcome, records.is_empty()) {
        (_, false) => Some(PhaseEnd::Done),
        // The process died after its first phase had begun.
        (TrialOutcome::Failed { failure }, true) if !trial.phases.is_empty() => {
            Some(PhaseEnd::Failed(failure.to_string()))
        }
        _ => None,
    }
}
