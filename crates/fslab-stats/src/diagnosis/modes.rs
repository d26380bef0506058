//! Whether a sample has two modes.

use super::MATTERS;
use super::resolution::step;
use crate::logs::logarithms;

/// The smallest sample that is tested; below, two groups often appear by chance.
const SIZE_LEAST: usize = 8;

/// The fewest values of a group, which also has at least one in [`GROUP_SHARE`]; fewer are
/// outliers.
const GROUP_LEAST: usize = 3;

/// See [`GROUP_LEAST`].
const GROUP_SHARE: usize = 5;

/// Two groups of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// Geometric mean of the lower group.
    pub low: f64,
    /// Its number of values.
    pub low_count: usize,
    /// Geometric mean of the upper group.
    pub high: f64,
    /// Its number of values.
    pub high_count: usize,
    /// An upper bound of the probability that a sample with one mode falls into two groups as
    /// clearly, see [`modes`]; 1 if the groups are less than 1 % apart.
    pub p_value: f64,
}

/// Critical values of the logarithm of (sum of squares / sum of squares within two groups): samples
/// of n values with one mode exceed them with a probability of 0.5, 0.1, 0.05, 0.01, 0.001 and
/// 0.0001. Each is the largest of those of uniform, exponential, triangular and log-normal values
/// (deviation 1, logarithms not taken); nearly everywhere that is the uniform one. From 400,000
/// samples of each, for n = 50 and 100 from 120,000; a test draws some again.
const CRITICAL: [(f64, [f64; 6]); 9] = [
    (8.0, [1.5108, 2.2599, 2.5417, 3.1889, 4.0514, 4.8768]),
    (9.0, [1.5415, 2.2008, 2.4472, 3.0125, 3.7885, 4.5843]),
    (10.0, [1.5431, 2.1405, 2.3572, 2.8603, 3.5437, 4.3044]),
    (12.0, [1.5230, 2.0386, 2.2248, 2.6302, 3.2868, 3.9744]),
    (15.0, [1.4967, 1.9375, 2.0884, 2.4724, 3.0933, 3.7859]),
    (20.0, [1.4670, 1.8331, 1.9558, 2.2113, 2.6220, 3.1290]),
    (30.0, [1.4388, 1.7255, 1.8174, 2.0053, 2.2431, 2.4605]),
    (50.0, [1.4172, 1.6311, 1.6971, 1.8264, 1.9978, 2.1545]),
    (100.0, [1.4020, 1.5497, 1.5950, 1.6815, 1.7888, 1.8835]),
];

/// The probabilities of [`CRITICAL`].
const PROBABILITIES: [f64; 6] = [0.5, 0.1, 0.05, 0.01, 0.001, 0.0001];

/// The smallest p-value that is reported; the table's last two columns extrapolate no further.
const P_VALUE_LEAST: f64 = 1e-6;

/// Tests whether the logarithms of `sample` have two modes. The sample is split into the two groups
/// with the smallest sum of squares within them (Fisher, "On grouping for maximum homogeneity",
/// Journal of the American Statistical Association 53, 1958); the test statistic is the share of
/// the sum of squares that remains (the likelihood ratio of two normal groups against one: Engelman
/// and Hartigan, "Percentage points of a test for clusters", Journal of the American Statistical
/// Association 64, 1969). A group has at least three values and a fifth of all.
///
/// The p-value is not that of a normal sample, as in that paper, but the largest over several
/// distributions with one mode, mostly the uniform one: skewed and heavy-tailed samples alarm less
/// often, normal ones hardly ever. Unlike the dip test (Hartigan and Hartigan, Annals of Statistics
/// 13, 1985) it does not hold for every distribution with one mode: of thirty values of which most
/// are nearly equal and the rest scattered to one side it may report two. But the dip test does not
/// find groups of seven and three. Equal values were rounded by a coarse clock; they are spread
/// evenly over its step, so that the steps are no modes.
///
/// `None` below eight values, or if a value is not positive.
pub fn modes(sample: &[f64]) -> Option<Modes> {
    let mut logs = logarithms(sample)?;
    if logs.len() < SIZE_LEAST {
        return None;
    }
    logs.sort_by(f64::total_cmp);
    let Groups {
        low_count,
        low,
        high,
        ..
    } = groups(&logs);
    Some(Modes {
        low: low.exp(),
        low_count,
        high: high.exp(),
        high_count: logs.len() - low_count,
        p_value: if high - low < MATTERS {
            1.0
        } else {
            p_value(groups(&spread_out(&logs)).clarity, logs.len() as f64)
        },
    })
}

