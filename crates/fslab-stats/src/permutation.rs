//! The permutation p-value of a difference of two means.

use crate::SplitMixRandom;

/// Most values a side, of equal size, for which arrangements are counted in two halves.
const HALVES_MOST: usize = 12;

/// Most arrangements of unequal sizes that are enumerated.
const COUNTED_MOST: u64 = 20_000;

/// Most random assignments.
const DEALS_MOST: u32 = 9_999;

/// Sampling ends after so many assignments with at least the observed difference, which gives the
/// p-value to 1/14. All pairs of samples use the same assignments, so fewer would change the rate
/// of false alarms.
const REACHED_MOST: u32 = 200;

/// Figures that differ by less are equal but for rounding.
const ROUNDING: f64 = 1e-9;

/// A p-value and its method.
pub(crate) enum Permuted {
    Counted { p_value: f64, arrangements: u64 },
    Dealt { p_value: f64, resamples: u32 },
}

/// The number of ways to assign `of` values to a group of `taken`; saturating.
pub(crate) fn arrangements(taken: usize, of: usize) -> u64 {
    let taken = taken.min(of - taken) as u64;
    let step = |ways: u64, i: u64| ways.saturating_mul(of as u64 - i) / (i + 1);
    (0..taken).fold(1, step)
}

/// The smallest p-value possible for samples of these sizes; `None` if one has a single value.
pub(crate) fn p_value_least(a: usize, b: usize) -> Option<f64> {
    if a < 2 || b < 2 {
        return None;
    }
    let counted = if a == b {
        a <= HALVES_MOST
    } else {
        is_counted(a, b)
    };
    Some(if counted {
        2.0 / arrangements(a, a + b) as f64
    } else {
        1.0 / f64::from(DEALS_MOST + 1)
    })
}

fn is_counted(a: usize, b: usize) -> bool {
    a + b < u64::BITS as usize && arrangements(a, a + b) <= COUNTED_MOST
}

/// `None` if a sample has a single value.
pub(crate) fn p_value(a: &[f64], b: &[f64]) -> Option<Permuted> {
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let mut pooled: Vec<f64> = a.iter().chain(b).copied().collect();
    let mean = pooled.iter().sum::<f64>() / pooled.len() as f64;
    pooled.iter_mut().for_each(|value| *value -= mean);
    Some(if a.len() == b.len() && a.len() <= HALVES_MOST {
        in_halves(&pooled, a.len())
    } else if a.len() != b.len() && is_counted(a.len(), b.len()) {
        one_by_one(&pooled, a.len())
    } else {
        dealt(pooled, a.len())
    })
}

/// Counts the groups of `taken` out of twice as many values whose sum is at least as far from half
/// of all, without enumeration: sums of one half of the values are paired with sums of the other
/// (Horowitz and Sahni, "Computing partitions with applications to the knapsack problem", Journal
/// of the ACM 21, 1974).
fn in_halves(centred: &[f64], taken: usize) -> Permuted {
    let scale: f64 = centred.iter().map(|value| value.abs()).sum();
    let found = centred[..taken].iter().sum::<f64>().abs() - ROUNDING * scale;
    let arrangements = arrangements(taken, 2 * taken);
    let p_value = if found <= 0.0 {
        1.0
    } else {
        let (left, right) = (sums(&centred[..taken]), sums(&centred[taken..]));
        let pairs = left.iter().zip(right.iter().rev());
        // The values are centred, so as many sums are this far below zero as above.
        let reached: u64 = pairs.map(|(l, r)| pairs_from(l, r, found)).sum();
        (2.0 * reached as f64 / arrangements as f64).min(1.0)
    };
    Permuted::Counted {
        p_value,
        arrangements,
    }
}

