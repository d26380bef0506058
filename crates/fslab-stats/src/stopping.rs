//! The stopping rule of repeats: whether figures, checked after every repeat, are known to within a
//! target.
//!
//! Stopping at the first narrow interval selects samples that are narrow by chance: such intervals
//! cover the truth in 90 of 100 cases instead of 95, with a minimum of three repeats. The remedy is
//! a number of further repeats that take no part in the choice (Simons, "On the cost of not knowing
//! the variance when making a fixed-width confidence interval for the mean", Annals of Mathematical
//! Statistics 39, 1968: after the sequential rule of Chow and Robbins, "On the asymptotic theory of
//! fixed-width sequential confidence intervals for the mean", ibid. 36, 1965, a fixed number of
//! further observations is enough, whatever the variance). The number was found by simulation;
//! docs/statistics.md has the figures.

use crate::logs::t_bound;
use crate::{Verdict, ratio_at, verdict};

/// Further repeats after the first look at which all figures were within the target.
const FURTHER: usize = 6;

/// Further repeats if that first look was well within the target, which is rarely luck.
const FURTHER_MUCH_BETTER: usize = 2;

/// The share of the target that is well within it.
const MUCH_BETTER: f64 = 0.5;

/// The error rate of one look at a difference: looks after every repeat find more than one does. By
/// simulation, see docs/statistics.md.
const LOOK_ERROR: f64 = 0.005;

/// The smallest error rate of a comparison: the bootstrap has no interval far below it.
const LOOK_ERROR_MIN: f64 = 0.001;

/// Whether another repeat is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// A figure is not within the target.
    Wide,
    /// All are within the target; further repeats must confirm it.
    Confirming {
        /// Their number; at least 1.
        more: usize,
    },
    /// All are within the target, and it is confirmed.
    Known,
}

/// Applies the rule to `looks`: the relative half-width of the widest interval after each repeat
/// from the minimum number on (`None`: a figure had no interval).
///
/// Figures are known if they are within `target` at the last look and were so at least six looks
/// before; two looks, if they were within half of the target then.
pub fn stopping(looks: &[Option<f64>], target: f64) -> Stopping {
    let within = |reach: &Option<f64>, limit: f64| reach.is_some_and(|reach| reach <= limit);
    let Some(first) = looks.iter().position(|reach| within(reach, target)) else {
        return Stopping::Wide;
    };
    let further = if within(&looks[first], target * MUCH_BETTER) {
        FURTHER_MUCH_BETTER
    } else {
        FURTHER
    };
    let since = looks.len() - 1 - first;
    match looks.last() {
        Some(last) if within(last, target) && since >= further => Stopping::Known,
        Some(last) if within(last, target) => Stopping::Confirming {
            more: further - since,
        },
        _ => Stopping::Wide,
    }
}

/// The relative half-width of the 95 % interval of a figure after each repeat: [`crate::location`]
/// of the values so far, on the wider side. The first of `values` is that of the first repeat; a
/// repeat without a value leaves the interval as it was.
///
/// `None` while there are fewer than two values, and from the first value on that is not positive.
pub fn relative_half_widths(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let (mut count, mut mean, mut squares) = (0.0_f64, 0.0, 0.0);
    let mut width_with = |value: Option<f64>| {
        if let Some(value) = value {
            let log = if value.is_finite() {
                value.ln()
            } else {
                f64::NAN
            };
            count += 1.0;
            // Welford, Technometrics 4, 1962: equal values leave the squares at exactly zero.
            let away = if count > 1.0 { log - mean } else { 0.0 };
            mean = if count > 1.0 {
                mean + away / count
            } else {
                log
            };
            squares += away * (log - mean);
        }
        let error = (squares / (count - 1.0) / count).sqrt();
        let half = t_bound(count - 1.0)? * error;
        (mean.is_finite() && half.is_finite())
            .then(|| half.exp_m1())
            .filter(|it| it.is_finite())
    };
    values.iter().map(|value| width_with(*value)).collect()
}

