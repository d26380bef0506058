//! The pilot of a comparison in real time: one trial of each subject at the smallest scale, from
//! whose times follows the scale at which enough repeats fit the time budget.
//!
//! A trial has a fixed part (mkfs, mount, unmount, check, dropped caches) and its phases, whose
//! time is proportional to the scale. The records of the pilot are no results.

use std::time::{Duration, Instant};

use fslab_model::{
    Failure, FailureKind, Plan, RunId, Scale, TrialId, TrialOutcome, TrialRecord, VenueKind,
};
use fslab_venue::Control;

use crate::executor::{Executor, trial_request};
use crate::request::Request;

/// The scales of which one is taken, from the largest.
const SCALES: [&str; 5] = ["1", "1/2", "1/4", "1/8", "1/16"];

/// Repeats for which there should be time. Among 16 phases of three subjects a difference is
/// decided at a p-value of about 0.05 / 32, which two or three pairs do not reach.
const REPEATS_WANTED: f64 = 8.0;

/// The scales of which one is taken, from the largest; the last is the pilot's.
///
/// # Panics
/// Never: all of them are fractions.
pub fn scales() -> impl DoubleEndedIterator<Item = Scale> {
    SCALES.iter().map(|text| text.parse().expect("a fraction"))
}

/// The scale of the pilot.
pub fn pilot_scale() -> Scale {
    scales().next_back().unwrap_or(Scale::FULL)
}

/// Whether the scale of `plan`, which `request` gives, is to be chosen by the time budget.
pub fn is_scaled_by_budget(request: &Request, plan: &Plan) -> bool {
    let has_budget = plan.adaptive.as_ref().and_then(|it| it.budget_s).is_some();
    let is_real = !matches!(plan.venue.kind(), VenueKind::Sim | VenueKind::Fake);
    let is_plain = request.survival.is_none() && request.ranks <= 1;
    request.study.scale.by_budget && request.scale.is_none() && has_budget && is_real && is_plain
}

/// What the pilot took, of all subjects together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PilotTimes {
    /// Seconds of what does not depend on the scale.
    fixed_s: f64,
    /// Seconds of the phases at full scale.
    phases_s: f64,
}

impl PilotTimes {
    /// The times of these trials at the scale `scale`, each with the time in which it ran, its
    /// image made and removed; `None` if none succeeded.
    fn of(trials: &[(TrialRecord, Duration)], scale: Scale) -> Option<Self> {
        let done = trials
            .iter()
            .filter(|it| it.0.outcome == TrialOutcome::Done);
        let times = done.map(|(record, took)| {
            let phases = record.phases.iter().filter_map(|phase| phase.elapsed_ns);
            let phases_s = phases.sum::<u64>() as f64 / 1e9;
            (took.as_secs_f64(), phases_s)
        });
        let times: Vec<(f64, f64)> = times.collect();
        // What failed takes the time of the others, should it succeed.
        let all = trials.len() as f64 / times.len().max(1) as f64;
        let phases_s: f64 = times.iter().map(|(_, phases_s)| phases_s).sum();
        let trials_s: f64 = times.iter().map(|(trial_s, _)| trial_s).sum();
        (!times.is_empty()).then_some(Self {
            fixed_s: (trials_s - phases_s).max(0.0) * all,
            phases_s: phases_s / scale.ratio() * all,
        })
    }

    /// Seconds of one repeat of all subjects.
    pub fn repeat_s(&self, scale: Scale) -> f64 {
        self.fixed_s + self.phases_s * scale.ratio()
    }

    /// The largest scale at which enough repeats take no longer than `left_s` seconds, or the
    /// smallest.
    pub fn scale(&self, left_s: f64) -> Scale {
        let fits = |scale: &Scale| self.repeat_s(*scale) * REPEATS_WANTED <= left_s;
        scales().find(fits).unwrap_or_else(pilot_scale)
    }
}

/// Runs one trial of each subject of `plan`, which is that of the smallest scale; `None` if none
/// succeeds.
pub fn pilot_times(
    run: &RunId,
    plan: &Plan,
    executor: &dyn Executor,
    control: &Control,
    allow_commands: bool,
) -> Result<Option<PilotTimes>, Failure> {
    let mut trials = Vec::new();
    for cell in plan.cells() {
        let trial = TrialId {
            cell: cell.id,
            repeat: 0,
        };
        if let Some(request) = trial_request(run, plan, allow_commands, cell.id.0, trial) {
            let began = Instant::now();
            let record = executor.run_trial(&request, control, &mut |_| {});
            trials.push((record, began.elapsed()));
        }
        if control.is_stopping() {
            let text = "stopped during the pilot, before the first trial";
            return Err(Failure::new(FailureKind::Interrupted, text));
        }
    }
    Ok(PilotTimes::of(&trials, plan.scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precision::tests::trial;

    #[test]
    fn the_largest_scale_with_enough_repeats_is_taken() {
        // One second of the phases at 1/16 are 16 at full scale; one of all else stays one.
        let record = (trial(0, &[("write", 1.0)]), Duration::from_secs(2));
        let smallest = pilot_scale();
        let times = PilotTimes::of(&[record.clone(), record.clone()], smallest).expect("times");
        assert!((times.repeat_s(Scale::FULL) - 34.0).abs() < 1e-9);
        assert!((times.repeat_s(smallest) - 4.0).abs() < 1e-9);
        for (left_s, scale) in [(280.0, "1"), (270.0, "1/2"), (60.0, "1/8"), (1.0, "1/16")] {
            assert_eq!(times.scale(left_s).to_string(), scale, "{left_s} s");
        }
        // A subject that failed is expected to take as long as the other.
        let failure = Failure::new(FailureKind::Mount, "it is missing");
        let mut failed = record.clone();
        failed.0.outcome = TrialOutcome::Failed { failure };
        let half = PilotTimes::of(&[record, failed.clone()], smallest).expect("times");
        assert_eq!(half, times);
        assert_eq!(PilotTimes::of(&[failed], smallest), None);
    }
}
