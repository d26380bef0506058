//! Geometric means and sums over several phases, computed per trial, because only trials are
//! independent.

use crate::logs::Logs;
use crate::{Estimate, ratio};

/// A subject with less than 1/`FEW_PHASES` of the phases that the most complete one has is left
/// out, so that its few phases do not limit the others.
const FEW_PHASES: usize = 2;

/// The values of one subject, for each trial one per phase; `None` if it has none.
pub type TrialValues = Vec<Vec<Option<f64>>>;

/// How the values of several phases become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// Their weighted geometric mean.
    GeometricMean,
    /// Their weighted sum.
    Sum,
}

/// Means or sums over the phases that all complete subjects have.
#[derive(Clone, Debug, PartialEq)]
pub struct OverallMeans {
    /// The indices of these phases.
    pub phases: Vec<usize>,
    /// For each subject the mean or sum over `phases` of each trial. Empty if the subject lacks one
    /// of them.
    pub subjects: Vec<Vec<f64>>,
}

impl OverallMeans {
    /// [`OverallMeans::weighted`] with equal weights; `None` if fewer than two phases remain.
    pub fn of(subjects: &[TrialValues]) -> Option<Self> {
        let phases = subjects.iter().flatten().map(Vec::len).max()?;
        Self::weighted(subjects, &vec![1.0; phases], Combination::GeometricMean)
            .filter(|means| means.phases.len() > 1)
    }

    /// Weighted geometric means or sums over the phases for which every subject has values, all
    /// positive; a subject with fewer than half of the phases of the most complete one does not
    /// count. Each phase has one of `weights`; without a positive one it is left out.
    ///
    /// Phases of one trial share its file system, its place on the disk and its time, so they are
    /// not independent: combining their variances as if they were would give too narrow intervals.
    /// So each trial gives one value, its mean or sum over the phases, and these are compared like
    /// any sample. Where trials lack phases, the value of a trial is its jackknife pseudo-value, on
    /// the logarithms, of the mean or sum over phases of the means over trials (Tukey, "Bias and
    /// confidence in not quite large samples", Annals of Mathematical Statistics 29, 1958; Miller,
    /// "The jackknife - a review", Biometrika 61, 1974). Where none is missing, the pseudo-value of
    /// a geometric mean is that of the trial.
    ///
    /// Why geometric: Fleming and Wallace, "How not to lie with statistics: the correct way to
    /// summarize benchmark results", Communications of the ACM 29, 1986.
    ///
    /// `None` if no phase remains.
    pub fn weighted(
        subjects: &[TrialValues],
        weights: &[f64],
        combination: Combination,
    ) -> Option<Self> {
        let weight = |phase: &usize| weights.get(*phase).copied().unwrap_or_default();
        let mut phases = shared(subjects);
        phases.retain(|phase| weight(phase) > 0.0);
        let weights: Vec<f64> = phases.iter().map(weight).collect();
        (!phases.is_empty()).then(|| Self {
            subjects: subjects
                .iter()
                .map(|trials| {
                    let weighted = Weighted {
                        weights: &weights,
                        combination,
                    };
                    weighted.of_trials(trials, &phases).unwrap_or_default()
                })
                .collect(),
            phases,
        })
    }

    /// The ratio of two subjects' geometric means over phases, with its 95 % interval; `None` if
    /// one of them lacks a phase.
    pub fn ratio(&self, numerator: usize, denominator: usize) -> Option<Estimate> {
        ratio(
            self.subjects.get(numerator)?,
            self.subjects.get(denominator)?,
        )
    }
}

/// The values of a phase, by trial.
fn of_phase(trials: &TrialValues, phase: usize) -> impl Iterator<Item = Option<f64>> + '_ {
    trials
        .iter()
        .map(move |trial| trial.get(phase).copied().flatten())
}

/// True if the phase has a value even when any one trial of the subject is left out.
fn has(trials: &TrialValues, phase: usize) -> bool {
    let worth = |trial: &&Vec<Option<f64>>| trial.iter().any(Option::is_some);
    let needed = trials.iter().filter(worth).count().clamp(1, 2);
    let values: Vec<f64> = of_phase(trials, phase).flatten().collect();
    values.len() >= needed && Logs::of(&values).is_some()
}