/// Whether the difference of a subject from the best is decided for the purpose of stopping: its
/// interval says "faster", "slower" or "the same within `tolerance`", as one of so many
/// `comparisons` of a run that is looked at after every repeat.
///
/// The interval is wider than that of the report: an error rate of 0.5 %, divided by `comparisons`
/// (Bonferroni).
pub fn is_decided(own: &[f64], best: &[f64], comparisons: usize, tolerance: f64) -> bool {
    let error = (LOOK_ERROR / comparisons.max(1) as f64).max(LOOK_ERROR_MIN);
    let interval = ratio_at(own, best, 1.0 - error).and_then(|ratio| ratio.interval);
    verdict(interval, tolerance) != Verdict::Undecided
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Estimate, location};

    fn after(looks: &[f64]) -> Stopping {
        let looks: Vec<Option<f64>> = looks.iter().map(|it| Some(*it)).collect();
        stopping(&looks, 0.05)
    }

    #[test]
    fn a_narrow_interval_is_confirmed_by_six_repeats_more() {
        let more = |more| Stopping::Confirming { more };
        assert_eq!(after(&[0.2, 0.06]), Stopping::Wide);
        assert_eq!(after(&[0.2, 0.05]), more(6));
        assert_eq!(after(&[0.2, 0.05, 0.04, 0.04]), more(4));
        let enough = [0.2, 0.05, 0.04, 0.04, 0.04, 0.04, 0.04, 0.04];
        assert_eq!(after(&enough), Stopping::Known);
        assert_eq!(after(&enough[..7]), more(1));
    }

    #[test]
    fn a_difference_needs_more_certainty_among_many() {
        let (fast, slow) = (
            [105.0, 108.0, 103.0, 106.0, 104.0],
            [100.0, 102.0, 98.0, 101.0, 97.0],
        );
        assert!(is_decided(&slow, &fast, 1, 0.05));
        assert!(!is_decided(&slow, &fast, 1_000, 0.001));
        assert!(!is_decided(&slow[..1], &fast, 1, 0.05));
    }

    #[test]
    fn what_is_known_much_better_is_confirmed_by_two() {
        assert_eq!(after(&[0.025]), Stopping::Confirming { more: 2 });
        assert_eq!(after(&[0.025, 0.04, 0.03]), Stopping::Known);
        assert_eq!(after(&[0.0, 0.0, 0.0]), Stopping::Known);
        // It is the first look within the target that counts.
        let later = Stopping::Confirming { more: 4 };
        assert_eq!(after(&[0.04, 0.02, 0.02]), later);
    }

    #[test]
    fn what_was_narrow_by_luck_goes_on_until_it_is_narrow_again() {
        assert_eq!(after(&[0.02, 0.06, 0.06]), Stopping::Wide);
        assert_eq!(after(&[0.02, 0.06, 0.06, 0.05]), Stopping::Known);
        assert_eq!(
            after(&[0.02, 0.06, 0.06, 0.05, 0.06]),
            Stopping::Wide,
            "further repeats show how it is"
        );
        assert_eq!(after(&[0.02, 0.05]), Stopping::Confirming { more: 1 });
        assert_eq!(stopping(&[], 0.05), Stopping::Wide);
        assert_eq!(stopping(&[None, None], 0.05), Stopping::Wide);
    }

    #[test]
    fn each_look_has_the_width_of_the_interval_of_the_values_so_far() {
        let values = [100.0, 103.0, 99.0, 104.5, 100.0, 98.0];
        let looks = relative_half_widths(&values.map(Some));
        assert_eq!(looks[0], None);
        for count in 2..=values.len() {
            let reach = location(&values[..count]).and_then(Estimate::relative_half_width);
            let (found, expected) = (looks[count - 1].expect("values"), reach.expect("values"));
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{count}: {found} {expected}"
            );
        }
    }

    #[test]
    fn a_repeat_without_a_value_leaves_all_as_it_was_and_one_of_zero_ends_it() {
        let looks = relative_half_widths(&[Some(5.0), None, Some(5.0), Some(0.0), Some(5.0)]);
        assert_eq!(looks, [None, None, Some(0.0), None, None]);
        assert_eq!(
            relative_half_widths(&[Some(f64::INFINITY), Some(1.0)]),
            [None, None]
        );
        assert_eq!(relative_half_widths(&[]), []);
    }
}
