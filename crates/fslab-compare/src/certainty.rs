//! What the values of a base and a new run say about the speed of one against the other.
//!
//! Where each side is one run, its repeats are what is independent. Where a side is several runs,
//! the runs are: a machine may be in another state in each, and no number of repeats shows that.

use fslab_model::Better;
use fslab_stats::{
    Estimate, Test, clustered_difference_test, clustered_p_below, clustered_ratio_at,
    difference_test_among, ratio, tail_p_below, tail_ratio_at,
};

/// The values of both sides, run by run, arranged so that their ratio is a speed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed<'a> {
    above: &'a [Vec<f64>],
    below: &'a [Vec<f64>],
}

impl<'a> Speed<'a> {
    /// How many times as good `new` is as `base`: above 1 is better, whichever direction is good.
    /// `None` for a metric that has no good direction.
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

    /// Whether the sides differ, as one of `family` comparisons.
    pub(crate) fn test(self, family: usize) -> Option<Test> {
        match self.single_runs() {
            Some((above, below)) => difference_test_among(above, below, family),
            None => clustered_difference_test(self.above, self.below),
        }
    }

    /// The ratio with an interval of a confidence near 1.
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