fn shared(subjects: &[TrialValues]) -> Vec<usize> {
    let all = subjects
        .iter()
        .flatten()
        .map(Vec::len)
        .max()
        .unwrap_or_default();
    let count = |trials: &TrialValues| (0..all).filter(|phase| has(trials, *phase)).count();
    let counts: Vec<usize> = subjects.iter().map(count).collect();
    let most = counts.iter().max().copied().unwrap_or_default().max(1);
    let weighty: Vec<&TrialValues> = subjects
        .iter()
        .zip(&counts)
        .filter(|(_, count)| **count * FEW_PHASES >= most)
        .map(|(trials, _)| trials)
        .collect();
    (0..all)
        .filter(|phase| !weighty.is_empty() && weighty.iter().all(|trials| has(trials, *phase)))
        .collect()
}

/// Weights of phases, and how their values become one.
#[derive(Clone, Copy)]
struct Weighted<'a> {
    weights: &'a [f64],
    combination: Combination,
}

impl Weighted<'_> {
    /// The logarithm of the mean or sum, of the logarithms of the phases' values.
    fn joined(self, logs: impl Iterator<Item = f64>) -> f64 {
        let pairs = logs.zip(self.weights);
        match self.combination {
            Combination::GeometricMean => {
                let sum: f64 = pairs.map(|(log, weight)| log * weight).sum();
                sum / self.weights.iter().sum::<f64>()
            }
            Combination::Sum => pairs
                .map(|(log, weight)| log.exp() * weight)
                .sum::<f64>()
                .ln(),
        }
    }

    /// One value for each trial that has any of the phases.
    fn of_trials(self, trials: &TrialValues, phases: &[usize]) -> Option<Vec<f64>> {
        let logs: Vec<Vec<Option<f64>>> = trials
            .iter()
            .map(|trial| {
                let value = |phase: &usize| trial.get(*phase).copied().flatten();
                let logs = phases.iter().map(|phase| value(phase).map(f64::ln));
                logs.collect()
            })
            .filter(|trial: &Vec<Option<f64>>| trial.iter().any(Option::is_some))
            .collect();
        let complete: Option<Vec<Vec<f64>>> = logs
            .iter()
            .map(|trial| trial.iter().copied().collect())
            .collect();
        let values: Vec<f64> = match complete {
            Some(trials) => {
                let own = |trial: &Vec<f64>| self.joined(trial.iter().copied()).exp();
                trials.iter().map(own).collect()
            }
            None => self.pseudo_values(&logs)?,
        };
        let usable = values.iter().all(|value| value.is_finite() && *value > 0.0);
        (usable && !values.is_empty()).then_some(values)
    }

    /// The jackknife pseudo-value of each trial.
    fn pseudo_values(self, logs: &[Vec<Option<f64>>]) -> Option<Vec<f64>> {
        let of_phase = |place: usize| logs.iter().filter_map(move |trial| trial[place]);
        let totals: Vec<(f64, f64)> = (0..self.weights.len())
            .map(|place| (of_phase(place).sum(), of_phase(place).count() as f64))
            .collect();
        let mean =
            |totals: &[(f64, f64)]| self.joined(totals.iter().map(|(sum, count)| sum / count));
        let (whole, count) = (mean(&totals), logs.len() as f64);
        if !whole.is_finite() {
            return None;
        }
        let without = |trial: &Vec<Option<f64>>| {
            let left: Vec<(f64, f64)> = totals
                .iter()
                .zip(trial)
                .map(|((sum, count), value)| match value {
                    Some(value) => (sum - value, count - 1.0),
                    None => (*sum, *count),
                })
                .collect();
            mean(&left)
        };
        let pseudo = |trial: &Vec<Option<f64>>| count * whole - (count - 1.0) * without(trial);
        Some(logs.iter().map(|trial| pseudo(trial).exp()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!(
            (found / expected - 1.0).abs() < 1e-9,
            "{found} is not {expected}"
        );
    }

    fn full(trials: &[[f64; 2]]) -> TrialValues {
        trials
            .iter()
            .map(|trial| trial.map(Some).to_vec())
            .collect()
    }

    #[test]
    fn each_complete_trial_gives_its_geometric_mean() {
        let subjects = [
            full(&[[1.0, 100.0], [4.0, 400.0]]),
            full(&[[2.0, 50.0], [1.0, 25.0]]),
        ];
        let overall = OverallMeans::of(&subjects).expect("two phases");
        assert_eq!(overall.phases, [0, 1]);
        near(overall.subjects[0][0], 10.0);
        near(overall.subjects[0][1], 40.0);
        // √(10 · 40) / √(10 · 5).
        near(
            overall.ratio(0, 1).expect("both have all").value,
            8.0_f64.sqrt(),
        );
    }

    #[test]
    fn a_phase_counts_by_its_weight_and_not_at_all_without_one() {
        let subjects = [full(&[[4.0, 100.0]]), full(&[[1.0, 1.0]])];
        let ratio = |weights: [f64; 2]| {
            let overall = OverallMeans::weighted(&subjects, &weights, Combination::GeometricMean)
                .expect("a phase");
            overall.ratio(0, 1).expect("both have all").value
        };
        near(ratio([1.0, 1.0]), 20.0);
        // (4³ · 100)^(1/4).
        near(ratio([0.75, 0.25]), 6_400.0_f64.powf(0.25));
        near(ratio([1.0, 0.0]), 4.0);
        let none = OverallMeans::weighted(&subjects, &[0.0, 0.0], Combination::GeometricMean);
        assert_eq!(none, None);
    }

    #[test]
    fn times_are_summed_each_as_often_as_it_counts() {
        let subjects = [full(&[[1.0, 10.0], [3.0, 30.0]]), full(&[[2.0, 2.0]; 2])];
        let sums = OverallMeans::weighted(&subjects, &[5.0, 1.0], Combination::Sum);
        let sums = sums.expect("two phases");
        near(sums.subjects[0][0], 15.0);
        near(sums.subjects[0][1], 45.0);
        near(sums.subjects[1][0], 12.0);
    }

    #[test]
    fn a_sum_of_trials_that_lack_a_phase_is_the_sum_of_the_means_of_phases() {
        let mut holed = full(&[[1.0, 100.0], [1.0, 100.0], [1.0, 100.0]]);
        holed[2][1] = None;
        let subjects = [holed, full(&[[1.0, 1.0]; 3])];
        let sums = OverallMeans::weighted(&subjects, &[1.0, 1.0], Combination::Sum);
        let sums = sums.expect("two phases");
        near(sums.subjects[0][0], 101.0);
        assert_eq!(sums.subjects[0].len(), 3);
    }

    #[test]
    fn a_trial_that_lacks_a_phase_counts_where_it_has_one() {
        let mut holed = full(&[[1.0, 100.0], [1.0, 100.0], [1.0, 100.0]]);
        holed[2][1] = None;
        let overall = OverallMeans::of(&[holed, full(&[[1.0, 1.0]; 3])]).expect("two phases");
        let estimate = overall.ratio(0, 1).expect("both have all");
        near(estimate.value, 10.0);
        assert_eq!(overall.subjects[0].len(), 3);
    }

    #[test]
    fn phases_that_a_complete_subject_lacks_are_left_out_for_all() {
        let row = |values: [Option<f64>; 3]| vec![values.to_vec(); 3];
        let whole = row([Some(1.0), Some(2.0), Some(3.0)]);
        let lacks = row([Some(1.0), Some(2.0), None]);
        let hardly = row([None, None, Some(2.0)]);
        let overall =
            OverallMeans::of(&[whole.clone(), lacks.clone(), hardly]).expect("two phases");
        assert_eq!(overall.phases, [0, 1]);
        assert!(overall.subjects[2].is_empty());
        assert_eq!(overall.ratio(0, 2), None);
        let zero = row([Some(0.0), Some(2.0), Some(3.0)]);
        assert_eq!(
            OverallMeans::of(&[whole, zero]).expect("two").phases,
            [1, 2]
        );
        assert_eq!(OverallMeans::of(&[row([Some(1.0), None, None])]), None);
        assert_eq!(OverallMeans::of(&[]), None);
    }

    #[test]
    fn one_trial_has_a_mean_and_no_interval() {
        let overall =
            OverallMeans::of(&[full(&[[1.0, 4.0]]), full(&[[1.0, 1.0]])]).expect("two phases");
        let estimate = overall.ratio(0, 1).expect("both have all");
        near(estimate.value, 2.0);
        assert_eq!(estimate.interval, None);
    }
}
