//! Whether a sample has two modes.

use super::MATTERS;
use super::dip::dip;
use super::resolution::step;
use crate::logs::logarithms;

/// The least size of a sample that is looked at: below, two heaps are as likely as not.
const SIZE_LEAST: usize = 8;

/// Two groups of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// Geometric mean of the lower group.
    pub low: f64,
    /// How many values are in it.
    pub low_count: usize,
    /// Geometric mean of the upper group.
    pub high: f64,
    /// How many values are in it.
    pub high_count: usize,
    /// The probability that a sample with one mode has as large a dip, at most; 1 where the groups
    /// are less than 1 % apart.
    pub p_value: f64,
}

/// The dips, times the root of n, that uniform samples of n values exceed with a probability of
/// 0.5, 0.1, 0.05, 0.01, 0.001 and 0.0001: of all distributions with one mode, none has larger ones
/// in the limit. From 200,000 samples for n = 100 to 4,000,000 up to n = 12; a test draws some
/// again.
const CRITICAL: [(f64, [f64; 6]); 9] = [
    (8.0, [0.3140, 0.4012, 0.4355, 0.4891, 0.5492, 0.6037]),
    (9.0, [0.3125, 0.4093, 0.4398, 0.4927, 0.5659, 0.6103]),
    (10.0, [0.3091, 0.4126, 0.4414, 0.5046, 0.5712, 0.6182]),
    (12.0, [0.3155, 0.4160, 0.4504, 0.5144, 0.5870, 0.6429]),
    (15.0, [0.3237, 0.4263, 0.4596, 0.5260, 0.6011, 0.6619]),
    (20.0, [0.3280, 0.4348, 0.4703, 0.5398, 0.6190, 0.6843]),
    (30.0, [0.3368, 0.4465, 0.4831, 0.5561, 0.6405, 0.7067]),
    (50.0, [0.3454, 0.4590, 0.4972, 0.5729, 0.6656, 0.7458]),
    (100.0, [0.3548, 0.4717, 0.5110, 0.5906, 0.6851, 0.7596]),
];

/// The probabilities of [`CRITICAL`].
const PROBABILITIES: [f64; 6] = [0.5, 0.1, 0.05, 0.01, 0.001, 0.0001];

/// No p-value is said to be less: the table's last two columns carry no further.
const P_VALUE_LEAST: f64 = 1e-6;

/// Whether the logarithms of `sample` have two modes, by the dip test of Hartigan and Hartigan
/// ("The dip test of unimodality", Annals of Statistics 13, 1985), with the two groups whose values
/// are nearest to their means (Fisher, "On grouping for maximum homogeneity", Journal of the
/// American Statistical Association 53, 1958).
///
/// The p-value is that of a uniform sample, the hardest to tell from two modes: a normal one alarms
/// much less often. Where values are equal, a coarse clock rounded them: they are spread evenly
/// over its step, so that its steps are no modes. `None` below eight values, or where a value is
/// not positive.
#[must_use]
pub fn modes(sample: &[f64]) -> Option<Modes> {
    let mut logs = logarithms(sample)?;
    if logs.len() < SIZE_LEAST {
        return None;
    }
    logs.sort_by(f64::total_cmp);
    let (low_count, low, high) = groups(&logs);
    Some(Modes {
        low: low.exp(),
        low_count,
        high: high.exp(),
        high_count: logs.len() - low_count,
        p_value: if high - low < MATTERS {
            1.0
        } else {
            p_value(dip(&spread_out(&logs)), logs.len() as f64)
        },
    })
}

/// Values of a coarse clock, spread again over the step that they were rounded to.
fn spread_out(sorted: &[f64]) -> Vec<f64> {
    let step = step(sorted);
    if step == 0.0 {
        return sorted.to_vec();
    }
    let heap = |equal: &[f64]| -> Vec<f64> {
        let place = |i: usize| (i as f64 + 0.5) / equal.len() as f64 - 0.5;
        (0..equal.len())
            .map(|i| equal[0] + step * place(i))
            .collect()
    };
    let mut spread: Vec<f64> = sorted.chunk_by(|a, b| a == b).flat_map(heap).collect();
    // Steps are even on the values and not quite on their logarithms.
    spread.sort_by(f64::total_cmp);
    spread
}

/// How many of the sorted values the lower group has, and the means of both.
fn groups(sorted: &[f64]) -> (usize, f64, f64) {
    let count = sorted.len() as f64;
    let all = sorted.iter().sum::<f64>() / count;
    let (mut sum, mut best) = (0.0, (1, f64::NEG_INFINITY, all, all));
    for (place, value) in sorted.iter().enumerate().take(sorted.len() - 1) {
        sum += value - all;
        let (low, high) = ((place + 1) as f64, count - (place + 1) as f64);
        // What the means take from the sum of squares.
        let taken = sum * sum * count / (low * high);
        if taken > best.1 {
            best = (place + 1, taken, all + sum / low, all - sum / high);
        }
    }
    (best.0, best.2, best.3)
}

