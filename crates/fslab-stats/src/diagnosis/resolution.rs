//! The resolution of the clock behind a sample: equal values are rounded ones.

use super::SPREAD_LEAST;

/// The smallest difference of two values if others are equal; 0 if all are different.
///
/// A distance of one step cannot be distinguished from the rounding of a coarse clock.
pub(super) fn step(logs: &[f64]) -> f64 {
    let mut sorted = logs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let differences = || sorted.windows(2).map(|pair| pair[1] - pair[0]);
    if differences().all(|difference| difference > 0.0) {
        return 0.0;
    }
    let least = differences().filter(|difference| *difference > 0.0);
    least.reduce(f64::min).unwrap_or(0.0)
}

/// The smallest standard deviation to assume: that of rounding, which is uniform over a step
/// (Sheppard, 1898), and at least 0.1 %.
pub(super) fn spread_least(logs: &[f64]) -> f64 {
    (step(logs) / 12.0_f64.sqrt()).max(SPREAD_LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_seen_where_values_are_equal() {
        assert_eq!(step(&[1.0, 1.25, 1.0, 1.75]), 0.25);
        assert_eq!(step(&[1.0, 1.25, 1.125, 1.75]), 0.0);
        assert_eq!(step(&[1.0, 1.0]), 0.0);
        assert_eq!(spread_least(&[1.0, 1.0]), SPREAD_LEAST);
        assert!((spread_least(&[1.0, 1.25, 1.0]) - 0.25 / 12.0_f64.sqrt()).abs() < 1e-12);
    }
}