/// Spreads values of a coarse clock over the step that they were rounded to.
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
    // Steps are even in the values but not quite in their logarithms.
    spread.sort_by(f64::total_cmp);
    spread
}

/// The split into two groups with the smallest sum of squares within them.
struct Groups {
    /// How many of the sorted values are in the lower group.
    low_count: usize,
    low: f64,
    high: f64,
    /// The logarithm of the sum of squares over what remains within the groups.
    clarity: f64,
}

fn groups(sorted: &[f64]) -> Groups {
    let count = sorted.len() as f64;
    let all = sorted.iter().sum::<f64>() / count;
    let squares: f64 = sorted.iter().map(|value| (value - all).powi(2)).sum();
    let least = sorted.len().div_ceil(GROUP_SHARE).max(GROUP_LEAST);
    let (mut sum, mut taken_most) = (0.0, f64::NEG_INFINITY);
    let mut best = Groups {
        low_count: least,
        low: all,
        high: all,
        clarity: 0.0,
    };
    for (place, value) in sorted.iter().enumerate().take(sorted.len() - least) {
        sum += value - all;
        let (low, high) = ((place + 1) as f64, count - (place + 1) as f64);
        // The sum of squares between the two means.
        let taken = sum * sum * count / (low * high);
        if place + 1 >= least && taken > taken_most {
            taken_most = taken;
            best = Groups {
                low_count: place + 1,
                low: all + sum / low,
                high: all - sum / high,
                // The remainder is at least the rounding error, so that nothing is divided by zero.
                clarity: (squares / (squares - taken).max(squares * f64::EPSILON)).ln(),
            };
        }
    }
    best
}

/// Interpolates the table: between sizes on a scale of 1/√n, between probabilities on their
/// logarithms.
fn p_value(clarity: f64, count: f64) -> f64 {
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
    // Below the table the p-value is 1; above it, its last two columns are extrapolated.
    let column = critical.partition_point(|limit| *limit <= clarity);
    if column == 0 {
        return 1.0;
    }
    let last = column.min(critical.len() - 1);
    let logs = PROBABILITIES.map(f64::ln);
    let slope = (logs[last] - logs[last - 1]) / (critical[last] - critical[last - 1]);
    let found = logs[last] + slope * (clarity - critical[last]);
    found.exp().clamp(P_VALUE_LEAST, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMixRandom;

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
        // Neighbouring steps are rounding; with finer steps between them they are modes.
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
            let mut random = SplitMixRandom::stream(count as u64);
            let (size, critical) = CRITICAL[row];
            assert_eq!(size, count as f64);
            let mut reached = [0_u32; 4];
            for _ in 0..samples {
                let value = |_| random.place(1 << 31) as f64;
                let mut sample: Vec<f64> = (0..count).map(value).collect();
                sample.sort_by(f64::total_cmp);
                let clarity = groups(&sample).clarity;
                for (column, reached) in reached.iter_mut().enumerate() {
                    *reached += u32::from(clarity > critical[column]);
                }
            }
            for (reached, expected) in reached.iter().zip(PROBABILITIES) {
                let found = f64::from(*reached) / f64::from(samples);
                // Four standard deviations of the count, and the rounding of the table.
                let error = 4.0 * (expected / f64::from(samples)).sqrt() + 0.02 * expected;
                assert!(
                    (found - expected).abs() < error,
                    "{count} {expected}: {found}"
                );
            }
        }
    }

    #[test]
    fn p_values_fall_with_clarity_and_meet_the_table() {
        for (size, critical) in CRITICAL {
            for (limit, probability) in critical.iter().zip(PROBABILITIES) {
                let found = p_value(limit + 1e-9, size);
                assert!(
                    (found / probability - 1.0).abs() < 1e-4,
                    "{size} {probability}"
                );
            }
        }
        assert_eq!(p_value(9.0, 400.0), P_VALUE_LEAST);
        assert!(p_value(2.5, 11.0) > p_value(2.6, 11.0));
    }
}