/// The sums of all groups of values, by group size, each sorted.
fn sums(values: &[f64]) -> Vec<Vec<f64>> {
    let mut by_size: Vec<Vec<f64>> = vec![Vec::new(); values.len() + 1];
    by_size[0].push(0.0);
    for (place, value) in values.iter().enumerate() {
        for size in (0..=place).rev() {
            let more: Vec<f64> = by_size[size].iter().map(|sum| sum + value).collect();
            by_size[size + 1].extend(more);
        }
    }
    for sums in &mut by_size {
        sums.sort_unstable_by(f64::total_cmp);
    }
    by_size
}

/// How many pairs have a sum of `least` or more.
fn pairs_from(left: &[f64], right: &[f64], least: f64) -> u64 {
    let (mut pairs, mut from) = (0, right.len());
    for sum in left {
        while from > 0 && sum + right[from - 1] >= least {
            from -= 1;
        }
        pairs += (right.len() - from) as u64;
    }
    pairs
}

/// The square of Welch's t for groups of a pooled sample.
struct Studentised {
    all: (f64, f64),
    counts: (f64, f64),
}

impl Studentised {
    fn of(centred: &[f64], taken: usize) -> Self {
        let squares = centred.iter().map(|value| value * value).sum();
        Self {
            all: (centred.iter().sum(), squares),
            counts: (taken as f64, (centred.len() - taken) as f64),
        }
    }

    /// For the group whose values have this sum, and this sum of squares.
    fn distance(&self, sum: f64, squares: f64) -> f64 {
        let variance = |sum: f64, squares: f64, count: f64| {
            ((squares - sum * sum / count) / (count - 1.0) / count).max(0.0)
        };
        let (rest, rest_squares) = (self.all.0 - sum, self.all.1 - squares);
        let difference = sum / self.counts.0 - rest / self.counts.1;
        let error =
            variance(sum, squares, self.counts.0) + variance(rest, rest_squares, self.counts.1);
        if difference.powi(2) <= ROUNDING * ROUNDING * self.all.1 {
            0.0
        } else if error <= ROUNDING * ROUNDING * self.all.1 {
            f64::INFINITY
        } else {
            difference.powi(2) / error
        }
    }

    fn distance_of<'v>(&self, group: impl Iterator<Item = &'v f64>) -> f64 {
        let add = |(sum, squares): (f64, f64), value: &f64| (sum + value, squares + value * value);
        let (sum, squares) = group.fold((0.0, 0.0), add);
        self.distance(sum, squares)
    }
}

fn one_by_one(centred: &[f64], taken: usize) -> Permuted {
    let statistic = Studentised::of(centred, taken);
    let found = statistic.distance_of(centred[..taken].iter()) * (1.0 - ROUNDING);
    let (mut reached, mut all) = (0_u64, 0_u64);
    let mut group = (1_u64 << taken) - 1;
    while group >> centred.len() == 0 {
        let member = |place: &usize| group >> place & 1 == 1;
        let values = (0..centred.len())
            .filter(member)
            .map(|place| &centred[place]);
        reached += u64::from(statistic.distance_of(values) >= found);
        all += 1;
        // The next larger number with as many ones: the lowest run of ones moves up by one, and the
        // rest of the run to the bottom.
        let lowest = group & group.wrapping_neg();
        let carried = group + lowest;
        group = carried | ((group ^ carried) / lowest) >> 2;
    }
    Permuted::Counted {
        p_value: reached as f64 / all as f64,
        arrangements: all,
    }
}

