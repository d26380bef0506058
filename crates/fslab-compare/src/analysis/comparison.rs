//! One metric over all subjects: standings and their certainty.
//!
//! A single comparison is decided by its intervals. Several that are read together are corrected
//! together, see [`super::correction`]: then a subject differs from the best only if both the
//! interval and the corrected p-value say so.

use fslab_model::{Better, MetricDefinition};
use fslab_stats::{CONFIDENCE, Estimate, Interval, RESOLUTION, Summary, Test, Verdict};
use fslab_stats::{centre, difference_test_among, location, ratio, repeats_to_decide, verdict};

/// The relative difference that does not matter, for the verdict "the same".
pub const TOLERANCE: f64 = 0.05;
/// Single exact figures that differ by less are the same: a convention, because one figure does not
/// show its sensitivity.
pub const EXACT_TOLERANCE: f64 = 0.01;

/// The standing of a subject in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Best, and significantly better than every other subject with values.
    Winner,
    /// The best, or the same as it within [`TOLERANCE`]: another subject is, too.
    Same,
    /// The best, or not known to be behind it and not known to be the same: more repeats may
    /// decide it.
    Undecided,
    /// Significantly behind the best.
    Behind,
    /// No other subject has values.
    Alone,
    /// Too few repeats to rank.
    Unranked,
    /// It has no values.
    Absent,
}

/// Which subjects are first in a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstPlace {
    /// One is better than every other, with certainty.
    Winner(usize),
    /// These are the same within [`TOLERANCE`], and better than every other.
    Same(Vec<usize>),
    /// One of these is the best, or some are the same; which is not known yet.
    Undecided(Vec<usize>),
    /// Too few repeats to rank.
    TooFew,
    /// There is nothing to compare.
    Nothing,
}

/// One subject in a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Every repeat's value, in the metric's unit.
    pub values: Vec<f64>,
    /// Their descriptive statistics; `None` without values.
    pub summary: Option<Summary>,
    /// Geometric mean and its interval; `None` without values, or if a value is not positive.
    pub location: Option<Estimate>,
    /// Speed relative to the best subject: at most 1.
    pub to_best: Option<Estimate>,
    /// Speed relative to the first subject of the plan.
    pub to_first: Option<Estimate>,
    /// The test against the best; `None` for the best itself, for too few repeats, for exact
    /// figures, and before comparisons are corrected together.
    pub test: Option<Test>,
    /// The test's p-value, corrected for all comparisons made together.
    pub p_corrected: Option<f64>,
    /// Its time in percent of the slowest subject's, which has 100.
    pub percent_of_slowest: Option<f64>,
    pub standing: Standing,
}

/// One metric over all subjects, in the order of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub metric: &'static MetricDefinition,
    /// One entry per subject.
    pub entries: Vec<Entry>,
    /// The subject with the best geometric mean, not necessarily a winner; `None` if the metric has
    /// no good direction, or no subject has values.
    pub best: Option<usize>,
    /// True if the figures have no variation, as with one repeat in virtual time: there is no
    /// interval, and every difference is certain.
    pub exact: bool,
    /// The extension of every interval, as a share of the figure, for repeats in virtual time,
    /// which may all be equal; 0 in real time.
    pub resolution: f64,
}

impl Comparison {
    /// Compares `samples` of real time, one per subject.
    pub fn of(metric: &'static MetricDefinition, samples: Vec<Vec<f64>>) -> Self {
        Self::arrange(metric, samples, (false, 0.0))
    }

    /// Compares `samples`, one per subject, of virtual or of real time.
    pub fn timed(
        metric: &'static MetricDefinition,
        samples: Vec<Vec<f64>>,
        is_virtual: bool,
    ) -> Self {
        match is_virtual {
            true => Self::of_virtual_time(metric, samples),
            false => Self::of(metric, samples),
        }
    }

    /// Compares `samples` of virtual time. Several repeats, which are perturbed or differ in their
    /// seeds, are compared by their spread; a single one is exact.
    pub(crate) fn of_virtual_time(
        metric: &'static MetricDefinition,
        samples: Vec<Vec<f64>>,
    ) -> Self {
        let exact = samples.iter().all(|values| values.len() < 2);
        let resolution = if exact { 0.0 } else { RESOLUTION };
        Self::arrange(metric, samples, (exact, resolution))
    }

