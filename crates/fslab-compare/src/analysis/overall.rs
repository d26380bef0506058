//! The comparison of subjects by a weighted mean of rates, or by a sum of times, over phases.

use fslab_model::definitions::TOTAL;
use fslab_model::{Better, MetricDefinition, Unit};
use fslab_stats::{Combination, OverallMeans, TrialValues};

use super::correction::correct;
use super::ground::{Ground, GroundFigure, Grounds, parts};
use super::{Comparison, PhaseAnalysis, Repeat};

/// Not a metric of any record: a mean of rates in several units has no unit.
static GEOMETRIC_MEAN: MetricDefinition = MetricDefinition {
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
        let subjects: Vec<usize> = (0..phases.first()?.cells.len()).collect();
        let grounds = Grounds::of_rates(phases).grounds;
        let means = WeightedMeans::of(phases, &grounds, &subjects)
            .filter(|means| subjects.len() > 1 && means.places.len() > 1)?;
        let used = means.places.iter().map(|place| &grounds[*place]);
        Some(Self {
            phases: used.map(|ground| (ground.phase, ground.weight)).collect(),
            comparison: means.comparison,
        })
    }
}

/// Subjects by their weighted geometric mean over grounds or, where these are times, by the sum.
pub(crate) struct WeightedMeans {
    /// An entry for every subject of the run; those that were not asked for have no values.
    pub(crate) comparison: Comparison,
    /// The places of the grounds that all complete subjects have.
    pub(crate) places: Vec<usize>,
}

impl WeightedMeans {
    /// The means or sums of `subjects`; `None` if no ground remains.
    pub(crate) fn of(
        phases: &[PhaseAnalysis],
        grounds: &[Ground],
        subjects: &[usize],
    ) -> Option<Self> {
        Self::of_repeats(phases, grounds, subjects, &|_| true)
    }

    /// The same without the repeats that were disturbed.
    pub(crate) fn undisturbed(
        phases: &[PhaseAnalysis],
        grounds: &[Ground],
        subjects: &[usize],
    ) -> Option<Self> {
        Self::of_repeats(phases, grounds, subjects, &|repeat| !repeat.is_disturbed())
    }

    fn of_repeats(
        phases: &[PhaseAnalysis],
        grounds: &[Ground],
        subjects: &[usize],
        counts: &dyn Fn(&Repeat) -> bool,
    ) -> Option<Self> {
        let values: Vec<TrialValues> = subjects
            .iter()
            .map(|subject| parts(phases, grounds, *subject, counts))
            .collect();
        let weights: Vec<f64> = grounds.iter().map(|ground| ground.weight).collect();
        let (combination, metric) = match grounds.first()?.figure {
            GroundFigure::Time => (Combination::Sum, &TOTAL),
            _ => (Combination::GeometricMean, &GEOMETRIC_MEAN),
        };
        let means = OverallMeans::weighted(&values, &weights, combination)?;
        let mut samples = vec![Vec::new(); phases.first()?.cells.len()];
        for (subject, sample) in subjects.iter().zip(means.subjects) {
            samples[*subject] = sample;
        }
        let is_virtual = phases.iter().any(|phase| phase.is_virtual);
        let mut comparison = Comparison::timed(metric, samples, is_virtual);
        correct(&mut [&mut comparison]);
        Some(Self {
            comparison,
            places: means.phases,
        })
    }
}