fn dealt(mut centred: Vec<f64>, taken: usize) -> Permuted {
    let statistic = Studentised::of(&centred, taken);
    let found = statistic.distance_of(centred[..taken].iter()) * (1.0 - ROUNDING);
    // Assigns the smaller group; the other is the remainder.
    let fewer = taken.min(centred.len() - taken);
    let statistic = Studentised::of(&centred, fewer);
    centred.sort_by(f64::total_cmp);
    let (mut random, mut reached) = (SplitMixRandom::stream(3), 0);
    for resamples in 1..=DEALS_MOST {
        for place in 0..fewer {
            let other = place + random.place(centred.len() - place);
            centred.swap(place, other);
        }
        reached += u32::from(statistic.distance_of(centred[..fewer].iter()) >= found);
        if reached == REACHED_MOST {
            let p_value = f64::from(reached) / f64::from(resamples);
            return Permuted::Dealt { p_value, resamples };
        }
    }
    Permuted::Dealt {
        p_value: f64::from(reached + 1) / f64::from(DEALS_MOST + 1),
        resamples: DEALS_MOST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(found: &Permuted) -> f64 {
        match found {
            Permuted::Counted { p_value, .. } | Permuted::Dealt { p_value, .. } => *p_value,
        }
    }

    fn of(a: &[f64], b: &[f64]) -> f64 {
        p(&p_value(a, b).expect("two samples"))
    }

    #[test]
    fn few_values_have_the_share_of_all_arrangements() {
        // Two separate groups: 2 of the 252 assignments.
        let apart = of(&[1., 2., 3., 4., 5.], &[11., 12., 13., 14., 15.]);
        assert!((apart - 2.0 / 252.0).abs() < 1e-12, "{apart}");
        // 1, 2, 4 against 3, 5, 6 sums to 7: of the 20 groups of three of 1..=6, those of 6 and 7
        // are as low, and those of 14 and 15 as high.
        let near = of(&[1., 2., 4.], &[3., 5., 6.]);
        assert!((near - 4.0 / 20.0).abs() < 1e-12, "{near}");
        assert_eq!(of(&[1., 4.], &[2., 3.]), 1.0);
    }

    #[test]
    fn counting_in_halves_is_counting_one_by_one() {
        // For equal sizes Welch's t orders the arrangements as their means do.
        let values: Vec<f64> = (0..14).map(|i| f64::from(i * i % 17) + 0.1).collect();
        let mean = values.iter().sum::<f64>() / 14.0;
        let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let (halves, each) = (in_halves(&centred, 7), one_by_one(&centred, 7));
        assert!((p(&halves) - p(&each)).abs() < 1e-12);
        assert!(p(&halves) > 0.0 && p(&halves) < 1.0);
    }

    #[test]
    fn dealing_comes_near_to_counting() {
        let values: Vec<f64> = (0..14).map(|i| f64::from(i * 5 % 14)).collect();
        let mean = values.iter().sum::<f64>() / 14.0;
        let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
        for taken in [4, 7, 10] {
            let (counted, dealt) = (one_by_one(&centred, taken), dealt(centred.clone(), taken));
            let (counted, dealt) = (p(&counted), p(&dealt));
            assert!((dealt / counted - 1.0).abs() < 0.5, "{counted} {dealt}");
        }
        // Separate groups: none of ten thousand assignments reaches the difference.
        let low: Vec<f64> = (0..30).map(f64::from).collect();
        let high: Vec<f64> = (100..130).map(f64::from).collect();
        assert!((of(&low, &high) - 1e-4).abs() < 1e-12);
    }

    #[test]
    fn unequal_sizes_differ_in_both_directions() {
        let (few, many) = ([1.0, 1.1, 0.9], [5.0, 5.1, 4.9, 5.2, 4.8, 5.05]);
        assert!(of(&few, &many) <= 2.0 / 84.0);
        assert_eq!(of(&few, &many), of(&many, &few));
    }

    #[test]
    fn equal_values_do_not_differ() {
        assert_eq!(of(&[2.0; 5], &[2.0; 5]), 1.0);
        assert_eq!(of(&[2.0; 3], &[2.0; 9]), 1.0);
        assert_eq!(of(&[2.0; 40], &[2.0; 40]), 1.0);
        // One tick of a coarse clock on one side.
        assert_eq!(of(&[1., 1., 1., 1., 2.], &[1.0; 5]), 1.0);
    }

    #[test]
    fn the_least_p_value_is_that_of_groups_entirely_apart() {
        assert_eq!(p_value_least(3, 3), Some(0.1));
        assert_eq!(p_value_least(1, 9), None);
        assert_eq!(p_value_least(40, 40), Some(1e-4));
        assert_eq!(arrangements(10, 20), 184_756);
    }
}
