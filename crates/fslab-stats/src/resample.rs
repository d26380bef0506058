//! Replicates of a sample's mean and its error, for the studentised bootstrap.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::SplitMixRandom;
use crate::logs::mean_and_variance;

/// Number of replicates of a pair of samples. With the sample itself they make 2003 cases, of which
/// neither 5 % nor 1 % is an integer: no p-value lies exactly on a limit.
pub(crate) const REPLICATES: usize = 2002;

/// The smallest error of a replicate, as a share of the sample's.
///
/// A sample with few different values, as of a coarse clock, has replicates without spread, whose
/// studentised distance would be infinite (Polansky, "Stabilizing bootstrap-t confidence intervals
/// for small samples", Canadian Journal of Statistics 28, 2000).
const ERROR_SHARE_LEAST: f64 = 0.5;

/// Replicates that are summed side by side, so that an addition need not wait for the one before.
const LANES: usize = 8;

/// Most values of a sample whose replicates' places are kept: 251 KiB for each size and stream.
const KEPT_MOST: usize = 32;

/// One replicate: the distance of its mean from the sample's, and the variance of its mean.
#[derive(Clone, Copy)]
struct Replicate {
    shift: f64,
    variance: f64,
}

/// The studentised distances `|θ* - θ| / se*` of the difference of two means, unordered.
///
/// The samples are resampled separately, each from its own stream. Values are sorted first, and the
/// samples ordered by them, so that neither exchanging the samples nor shuffling one changes the
/// distances.
pub(crate) fn distances(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    if a.iter()
        .map(|v| v.to_bits())
        .gt(b.iter().map(|v| v.to_bits()))
    {
        (a, b) = (b, a);
    }
    let (of_a, of_b) = (replicates(&a, 1)?, replicates(&b, 2)?);
    let error = |values: &[f64]| {
        let variance = mean_and_variance(values)?.1?;
        Some(variance / values.len() as f64)
    };
    let least = ERROR_SHARE_LEAST * (error(&a)? + error(&b)?).sqrt();
    let distances = of_a
        .iter()
        .zip(&of_b)
        .map(|(a, b)| (a.shift - b.shift).abs() / (a.variance + b.variance).sqrt().max(least));
    Some(distances.collect())
}

fn replicates(values: &[f64], stream: u64) -> Option<Vec<Replicate>> {
    let (mean, _) = mean_and_variance(values)?;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let count = values.len() as f64;
    let replicate = |(sum, squares): (f64, f64)| {
        let shift = sum / count;
        // Values below zero are rounding.
        let variance = ((squares - sum * shift) / (count - 1.0) / count).max(0.0);
        Replicate { shift, variance }
    };
    let mut replicates = Vec::with_capacity(REPLICATES.next_multiple_of(LANES));
    with_places(values.len(), stream, |places| {
        for lanes in places.chunks_exact(LANES * values.len()) {
            let (mut sum, mut squares) = ([0.0; LANES], [0.0; LANES]);
            for taken in lanes.as_chunks::<LANES>().0 {
                for (lane, place) in taken.iter().enumerate() {
                    let value = centred[*place as usize];
                    sum[lane] += value;
                    squares[lane] += value * value;
                }
            }
            replicates.extend(sum.into_iter().zip(squares).map(replicate));
        }
    });
    replicates.truncate(REPLICATES);
    Some(replicates)
}

thread_local! {
    /// By number of values and stream.
    static KEPT: RefCell<HashMap<(usize, u64), Vec<u32>>> = RefCell::default();
}

/// Calls `use_them` with the result of [`places`], which is the same for all samples of a size.
fn with_places(count: usize, stream: u64, use_them: impl FnOnce(&[u32])) {
    if count > KEPT_MOST {
        return use_them(&places(count, stream));
    }
    KEPT.with_borrow_mut(|kept| {
        let places = kept
            .entry((count, stream))
            .or_insert_with(|| places(count, stream));
        use_them(places);
    });
}

/// The places of the values that each replicate of a sample of `count` values takes. Of [`LANES`]
/// replicates there are the first places, then the second, and so on.
fn places(count: usize, stream: u64) -> Vec<u32> {
    let mut random = SplitMixRandom::stream(stream);
    let mut places = vec![0; REPLICATES.next_multiple_of(LANES) * count];
    for replicate in 0..REPLICATES {
        let first = replicate / LANES * LANES * count + replicate % LANES;
        let mut slots = places[first..].iter_mut().step_by(LANES).take(count);
        while let Some(slot) = slots.next() {
            let [one, other] = random.two_places(count);
            *slot = one as u32;
            if let Some(slot) = slots.next() {
                *slot = other as u32;
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_do_not_depend_on_the_order_of_values_or_samples() {
        let (a, b) = ([1.0, 4.0, 2.0, 7.0], [0.5, 0.25, 3.0]);
        let found = distances(&a, &b).expect("two samples");
        assert_eq!(found.len(), REPLICATES);
        assert_eq!(distances(&b, &a), Some(found.clone()));
        assert_eq!(distances(&[7.0, 2.0, 4.0, 1.0], &b), Some(found));
    }

    #[test]
    fn replicates_without_spread_have_a_finite_distance() {
        let coarse = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0];
        let found = distances(&coarse, &coarse).expect("two samples");
        assert!(found.iter().all(|distance| distance.is_finite()));
    }

    #[test]
    fn the_spread_of_replicates_is_that_of_a_mean() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let found = replicates(&values, 1).expect("a sample");
        let shifts: Vec<f64> = found.iter().map(|it| it.shift).collect();
        let (mean, variance) = mean_and_variance(&shifts).expect("replicates");
        // The variance of 0..20 with n in the denominator is 33.25; that of a mean of 20 is a
        // twentieth.
        assert!(mean.abs() < 0.1, "{mean}");
        let variance = variance.expect("replicates");
        assert!((variance / (33.25 / 20.0) - 1.0).abs() < 0.1, "{variance}");
    }
}