    fn arrange(
        metric: &'static MetricDefinition,
        samples: Vec<Vec<f64>>,
        (exact, resolution): (bool, f64),
    ) -> Self {
        let entry = |values| Entry::of(values, resolution);
        let mut comparison = Self {
            metric,
            entries: samples.into_iter().map(entry).collect(),
            best: None,
            exact,
            resolution,
        };
        comparison.best = comparison.find_best();
        for subject in 0..comparison.entries.len() {
            let to_best = comparison.best.and_then(|b| comparison.speed(subject, b));
            let entry = &mut comparison.entries[subject];
            entry.to_best = to_best;
            comparison.entries[subject].to_first = comparison.speed(subject, 0);
        }
        comparison.set_percent_of_slowest();
        comparison.rank();
        comparison
    }

    /// Sets the standing of every subject.
    pub(super) fn rank(&mut self) {
        for subject in 0..self.entries.len() {
            self.entries[subject].standing = self.standing(subject);
        }
    }

    /// The subjects that can be tested against the best.
    pub(crate) fn testable(&self) -> Vec<usize> {
        let repeated = |entry: &Entry| entry.values.len() > 1 && entry.location.is_some();
        let Some(best) = self
            .best
            .filter(|best| !self.exact && repeated(&self.entries[*best]))
        else {
            return Vec::new();
        };
        let others = (0..self.entries.len()).filter(|subject| *subject != best);
        others
            .filter(|subject| repeated(&self.entries[*subject]))
            .collect()
    }

    /// Tests `subject` against the best, as one of `family` comparisons.
    pub(super) fn test(&mut self, subject: usize, family: usize) -> Option<f64> {
        let best = &self.entries[self.best?].values;
        let own = &self.entries[subject].values;
        // Without variation under perturbation, the p-value would be 0 or 1; the interval, extended
        // by the resolution, says more.
        let is_idle = self.resolution > 0.0 && is_constant(own) && is_constant(best);
        let test = (!is_idle).then(|| difference_test_among(own, best, family));
        let test = test.flatten();
        self.entries[subject].test = test;
        test.map(|test| test.p_value)
    }

    fn set_percent_of_slowest(&mut self) {
        let speed = |entry: &Entry| entry.to_best.map(|speed| speed.value);
        let slowest = self.entries.iter().filter_map(speed).reduce(f64::min);
        for entry in &mut self.entries {
            let weighed = slowest
                .zip(speed(entry))
                .map(|(slowest, own)| 100.0 * slowest / own);
            entry.percent_of_slowest = weighed;
        }
    }

    /// The speed of the subject relative to `other`, above 1 is better in either direction. `None`
    /// if one of them has no values, or the metric has no good direction.
    pub fn speed(&self, subject: usize, other: usize) -> Option<Estimate> {
        self.known_speed(subject, other).or_else(|| {
            let back = self.known_speed(other, subject);
            back.map(Estimate::inverse)
                .or_else(|| self.find_speed(subject, other))
        })
    }

    /// The cached speed, because intervals are costly.
    fn known_speed(&self, subject: usize, other: usize) -> Option<Estimate> {
        let entry = self.entries.get(subject)?;
        if self.best == Some(other) && entry.to_best.is_some() {
            return entry.to_best;
        }
        entry.to_first.filter(|_| other == 0)
    }

    fn find_speed(&self, subject: usize, other: usize) -> Option<Estimate> {
        let of = |index: usize| self.entries.get(index).map(|entry| entry.values.as_slice());
        let found = match self.metric.better {
            Better::Higher => ratio(of(subject)?, of(other)?),
            Better::Lower => ratio(of(other)?, of(subject)?),
            Better::Neither => None,
        };
        found.map(|speed| speed.widened(self.resolution))
    }

    /// The verdict on `subject` against `other`. Against the best, a difference that is not
    /// significant after correction is undecided.
    pub fn verdict(&self, subject: usize, other: usize) -> Verdict {
        let found = self.interval_verdict(subject, other);
        let against_best = if self.best == Some(other) {
            Some(subject)
        } else {
            Some(other).filter(|_| self.best == Some(subject))
        };
        let certain = matches!(found, Verdict::Faster | Verdict::Slower);
        match against_best {
            Some(tested) if certain && !self.is_significant(tested) => {
                self.without_difference(tested)
            }
            _ => found,
        }
    }

    /// The verdict on `subject` against `other` by the interval alone.
    pub(crate) fn interval_verdict(&self, subject: usize, other: usize) -> Verdict {
        verdict(self.certainty(subject, other), TOLERANCE)
    }

