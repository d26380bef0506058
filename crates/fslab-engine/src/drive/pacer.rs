//! Intended start times of an open loop.

use crate::jobs::Pace;
use crate::recording::Clock;
use fslab_stats::Random;

/// Computes when the next operation is due.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    pace: Pace,
    random: Random,
    next_ns: f64,
    start_ns: u64,
    /// Operations until the next pause.
    until_pause: u64,
}

impl Pacer {
    pub(crate) fn new(pace: Pace, random: Random) -> Self {
        Self {
            pace,
            random,
            next_ns: 0.0,
            start_ns: 0,
            until_pause: operations_between_pauses(pace),
        }
    }

    /// Starts: the first operation is due at `now_ns`, with Poisson arrivals one random interval
    /// later.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.start_ns = now_ns;
        self.next_ns = 0.0;
        self.until_pause = operations_between_pauses(self.pace);
        if let Pace::Poisson { per_second } = self.pace {
            self.next_ns = self.exponential(per_second);
        }
    }

    /// When the next operation is due; `None` in a closed loop.
    #[inline]
    pub(crate) fn due_ns(&self) -> Option<u64> {
        match self.pace {
            Pace::AsFastAsPossible | Pace::Pause { .. } => None,
            Pace::Fixed { .. } | Pace::Poisson { .. } => Some(self.start_ns + self.next_ns as u64),
        }
    }

    /// The next operation has been issued.
    #[inline]
    pub(crate) fn advance(&mut self) {
        match self.pace {
            Pace::AsFastAsPossible | Pace::Pause { .. } => {}
            Pace::Fixed { per_second } => self.next_ns += 1e9 / per_second,
            Pace::Poisson { per_second } => self.next_ns += self.exponential(per_second),
        }
    }

    /// Start of the next operation: now in a closed loop; otherwise its due time, after waiting for
    /// it. For a late operation the due time is in the past.
    #[inline]
    pub(crate) fn start<C: Clock>(&mut self, clock: &C) -> u64 {
        let Some(due_ns) = self.due_ns() else {
            self.pause(clock);
            return clock.now_ns();
        };
        self.advance();
        clock.wait_until_ns(due_ns);
        due_ns
    }

    /// Waits if a pause is due.
    #[inline]
    fn pause<C: Clock>(&mut self, clock: &C) {
        let Pace::Pause {
            pause_ns,
            operations,
        } = self.pace
        else {
            return;
        };
        if self.until_pause == 0 {
            clock.wait_until_ns(clock.now_ns().saturating_add(pause_ns));
            self.until_pause = operations;
        }
        self.until_pause -= 1;
    }

    fn exponential(&mut self, per_second: f64) -> f64 {
        -(1.0 - self.random.unit()).ln() * 1e9 / per_second
    }
}

fn operations_between_pauses(pace: Pace) -> u64 {
    match pace {
        Pace::Pause { operations, .. } => operations,
        Pace::AsFastAsPossible | Pace::Fixed { .. } | Pace::Poisson { .. } => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::SyntheticClock;

    fn starts(pace: Pace, count: usize, cost_ns: u64) -> Vec<u64> {
        let clock = SyntheticClock::default();
        let mut pacer = Pacer::new(pace, Random::new(1, 1));
        pacer.begin(0);
        let next = |_| {
            let start = pacer.start(&clock);
            clock.pass_ns(cost_ns);
            start
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn a_fixed_rate_is_kept_and_late_operations_keep_their_intended_start() {
        let pace = Pace::Fixed { per_second: 1e6 };
        assert_eq!(starts(pace, 4, 10), [0, 1_000, 2_000, 3_000]);
        assert_eq!(starts(pace, 4, 5_000), [0, 1_000, 2_000, 3_000]);
    }

    #[test]
    fn a_pause_follows_so_many_operations() {
        let pace = Pace::Pause {
            pause_ns: 1_000,
            operations: 2,
        };
        assert_eq!(starts(pace, 5, 10), [0, 10, 1_020, 1_030, 2_040]);
    }

    #[test]
    fn poisson_arrivals_have_the_requested_rate_and_vary() {
        let starts = starts(Pace::Poisson { per_second: 1e6 }, 20_001, 0);
        let mean = starts[20_000] as f64 / 20_000.0;
        assert!((970.0..1_030.0).contains(&mean), "{mean}");
        let above = starts
            .windows(2)
            .filter(|pair| pair[1] - pair[0] > 1_000)
            .count();
        // The share of Poisson intervals longer than their mean is 1/e.
        assert!((7_000..7_700).contains(&above), "{above}");
    }
}
