//! The Mann-Whitney test: whether the values of one sample are larger than those of another.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::rank::ranks;
use crate::{Test, TestMethod};

/// Most values in both samples together for which all arrangements are counted.
const COUNTED_MOST: usize = 60;

/// Tests whether values of the one sample tend to be larger than those of the other: the rank sum
/// of Mann and Whitney ("On a test of whether one of two random variables is stochastically larger
/// than the other", Annals of Mathematical Statistics 18, 1947), two-sided by doubling the smaller
/// tail.
///
/// Up to 60 values together all arrangements are counted, with their ties; above, the normal
/// approximation is used, with corrections for ties and continuity.
///
/// Only ranks count, so one extreme value weighs no more than another; in return it says nothing
/// about means. `None` if a sample is empty, or a value is NaN.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<Test> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|value| value.is_nan()) {
        return None;
    }
    let pooled: Vec<f64> = a.iter().chain(b).copied().collect();
    let ranks = ranks(&pooled);
    Some(if pooled.len() <= COUNTED_MOST {
        Test {
            p_value: counted(&ranks, a.len()),
            method: TestMethod::MannWhitneyExact,
        }
    } else {
        Test {
            p_value: approximated(&ranks, a.len())?,
            method: TestMethod::MannWhitneyNormal,
        }
    })
}

/// The p-value from the distribution of the rank sum of `taken` ranks, built rank by rank. Ranks
/// are doubled, because those of ties are halves.
fn counted(ranks: &[f64], taken: usize) -> f64 {
    // A rank is at most 60, so the casts are exact.
    let doubled: Vec<usize> = ranks
        .iter()
        .map(|rank| (2.0 * rank).round() as usize)
        .collect();
    let most: usize = doubled.iter().sum();
    let mut ways = vec![vec![0.0_f64; most + 1]; taken + 1];
    ways[0][0] = 1.0;
    for rank in &doubled {
        for size in (0..taken).rev() {
            for sum in 0..=most - rank {
                ways[size + 1][sum + rank] += ways[size][sum];
            }
        }
    }
    let found: usize = doubled[..taken].iter().sum();
    let all: f64 = ways[taken].iter().sum();
    let below: f64 = ways[taken][..=found].iter().sum();
    let above: f64 = ways[taken][found..].iter().sum();
    (2.0 * below.min(above) / all).min(1.0)
}

fn approximated(ranks: &[f64], taken: usize) -> Option<f64> {
    let (all, a) = (ranks.len() as f64, taken as f64);
    let sum: f64 = ranks[..taken].iter().sum();
    let middle = (all + 1.0) / 2.0;
    // The variance of the ranks themselves accounts for ties.
    let squares: f64 = ranks.iter().map(|rank| (rank - middle).powi(2)).sum();
    let variance = a * (all - a) / (all * (all - 1.0)) * squares;
    if variance == 0.0 {
        return Some(1.0);
    }
    let distance = ((sum - a * middle).abs() - 0.5).max(0.0);
    let normal = Normal::new(0.0, 1.0).ok()?;
    Some((2.0 * normal.sf(distance / variance.sqrt())).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(a: &[f64], b: &[f64]) -> f64 {
        mann_whitney(a, b).expect("two samples").p_value
    }

    #[test]
    fn few_values_have_the_share_of_all_arrangements() {
        // 3 and 4 values apart: 2 of 35. U = 1: 2 arrangements are as far on each side.
        assert!((p(&[1., 2., 3.], &[4., 5., 6., 7.]) - 2.0 / 35.0).abs() < 1e-12);
        assert!((p(&[1., 2., 4.], &[3., 5., 6., 7.]) - 4.0 / 35.0).abs() < 1e-12);
        assert_eq!(p(&[1.0; 4], &[1.0; 4]), 1.0);
    }

    #[test]
    fn ties_are_counted_as_they_are() {
        // Ranks 1.5 1.5 3.5 | 3.5 5.5 5.5: of the 20 groups, sums up to 6.5: {1.5, 1.5, 3.5} in two
        // ways, so that p = 2 · 2/20.
        let found = p(&[1., 1., 2.], &[2., 3., 3.]);
        assert!((found - 4.0 / 20.0).abs() < 1e-12, "{found}");
    }

    #[test]
    fn the_approximation_meets_the_count_where_they_join() {
        let a: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 31)).collect();
        let b: Vec<f64> = (0..30).map(|i| f64::from(i * 11 % 37) + 4.2).collect();
        let pooled: Vec<f64> = a.iter().chain(&b).copied().collect();
        let exact = counted(&ranks(&pooled), 30);
        let near = approximated(&ranks(&pooled), 30).expect("values");
        assert!((exact - near).abs() < 0.002, "{exact} {near}");
        let many: Vec<f64> = (0..50).map(f64::from).collect();
        let test = mann_whitney(&many, &many).expect("two samples");
        assert_eq!(test.method, TestMethod::MannWhitneyNormal);
        assert!(test.p_value > 0.99);
    }

    #[test]
    fn nothing_is_not_tested() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[f64::NAN], &[1.0]), None);
    }
}
