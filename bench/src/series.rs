//! What the rounds gave for one figure of one contender, and what follows from that.

use fslab_stats::quantile;

use crate::child::Used;
use crate::work::{Figure, Work};

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// In which round.
    pub(crate) round: u32,
    /// Per second; `None` where the program did not tell.
    pub(crate) rate: Option<f64>,
    /// What the process used; `None` where it did more than this figure.
    pub(crate) used: Option<Used>,
}

/// All runs of one figure of one contender in one place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// Where.
    pub(crate) place: &'static str,
    /// The row.
    pub(crate) work: Work,
    pub(crate) figure: Figure,
    /// Who.
    pub(crate) contender: &'static str,
    /// Operations of a run.
    pub(crate) operations: u64,
    /// Operations of a small run.
    pub(crate) small_operations: u64,
    /// The runs.
    pub(crate) samples: Vec<Sample>,
    /// What the small runs used.
    pub(crate) small: Vec<Used>,
}

/// A median with what lies around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The smallest.
    pub(crate) min: f64,
    pub(crate) median: f64,
    /// The largest.
    pub(crate) max: f64,
    /// How many there are.
    pub(crate) count: usize,
}

impl Spread {
    /// The spread of `values`; `None` where there are none.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            min: values.iter().copied().reduce(f64::min)?,
            median: quantile(values, 0.5)?,
            max: values.iter().copied().reduce(f64::max)?,
            count: values.len(),
        })
    }
}

impl Series {
    /// Rates per second; `None` where there are none.
    pub(crate) fn rate(&self) -> Option<Spread> {
        let rates: Vec<_> = self.samples.iter().filter_map(|it| it.rate).collect();
        Spread::of(&rates)
    }

    /// The rate of `self` over that of `other`, round by round; `None` where they have no round in
    /// common.
    pub(crate) fn ratio_to(&self, other: &Self) -> Option<Spread> {
        let rounds = self.samples.iter().map(|sample| sample.round).max()?;
        let ratios: Vec<_> = (0..=rounds)
            .filter_map(|round| Some(self.rate_in(round)? / other.rate_in(round)?))
            .collect();
        Spread::of(&ratios)
    }

    fn rate_in(&self, round: u32) -> Option<f64> {
        let rates: Vec<_> = self
            .samples
            .iter()
            .filter(|sample| sample.round == round)
            .filter_map(|sample| sample.rate)
            .collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    }

    /// User time for an operation in nanoseconds: the mean of the runs without that of the small
    /// runs, over the operations that they have more; `None` where it was not taken.
    ///
    /// The kernel divides a process's time by what it finds at each tick of its clock. That is
    /// right on average, and coarse for one run: hence the mean.
    pub(crate) fn user_ns_per_operation(&self) -> Option<f64> {
        let full = mean_user_ns(self.used())?;
        let small = mean_user_ns(self.small.iter().copied())?;
        let more = self.operations.checked_sub(self.small_operations)?;
        (more > 0).then(|| (full - small).max(0.0) / more as f64)
    }

    /// User time of all runs together, without what the program does once, in nanoseconds.
    pub(crate) fn user_ns_beyond_start(&self) -> f64 {
        let operations = self.operations as f64 * self.used().count() as f64;
        self.user_ns_per_operation().unwrap_or(0.0) * operations
    }

    /// Peak resident memory in KiB, of the runs and of the small runs: the largest of each.
    pub(crate) fn resident_kib(&self) -> Option<[u64; 2]> {
        let full = self.used().map(|used| used.resident_kib).max()?;
        let small = self.small.iter().map(|used| used.resident_kib).max()?;
        Some([full, small])
    }

    fn used(&self) -> impl Iterator<Item = Used> + '_ {
        self.samples.iter().filter_map(|sample| sample.used)
    }
}

fn mean_user_ns(used: impl Iterator<Item = Used>) -> Option<f64> {
    let user_ns: Vec<_> = used.map(|used| used.user_ns as f64).collect();
    (!user_ns.is_empty()).then(|| user_ns.iter().sum::<f64>() / user_ns.len() as f64)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn series(contender: &'static str, figure: Figure, rates: &[f64]) -> Series {
        let used = Used {
            user_ns: 1_000_000_030,
            resident_kib: 2_000,
        };
        let sample = |(round, rate): (u32, &f64)| Sample {
            round,
            rate: Some(*rate),
            used: Some(used),
        };
        Series {
            place: "tmpfs",
            work: Work::Pread,
            figure,
            contender,
            operations: 100,
            small_operations: 2,
            samples: (0..).zip(rates).map(sample).collect(),
            small: vec![Used {
                user_ns: 30,
                resident_kib: 1_999,
            }],
        }
    }

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        let a = series("a", Figure::Stat, &[1.0, 20.0, 300.0]);
        let b = series("b", Figure::Stat, &[2.0, 20.0, 200.0]);
        let ratio = a.ratio_to(&b).expect("rounds in common");
        assert_eq!((ratio.min, ratio.median, ratio.max), (0.5, 1.0, 1.5));
        assert_eq!(a.ratio_to(&series("c", Figure::Stat, &[])), None);
    }

    #[test]
    fn two_runs_of_one_round_count_as_their_mean() {
        let mut a = series("a", Figure::Stat, &[1.0, 3.0]);
        a.samples[1].round = 0;
        let b = series("b", Figure::Stat, &[2.0]);
        assert_eq!(a.ratio_to(&b).map(|ratio| ratio.median), Some(1.0));
    }

    #[test]
    fn what_a_program_does_once_is_not_in_its_time_per_operation() {
        let a = series("a", Figure::Stat, &[1.0]);
        assert_eq!(a.user_ns_per_operation(), Some(1e9 / 98.0));
        assert_eq!(a.user_ns_beyond_start().round(), (1e11_f64 / 98.0).round());
        assert_eq!(a.resident_kib(), Some([2_000, 1_999]));
    }
}