    /// The verdict on a subject that does not differ from the best after correction, although its
    /// interval excludes 1.
    fn without_difference(&self, subject: usize) -> Verdict {
        let speed = self.entries[subject].to_best;
        let within = speed
            .and_then(|speed| speed.interval)
            .is_some_and(|interval| {
                interval.low >= (1.0 + TOLERANCE).recip() && interval.high <= 1.0 + TOLERANCE
            });
        if within {
            Verdict::Same { within: TOLERANCE }
        } else {
            Verdict::Undecided
        }
    }

    /// True if the test against the best is significant after correction; without a test the
    /// interval alone decides.
    fn is_significant(&self, subject: usize) -> bool {
        let corrected = self.entries[subject].p_corrected;
        corrected.is_none_or(|p| p <= 1.0 - CONFIDENCE)
    }

    /// True if the interval alone would have separated the subject from the best, but the corrected
    /// p-value does not.
    pub fn is_lost_in_correction(&self, subject: usize) -> bool {
        let apart = self.best.and_then(|best| self.certainty(best, subject));
        !self.is_significant(subject) && apart.is_some_and(|interval| interval.low > 1.0)
    }

    /// The interval of the speed of `subject` against `other`; of width zero for an exact one.
    fn certainty(&self, subject: usize, other: usize) -> Option<Interval> {
        let speed = self.speed(subject, other)?;
        let (low, high) = (speed.value, speed.value);
        let exact = self.exact.then_some(Interval { low, high });
        exact.or(speed.interval)
    }

    /// The subject that is certainly better than every other.
    pub fn winner(&self) -> Option<usize> {
        self.with(Standing::Winner).next()
    }

    /// Which subjects are first.
    pub fn first_place(&self) -> FirstPlace {
        let is_first = |standing| matches!(standing, Standing::Same | Standing::Undecided);
        let first: Vec<usize> = (0..self.entries.len())
            .filter(|subject| is_first(self.entries[*subject].standing))
            .collect();
        if let Some(winner) = self.winner() {
            FirstPlace::Winner(winner)
        } else if first.len() > 1 && self.with(Standing::Undecided).next().is_none() {
            FirstPlace::Same(first)
        } else if first.len() > 1 {
            FirstPlace::Undecided(first)
        } else if !self.exact && self.with(Standing::Unranked).next().is_some() {
            FirstPlace::TooFew
        } else {
            FirstPlace::Nothing
        }
    }

    /// About how many repeats would decide what is undecided, as one of `family` comparisons;
    /// `None` where nothing is, or where no number can be given.
    pub fn repeats_to_decide(&self, family: usize) -> Option<usize> {
        let sample = |subject: usize| self.entries[subject].values.as_slice();
        let best = self.best?;
        let open = self.with(Standing::Undecided).filter(|it| *it != best);
        let needed =
            open.map(|other| repeats_to_decide(sample(best), sample(other), TOLERANCE, family));
        let needed: Option<Vec<usize>> = needed.collect();
        needed?.into_iter().max()
    }

    /// The subjects of one standing.
    pub fn with(&self, standing: Standing) -> impl Iterator<Item = usize> + '_ {
        self.entries
            .iter()
            .enumerate()
            .filter(move |(_, entry)| entry.standing == standing)
            .map(|(index, _)| index)
    }

    /// The ranked subjects, best first, by geometric mean.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.entries.len())
            .filter(|index| self.entries[*index].to_best.is_some())
            .collect();
        let speed = |index: &usize| self.entries[*index].to_best.map_or(0.0, |e| e.value);
        order.sort_by(|a, b| speed(b).total_cmp(&speed(a)));
        order
    }

    /// True if no subject has a value.
    pub fn is_empty(&self) -> bool {
        self.entries.iter().all(|entry| entry.values.is_empty())
    }

    /// True if any subject has enough repeats for an interval, or is exact.
    pub fn has_intervals(&self) -> bool {
        self.entries
            .iter()
            .filter_map(|entry| entry.location)
            .any(|location| self.exact || location.interval.is_some())
    }

    fn find_best(&self) -> Option<usize> {
        let sign = match self.metric.better {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
            Better::Neither => return None,
        };
        // The first of equals; `max_by` would take the last.
        (0..self.entries.len())
            .rev()
            .filter_map(|index| Some((index, sign * self.entries[index].location?.value)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(index, _)| index)
    }

    fn standing(&self, subject: usize) -> Standing {
        if self.entries[subject].values.is_empty() {
            return Standing::Absent;
        }
        if self.metric.better == Better::Neither {
            return Standing::Unranked;
        }
        let others = |index: &usize| *index != subject && !self.entries[*index].values.is_empty();
        let others: Vec<usize> = (0..self.entries.len()).filter(others).collect();
        if others.is_empty() {
            return Standing::Alone;
        }
        match self.best {
            Some(best) if best == subject => {
                let against: Vec<Standing> =
                    others.iter().map(|o| self.against(best, *o)).collect();
                if against.iter().all(|s| *s == Standing::Behind) {
                    Standing::Winner
                } else if against.contains(&Standing::Undecided) {
                    Standing::Undecided
                } else if against.contains(&Standing::Same) {
                    Standing::Same
                } else {
                    Standing::Unranked
                }
            }
            Some(best) => self.against(best, subject),
            None => Standing::Unranked,
        }
    }

    /// The standing of `other` against the best.
    fn against(&self, best: usize, other: usize) -> Standing {
        let least = if self.exact {
            1.0 + EXACT_TOLERANCE
        } else {
            1.0
        };
        match self.certainty(best, other) {
            None => Standing::Unranked,
            Some(interval) if interval.low > least && self.is_significant(other) => {
                Standing::Behind
            }
            // Exact figures within their tolerance are the same by convention.
            Some(_) if self.exact => Standing::Same,
            Some(_) => match self.verdict(other, best) {
                Verdict::Same { .. } => Standing::Same,
                _ => Standing::Undecided,
            },
        }
    }
}

