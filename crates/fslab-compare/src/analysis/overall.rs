//! The comparison of subjects by the geometric mean over phases.

use fslab_model::{Better, MetricDefinition, Unit};
use fslab_stats::{OverallMeans, TrialValues};

use super::correction::correct;
use super::{Comparison, PhaseAnalysis};

/// Not a metric of any record: a mean of rates in several units has no unit.
pub(crate) static GEOMETRIC_MEAN: MetricDefinition = MetricDefinition {
    name: "Geometric mean over phases",
    unit: Unit::Ratio,
    better: Better::Higher,
    title: "geometric mean of the headline figures",
};

/// The comparison of subjects over all phases that they share.
#[derive(Clone, Debug, PartialEq)]
pub struct OverallAnalysis {
    /// The indexes of these phases in the run.
    pub phases: Vec<usize>,
    /// The geometric mean over these phases of each trial. Only their ratios are meaningful.
    pub comparison: Comparison,
}

impl OverallAnalysis {
    /// `None` for one subject, or for fewer than two phases that all complete subjects share.
    /// Phases that are not disk-bound are left out: their figures say how long timers were waited
    /// for.
    pub(super) fn of(phases: &[PhaseAnalysis]) -> Option<Self> {
        let compared = || {
            phases
                .iter()
                .enumerate()
                .filter(|(_, p)| p.comparison.is_some() && p.is_disk_bound())
        };
        let subjects = phases.first()?.cells.len();
        let values: Vec<TrialValues> = (0..subjects)
            .map(|subject| {
                let phases: Vec<&PhaseAnalysis> = compared().map(|(_, phase)| phase).collect();
                trials(&phases, subject)
            })
            .collect();
        let overall = OverallMeans::of(&values).filter(|_| subjects > 1)?;
        let places: Vec<usize> = compared().map(|(place, _)| place).collect();
        let is_virtual = phases.iter().any(|phase| phase.is_virtual);
        let mut comparison = Comparison::timed(&GEOMETRIC_MEAN, overall.subjects, is_virtual);
        correct(&mut [&mut comparison]);
        Some(Self {
            phases: overall.phases.iter().map(|place| places[*place]).collect(),
            comparison,
        })
    }
}

/// The headline figures of a subject by trial and phase, inverted where less is better.
fn trials(phases: &[&PhaseAnalysis], subject: usize) -> TrialValues {
    let repeats = phases.iter().filter_map(|phase| phase.cells.get(subject));
    let most = repeats
        .map(|cell| cell.repeats.len())
        .max()
        .unwrap_or_default();
    (0..most)
        .map(|repeat| {
            let value = |phase: &&PhaseAnalysis| {
                let metric = phase.comparison.as_ref()?.metric;
                let value = phase
                    .cells
                    .get(subject)?
                    .repeats
                    .get(repeat)?
                    .value(metric)?;
                metric.better.speed(value)
            };
            phases.iter().map(value).collect()
        })
        .collect()
}