/// Between the table's sizes on a scale of 1/√n, between its probabilities on their logarithms.
fn p_value(dip: f64, count: f64) -> f64 {
    let above = CRITICAL.iter().position(|(size, _)| *size >= count);
    let above = above.unwrap_or(CRITICAL.len() - 1).max(1);
    let ((size, few), (next, many)) = (CRITICAL[above - 1], CRITICAL[above]);
    let root = |size: f64| size.sqrt().recip();
    let share = (root(size) - root(count)) / (root(size) - root(next));
    let critical: Vec<f64> = few
        .iter()
        .zip(many)
        .map(|(a, b)| a + share * (b - a))
        .collect();
    let scaled = dip * count.sqrt();
    // Below the table nothing is to be told; above it, its last two columns go on.
    let column = critical.partition_point(|limit| *limit <= scaled);
    if column == 0 {
        return 1.0;
    }
    let last = column.min(critical.len() - 1);
    let logs = PROBABILITIES.map(f64::ln);
    let slope = (logs[last] - logs[last - 1]) / (critical[last] - critical[last - 1]);
    let found = logs[last] + slope * (scaled - critical[last]);
    found.exp().clamp(P_VALUE_LEAST, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    #[test]
    fn two_groups_are_found_with_their_sizes_and_means() {
        let sample = [
            100.0, 130.0, 101.0, 99.0, 131.0, 129.0, 100.5, 130.5, 99.5, 100.2,
        ];
        let found = modes(&sample).expect("ten values");
        assert_eq!((found.low_count, found.high_count), (6, 4));
        assert!((found.low - 100.0).abs() < 0.1 && (found.high - 130.1).abs() < 0.1);
        assert!(found.p_value < 1e-3, "{}", found.p_value);
    }

    #[test]
    fn one_group_is_none_and_so_are_groups_that_do_not_matter() {
        let quiet = [
            100.0, 101.5, 99.0, 100.7, 98.4, 101.0, 99.6, 100.2, 98.9, 100.9,
        ];
        assert!(modes(&quiet).expect("ten values").p_value > 0.3);
        // Neighbouring steps are rounding; the same with steps between them are not.
        let steps = [1.0, 1.3, 1.0, 1.3, 1.0, 1.3, 1.0, 1.3, 1.0, 1.3];
        assert!(modes(&steps).expect("ten values").p_value > 0.3);
        let many = [1.0, 1.3, 1.0, 1.3, 1.01, 1.31, 1.0, 1.3, 1.01, 1.3];
        assert!(modes(&many).expect("ten values").p_value < 1e-3);
        let ticks = [1.0, 1.001, 1.0, 1.001, 1.0, 1.001, 1.0, 1.001];
        assert_eq!(modes(&ticks).expect("eight values").p_value, 1.0);
        assert_eq!(modes(&[7.0; 9]).expect("nine values").p_value, 1.0);
        assert_eq!(modes(&[1.0; 7]), None);
    }

    #[test]
    fn the_table_holds_for_samples_drawn_again() {
        for (row, count, samples) in [(2, 10, 40_000), (5, 20, 20_000)] {
            let mut chance = Chance::stream(count as u64);
            let (size, critical) = CRITICAL[row];
            assert_eq!(size, count as f64);
            let mut reached = [0_u32; 4];
            for _ in 0..samples {
                let value = |_| chance.below(1 << 31) as f64;
                let mut sample: Vec<f64> = (0..count).map(value).collect();
                sample.sort_by(f64::total_cmp);
                let scaled = dip(&sample) * size.sqrt();
                for (column, reached) in reached.iter_mut().enumerate() {
                    *reached += u32::from(scaled > critical[column]);
                }
            }
            for (reached, expected) in reached.iter().zip(PROBABILITIES) {
                let found = f64::from(*reached) / f64::from(samples);
                // Four standard deviations of what chance allows, and the rounding of the table.
                let error = 4.0 * (expected / f64::from(samples)).sqrt() + 0.02 * expected;
                assert!(
                    (found - expected).abs() < error,
                    "{count} {expected}: {found}"
                );
            }
        }
    }

    #[test]
    fn p_values_fall_with_the_dip_and_meet_the_table() {
        for (size, critical) in CRITICAL {
            for (limit, probability) in critical.iter().zip(PROBABILITIES) {
                let found = p_value((limit + 1e-9) / size.sqrt(), size);
                assert!(
                    (found / probability - 1.0).abs() < 1e-4,
                    "{size} {probability}"
                );
            }
        }
        assert_eq!(p_value(0.25, 400.0), P_VALUE_LEAST);
        assert!(p_value(0.12, 11.0) > p_value(0.13, 11.0));
    }
}