impl Entry {
    fn of(values: Vec<f64>, resolution: f64) -> Self {
        Self {
            summary: Summary::of(&values),
            location: location(&values).map(|location| location.widened(resolution)),
            to_best: None,
            to_first: None,
            test: None,
            p_corrected: None,
            percent_of_slowest: None,
            standing: Standing::Absent,
            values,
        }
    }

    /// The geometric mean of the repeats, whose ratios are compared; the median if a value is not
    /// positive, `None` without values.
    pub fn mean(&self) -> Option<f64> {
        centre(&self.values)
    }
}

fn is_constant(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use fslab_model::definitions::{ELAPSED, OPERATIONS, THROUGHPUT};

    use super::*;

    fn standings(comparison: &Comparison) -> Vec<Standing> {
        comparison.entries.iter().map(|e| e.standing).collect()
    }

    #[test]
    fn a_winner_differs_from_every_other() {
        let samples = vec![
            vec![100.0, 101.0, 102.0],
            vec![200.0, 201.0, 203.0],
            vec![50.0],
        ];
        let certain = Comparison::of(&THROUGHPUT, samples[..2].to_vec());
        assert_eq!(standings(&certain), [Standing::Behind, Standing::Winner]);
        assert_eq!(certain.winner(), Some(1));
        let with_a_single_repeat = Comparison::of(&THROUGHPUT, samples);
        assert_eq!(
            standings(&with_a_single_repeat),
            [Standing::Behind, Standing::Unranked, Standing::Unranked]
        );
    }

    #[test]
    fn subjects_without_a_significant_difference_are_undecided() {
        let samples = vec![
            vec![100.0, 120.0, 110.0],
            vec![105.0, 125.0, 112.0],
            vec![10.0, 10.1, 10.2],
        ];
        let comparison = Comparison::of(&THROUGHPUT, samples);
        assert_eq!(
            standings(&comparison),
            [Standing::Undecided, Standing::Undecided, Standing::Behind]
        );
        assert_eq!(comparison.order(), [1, 0, 2]);
        assert_eq!(comparison.winner(), None);
        assert_eq!(comparison.first_place(), FirstPlace::Undecided(vec![0, 1]));
    }

    // "Cannot be distinguished" is not "the same": a factor of five may be undecided.
    #[test]
    fn the_same_needs_an_interval_within_the_tolerance() {
        let near = vec![
            vec![100.0, 101.0, 99.0, 100.0, 101.0],
            vec![100.0, 99.0, 101.0, 100.0, 100.0],
        ];
        let near = Comparison::of(&THROUGHPUT, near);
        assert_eq!(near.first_place(), FirstPlace::Same(vec![0, 1]));
        let far = vec![vec![4330.0, 90.0, 4500.0], vec![802.0, 700.0, 900.0]];
        let far = Comparison::of(&THROUGHPUT, far);
        assert_eq!(far.first_place(), FirstPlace::Undecided(vec![0, 1]));
        // One that is not known keeps the others from being the same.
        let mixed = vec![
            vec![100.0; 5],
            vec![100.0; 5],
            vec![60.0, 140.0, 100.0, 90.0, 110.0],
        ];
        let mixed = Comparison::of(&THROUGHPUT, mixed);
        assert_eq!(mixed.first_place(), FirstPlace::Undecided(vec![0, 1, 2]));
        let single = Comparison::of(&THROUGHPUT, vec![vec![1.0], vec![2.0]]);
        assert_eq!(single.first_place(), FirstPlace::TooFew);
        let none = Comparison::of(&THROUGHPUT, vec![vec![1.0], vec![]]);
        assert_eq!(none.first_place(), FirstPlace::Nothing);
    }

    #[test]
    fn less_is_better_where_the_metric_says_so() {
        let comparison = Comparison::of(&ELAPSED, vec![vec![10.0; 3], vec![20.0; 3]]);
        assert_eq!(comparison.best, Some(0));
        let slower = comparison.entries[1].to_best.expect("both have values");
        assert!((slower.value - 0.5).abs() < 1e-12);
        assert_eq!(comparison.verdict(0, 1), Verdict::Faster);
    }

    #[test]
    fn a_value_of_zero_has_no_ratio_and_no_rank() {
        let comparison = Comparison::of(&THROUGHPUT, vec![vec![0.0; 3], vec![5.0; 3]]);
        assert_eq!(
            standings(&comparison),
            [Standing::Unranked, Standing::Unranked]
        );
        assert_eq!(comparison.entries[0].to_best, None);
        assert_eq!(comparison.entries[0].mean(), Some(0.0));
    }

    #[test]
    fn equals_without_spread_are_the_same_and_a_lone_subject_is_alone() {
        let twins = Comparison::of(&THROUGHPUT, vec![vec![7.0; 3], vec![7.0; 3]]);
        assert_eq!(standings(&twins), [Standing::Same, Standing::Same]);
        assert_eq!(twins.best, Some(0));
        let alone = Comparison::of(&THROUGHPUT, vec![vec![7.0; 3], vec![]]);
        assert_eq!(standings(&alone), [Standing::Alone, Standing::Absent]);
    }

    #[test]
    fn equal_repeats_of_virtual_time_differ_only_beyond_the_resolution() {
        let of = |other: f64| {
            Comparison::of_virtual_time(&THROUGHPUT, vec![vec![100.0; 3], vec![other; 3]])
        };
        let near = of(100.05);
        assert!(!near.exact);
        assert_eq!(near.winner(), None);
        assert_eq!(near.verdict(0, 1), Verdict::Same { within: TOLERANCE });
        let apart = of(100.5);
        assert_eq!(apart.winner(), Some(1));
        // In real time equal repeats count as exact.
        let real = Comparison::of(&THROUGHPUT, vec![vec![100.0; 3], vec![100.05; 3]]);
        assert_eq!(real.winner(), Some(1));
        // A test of constant values would give 0 or 1: there is no test and no correction.
        let mut tested = apart.clone();
        crate::analysis::correct(&mut [&mut tested]);
        assert_eq!(tested.entries[0].test, None);
        assert_eq!(tested.winner(), Some(1));
        let interval = tested.entries[0].location.and_then(|it| it.interval);
        assert!(interval.is_some_and(|it| it.low < 100.0 && it.high > 100.0));
    }

    #[test]
    fn a_single_repeat_in_virtual_time_is_exact_and_ranks() {
        let single = |values: [f64; 3]| values.map(|value| vec![value]).to_vec();
        let apart = Comparison::of_virtual_time(&THROUGHPUT, single([100.0, 80.0, 102.0]));
        assert!(apart.exact);
        assert_eq!(
            standings(&apart),
            [Standing::Behind, Standing::Behind, Standing::Winner]
        );
        let close = Comparison::of_virtual_time(&THROUGHPUT, single([100.0, 99.5, 50.0]));
        assert_eq!(
            standings(&close),
            [Standing::Same, Standing::Same, Standing::Behind]
        );
        let seeds = vec![vec![100.0, 120.0, 110.0], vec![105.0, 125.0, 112.0]];
        let seeds = Comparison::of_virtual_time(&THROUGHPUT, seeds);
        assert_eq!(
            standings(&seeds),
            [Standing::Undecided, Standing::Undecided]
        );
        assert!(!seeds.exact);
    }

    #[test]
    fn a_description_ranks_nothing() {
        let comparison = Comparison::of(&OPERATIONS, vec![vec![7.0; 3], vec![8.0; 3]]);
        assert_eq!(comparison.best, None);
        assert_eq!(comparison.speed(0, 1), None);
    }
}
