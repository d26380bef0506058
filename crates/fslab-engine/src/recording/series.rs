//! Progress over time in a fixed number of intervals: when they are full, their width is doubled,
//! so that recording never allocates.

use std::ops::AddAssign;

use fslab_model::TimeSeries;
use serde::{Deserialize, Serialize};

/// Number of intervals: 100 ms each for almost seven minutes, then 200 ms, and so on.
const CAPACITY: usize = 4096;

/// Counts completions per interval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SeriesRecorder {
    start_ns: u64,
    interval_ns: u64,
    /// End of the current interval on the clock.
    interval_end_ns: u64,
    current: usize,
    intervals: Box<[Interval]>,
}

/// Completions in one interval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Interval {
    operations: u64,
    bytes: u64,
}

impl AddAssign for Interval {
    fn add_assign(&mut self, other: Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
    }
}

impl SeriesRecorder {
    /// An empty series with intervals of `interval_ns`, which is not 0.
    pub(crate) fn new(interval_ns: u64) -> Self {
        Self {
            start_ns: 0,
            interval_ns,
            interval_end_ns: interval_ns,
            current: 0,
            intervals: vec![Interval::default(); CAPACITY].into(),
        }
    }

    /// Starts empty, with the first interval at `now_ns`.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.intervals[..=self.current].fill(Interval::default());
        self.current = 0;
        self.start_ns = now_ns;
        self.interval_end_ns = now_ns + self.interval_ns;
    }

    /// Counts an operation that completed at `end_ns`; in the current interval, if that is earlier.
    #[inline]
    pub(crate) fn record(&mut self, end_ns: u64, bytes: u64) {
        if end_ns >= self.interval_end_ns {
            self.advance(end_ns);
        }
        self.intervals[self.current] += Interval {
            operations: 1,
            bytes,
        };
    }

    #[cold]
    fn advance(&mut self, end_ns: u64) {
        let since_ns = end_ns - self.start_ns;
        while since_ns / self.interval_ns >= CAPACITY as u64 {
            self.coarsen();
        }
        let index = since_ns / self.interval_ns;
        self.interval_end_ns = self.start_ns + (index + 1) * self.interval_ns;
        self.current = index as usize;
    }

    fn coarsen(&mut self) {
        self.interval_ns *= 2;
        self.current /= 2;
        for index in 0..CAPACITY / 2 {
            let mut wider = self.intervals[2 * index];
            wider += self.intervals[2 * index + 1];
            self.intervals[index] = wider;
        }
        self.intervals[CAPACITY / 2..].fill(Interval::default());
    }

    /// Adds `other`, whose intervals start at the same time.
    pub(crate) fn merge(&mut self, mut other: Self) {
        while self.interval_ns < other.interval_ns {
            self.coarsen();
        }
        while other.interval_ns < self.interval_ns {
            other.coarsen();
        }
        self.current = self.current.max(other.current);
        let pairs = self.intervals.iter_mut().zip(&other.intervals);
        pairs.for_each(|(mine, theirs)| *mine += *theirs);
    }

    /// The series up to the interval of the last completion.
    pub(crate) fn finish(self) -> TimeSeries {
        let used = &self.intervals[..=self.current];
        TimeSeries {
            interval_ns: self.interval_ns,
            operations: used.iter().map(|interval| interval.operations).collect(),
            bytes: used.iter().map(|interval| interval.bytes).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_count_in_the_interval_of_their_completion() {
        let mut series = SeriesRecorder::new(10);
        series.begin(1_000);
        for (end_ns, bytes) in [(1_001, 1), (1_009, 2), (1_010, 4), (1_035, 8), (1_034, 16)] {
            series.record(end_ns, bytes);
        }
        let series = series.finish();
        assert_eq!(series.operations, [2, 1, 0, 2]);
        assert_eq!(series.bytes, [3, 4, 0, 24]);
    }

    #[test]
    fn a_long_run_coarsens_and_loses_nothing() {
        let mut series = SeriesRecorder::new(1);
        series.begin(0);
        (0..100_000).for_each(|end_ns| series.record(end_ns, 2));
        let series = series.finish();
        assert_eq!(series.interval_ns, 32);
        assert_eq!(series.operations.iter().sum::<u64>(), 100_000);
        assert_eq!(series.bytes.iter().sum::<u64>(), 200_000);
        assert!(series.operations.iter().all(|count| *count == 32));
    }

    #[test]
    fn series_of_different_width_are_merged_on_the_wider_one() {
        let (mut a, mut b) = (SeriesRecorder::new(1), SeriesRecorder::new(1));
        a.begin(0);
        b.begin(0);
        (0..10).for_each(|end_ns| a.record(end_ns, 1));
        (0..8_000).for_each(|end_ns| b.record(end_ns, 1));
        a.merge(b);
        let series = a.finish();
        assert_eq!(series.interval_ns, 2);
        assert_eq!(series.operations[..6], [4, 4, 4, 4, 4, 2]);
        assert_eq!(series.operations.len(), 4_000);
    }

    #[test]
    fn starting_again_resets_the_counts() {
        let mut series = SeriesRecorder::new(10);
        series.begin(0);
        series.record(55, 1);
        series.begin(100);
        series.record(105, 1);
        assert_eq!(series.finish().operations, [1]);
    }
}
