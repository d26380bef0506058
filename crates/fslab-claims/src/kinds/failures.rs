//! Claims about failures: `fails`, and the share of repeats that failed.

use fslab_model::{PhaseOutcome, PhaseRecord, TrialOutcome, TrialRecord};

use crate::evaluate::{Case, Judgement};
use crate::evidence::{Evidence, Member, MissingReason, Ranges};
use crate::ratio::Question;
use crate::{Finding, Limits, Outcome, Quantity, Score};

/// How a repeat came out of a phase.
enum Passage<'r> {
    Done,
    Failed(String),
    /// It was not run, for a reason that is no failure.
    Skipped(&'r str),
}

/// The phase fails for each of `subjects`.
pub(crate) fn fails(case: &Case<'_, '_>, phase: &str, subjects: &[String]) -> Judgement {
    let scale = case.evidence.run.header.plan.scale;
    if !scale.is_full() {
        return Judgement::not_measured(format!(
            "what fails at full scale need not fail at {scale}: it wants a run at scale 1"
        ));
    }
    let limits = Limits::at_least(100.0);
    let finding = |name: &String| match case.evidence.member(name) {
        Err(gap) => Finding::gap(format!("{name}: {phase}"), gap, limits),
        Ok(member) => {
            let what = format!("{}: {phase}", member.label);
            match case.evidence.passages(&member, phase, &case.ranges) {
                Err(gap) => Finding::gap(what, gap, limits),
                Ok(passages) => finding(what, &passages, limits),
            }
        }
    };
    Judgement::all(subjects.iter().map(finding).collect())
}

fn finding(what: String, passages: &[Passage<'_>], limits: Limits) -> Finding {
    let failed = passages
        .iter()
        .filter(|it| matches!(it, Passage::Failed(_)))
        .count();
    let reason = passages.iter().find_map(|it| match it {
        Passage::Failed(text) => Some(text.clone()),
        _ => None,
    });
    let outcome = if failed == passages.len() {
        Outcome::Holds
    } else if failed == 0 {
        Outcome::Fails
    } else {
        Outcome::Undecided
    };
    Finding {
        outcome,
        value: Some(100.0 * failed as f64 / passages.len() as f64),
        quantity: Quantity::Percent,
        places: 1,
        remark: reason,
        ..Finding::gap(what, String::new(), limits)
    }
}

impl<'r> Evidence<'r> {
    /// How each repeat of a subject came out of a phase, of those that were to run it.
    fn passages(
        &self,
        member: &Member,
        phase: &str,
        ranges: &Ranges,
    ) -> Result<Vec<Passage<'r>>, MissingReason> {
        let trials = self.records(member, phase);
        let passages: Vec<Passage<'r>> = trials
            .iter()
            .filter_map(|(trial, records)| passage(trial, records))
            .collect();
        if let Some(Passage::Skipped(reason)) =
            passages.iter().find(|it| matches!(it, Passage::Skipped(_)))
        {
            return Err(format!(
                "'{phase}' was skipped for {}: {reason}",
                member.label
            ));
        }
        if passages.is_empty() {
            let phases = [phase.to_owned()];
            let gap = self.figures(member, &phases, ranges, Score::Headline).err();
            return Err(gap.unwrap_or_else(|| format!("{} has no trial", member.label)));
        }
        Ok(passages)
    }

    /// Of how many repeats how many failed in the claim's phases, or before them.
    pub(crate) fn failed(
        &self,
        member: &Member,
        question: Question<'_>,
    ) -> Result<(usize, usize), MissingReason> {
        let (mut failed, mut all) = (0, 0);
        for phase in question.phases {
            let passages = self.passages(member, phase, question.ranges)?;
            failed += passages
                .iter()
                .filter(|it| matches!(it, Passage::Failed(_)))
                .count();
            all += passages.len();
        }
        Ok((failed, all))
    }
}

/// `None` where the trial neither ran the phase nor failed in a phase before it: the plan has no
/// such phase, or the trial failed for another reason.
fn passage<'r>(trial: &'r TrialRecord, records: &[&'r PhaseRecord]) -> Option<Passage<'r>> {
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
            PhaseOutcome::Failed { failure } => return Some(Passage::Failed(failure.to_string())),
            PhaseOutcome::Skipped { reason } => {
                // A skip that is a failure's consequence names the phase that failed.
                let cause = failed_phase
                    .filter(|(failed, _)| reason.contains(&format!("'{}'", failed.name)));
                return Some(match cause {
                    Some((failed, failure)) => {
                        Passage::Failed(format!("'{}' before it failed: {failure}", failed.name))
                    }
                    None => Passage::Skipped(reason),
                });
            }
        }
    }
    match (&trial.outcome, records.is_empty()) {
        (_, false) => Some(Passage::Done),
        // The process died: in a phase where it had begun one.
        (TrialOutcome::Failed { failure }, true) if !trial.phases.is_empty() => {
            Some(Passage::Failed(failure.to_string()))
        }
        _ => None,
    }
}
