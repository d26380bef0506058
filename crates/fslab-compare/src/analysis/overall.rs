//! The comparison of subjects by the weighted geometric mean over phases.

use fslab_model::{Better, MetricDefinition, Unit};
use fslab_stats::{OverallMeans, TrialValues};

use super::correction::correct;
use super::ground::{Ground, speeds};
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
    /// The indexes of these phases in the run, each with its weight, from 0 to 1: see [`Ground`].
    pub phases: Vec<(usize, f64)>,
    /// The weighted geometric mean over these phases of each trial. Only their ratios have a
    /// meaning.
    pub comparison: Comparison,
}

impl OverallAnalysis {
    /// `None` for one subject, or for fewer than two phases that all complete subjects share.
    pub(super) fn of(phases: &[PhaseAnalysis]) -> Option<Self> {
        let subjects = phases.first()?.cells.len();
        let grounds = Ground::of(phases, |_| true);
        let values: Vec<TrialValues> = (0..subjects)
            .map(|subject| speeds(phases, &grounds, subject))
            .collect();
        let weights: Vec<f64> = grounds.iter().map(|ground| ground.weight).collect();
        let overall = OverallMeans::weighted(&values, &weights)
            .filter(|means| subjects > 1 && means.phases.len() > 1)?;
        let is_virtual = phases.iter().any(|phase| phase.is_virtual);
        let mut comparison = Comparison::timed(&GEOMETRIC_MEAN, overall.subjects, is_virtual);
        correct(&mut [&mut comparison]);
        let used = overall.phases.iter().map(|place| &grounds[*place]);
        Some(Self {
            phases: used.map(|ground| (ground.phase, ground.weight)).collect(),
            comparison,
        })
    }
}
