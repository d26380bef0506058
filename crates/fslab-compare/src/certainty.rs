//! The certainty of a speed, from the values of a base and a new run.
//!
//! If each side is one run, its repeats are independent. If a side has several runs, only the runs
//! are: the machine may be in another state in each, which repeats do not show.

use fslab_model::Better;
use fslab_stats::{
    Estimate, Test, clustered_difference_test, clustered_p_below, clustered_ratio_at,
    difference_test_among, ratio, tail_p_below, tail_ratio_at,
};

/// The values of both sides by run, arranged so that their ratio is a speed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed<'a> {
    above: &'a [Vec<f64>],
    below: &'a [Vec<f64>],
}

impl<'a> Speed<'a> {
    /// The speed of `new` relative to `base`: above 1 is better in either direction. `None` for a
    /// metric without a good direction.
    pub(crate) fn of(better: Better, base: &'a [Vec<f64>], new: &'a [Vec<f64>]) -> Option<Self> {
        let (above, below) = match better {
            Better::Higher => (new, base),
            Better::Lower => (base, new),
            Better::Neither => return None,
        };
        Some(Self { above, below })
    }

    /// The ratio with its 95 % interval.
    pub(crate) fn estimate(self) -> Option<Estimate> {
        match self.single_runs() {
            Some((above, below)) => ratio(above, below),
            None => clustered_ratio_at(self.above, self.below, fslab_stats::CONFIDENCE),
        }
    }

    /// Tests whether the sides differ, as one of `family` comparisons.
    pub(crate) fn test(self, family: usize) -> Option<Test> {
        match self.single_runs() {
            Some((above, below)) => difference_test_among(above, below, family),
            None => clustered_difference_test(self.above, self.below),
        }
    }

    /// The ratio with an interval at an extreme confidence.
    pub(crate) fn tail_at(self, confidence: f64) -> Option<Estimate> {
        match self.single_runs() {
            Some((above, below)) => tail_ratio_at(above, below, confidence),
            None => clustered_ratio_at(self.above, self.below, confidence),
        }
    }

    /// The p-value of a speed of `limit` or more, which agrees with [`Speed::tail_at`].
    pub(crate) fn tail_p_below(self, limit: f64) -> Option<f64> {
        match self.single_runs() {
            Some((above, below)) => tail_p_below(above, below, limit),
            None => clustered_p_below(self.above, self.below, limit),
        }
    }

    fn single_runs(self) -> Option<(&'a [f64], &'a [f64])> {
        match (self.above, self.below) {
            ([above], [below]) => Some((above, below)),
            _ => None,
        }
    }
}
