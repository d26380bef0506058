//! Tests whether two samples differ, with few assumptions.

use crate::permutation::{self, Permuted};
use crate::ratio::Contrast;
use crate::{CONFIDENCE, logs};

/// How a p-value was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestMethod {
    /// All assignments of the values to two groups were counted.
    PermutationExact {
        /// Their number.
        arrangements: u64,
    },
    /// Values were assigned at random.
    PermutationSampled {
        /// The number of assignments until the p-value was clear.
        resamples: u32,
    },
    /// Welch's t on the logarithms.
    Welch,
    /// Student's t on the means of clusters.
    Clusters,
    /// The rank sum of Mann and Whitney, all arrangements counted.
    MannWhitneyExact,
    /// The same by its normal approximation.
    MannWhitneyNormal,
}

impl TestMethod {
    /// The method's name for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PermutationExact { .. } => "permutation test, exact",
            Self::PermutationSampled { .. } => "permutation test, sampled",
            Self::Welch => "Welch's t test",
            Self::Clusters => "t test between runs",
            Self::MannWhitneyExact => "Mann-Whitney test, exact",
            Self::MannWhitneyNormal => "Mann-Whitney test, normal approximation",
        }
    }
}

/// A two-sided test of "the two do not differ".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The probability of a difference at least as large, were there none.
    pub p_value: f64,
    /// How it was computed.
    pub method: TestMethod,
}

/// [`difference_test_among`] for a single comparison.
pub fn difference_test(a: &[f64], b: &[f64]) -> Option<Test> {
    difference_test_among(a, b, 1)
}

/// Tests whether the geometric means of two samples differ, as one of `family` comparisons that
/// will be corrected together.
///
/// It is a permutation test of the logarithms (Fisher, The Design of Experiments, 1935; Pitman,
/// "Significance tests which may be applied to samples from any populations", Supplement to the
/// Journal of the Royal Statistical Society 4, 1937). Samples of equal size are compared by the
/// difference of their means, those of unequal size by Welch's t of each arrangement, so that
/// unequal spreads alone give no difference (Janssen, "Studentized permutation tests for non-i.i.d.
/// hypotheses and the generalized Behrens-Fisher problem", Statistics and Probability Letters 36,
/// 1997). Where arrangements are too many to count, values are assigned at random, with an early
/// end if the p-value is large (Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika
/// 78, 1991).
///
/// Small samples cannot reject by permutation: with three values a side no p-value is below 0.1,
/// and among a hundred comparisons each needs one under 0.0005. Where the smallest p-value that the
/// sizes allow, times `family`, is above 0.05, Welch's t test is used instead.
///
/// Permutation of small samples with very different spreads alarms too often: twelve values against
/// four with ten times their spread three times too often. So the p-value is never below Welch's;
/// the method is that of the larger one.
///
/// `None` if a sample has fewer than two values, or one that is not positive.
pub fn difference_test_among(a: &[f64], b: &[f64], family: usize) -> Option<Test> {
    let least = permutation::p_value_least(a.len(), b.len())?;
    let welch = Test {
        p_value: Contrast::by_welch(a, b)?.p_equal()?,
        method: TestMethod::Welch,
    };
    if least * family.max(1) as f64 > 1.0 - CONFIDENCE {
        return Some(welch);
    }
    let (a, b) = (logs::logarithms(a)?, logs::logarithms(b)?);
    let permuted = match permutation::p_value(&a, &b)? {
        Permuted::Counted {
            p_value,
            arrangements,
        } => Test {
            p_value,
            method: TestMethod::PermutationExact { arrangements },
        },
        Permuted::Dealt { p_value, resamples } => Test {
            p_value,
            method: TestMethod::PermutationSampled { resamples },
        },
    };
    Some(if welch.p_value > permuted.p_value {
        welch
    } else {
        permuted
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::tests::WELCH;

    #[test]
    fn the_method_is_the_one_that_can_still_reject() {
        let sample = |count: u32, centre: f64| -> Vec<f64> {
            (0..count).map(|i| centre + f64::from(i) * 0.01).collect()
        };
        let method = |count: u32, family: usize| {
            let test = difference_test_among(&sample(count, 1.0), &sample(count, 2.0), family);
            test.expect("positive values").method
        };
        let exact = |arrangements| TestMethod::PermutationExact { arrangements };
        assert_eq!(method(3, 1), TestMethod::Welch);
        assert_eq!(method(4, 1), exact(70));
        assert_eq!(method(4, 2), TestMethod::Welch);
        assert_eq!(method(6, 23), exact(924));
        assert_eq!(method(10, 960), exact(184_756));
    }

    #[test]
    fn welchs_p_value_is_that_of_a_worked_example() {
        let (a, b) = WELCH;
        let test = difference_test_among(&a.map(f64::exp), &b.map(f64::exp), 1_000_000);
        let test = test.expect("positive");
        assert_eq!(test.method, TestMethod::Welch);
        // Of t = -2.455 at 24.99 degrees of freedom.
        assert!((test.p_value - 0.021_4).abs() < 2e-4, "{}", test.p_value);
    }

    #[test]
    fn samples_without_spread_differ_or_do_not() {
        let same = difference_test(&[2.0; 3], &[2.0; 3]).expect("positive");
        assert_eq!(same.p_value, 1.0);
        let other = difference_test(&[2.0; 3], &[3.0; 3]).expect("positive");
        assert_eq!(other.p_value, 0.0);
        let counted = difference_test(&[2.0; 5], &[2.0; 5]).expect("positive");
        assert_eq!(counted.p_value, 1.0);
    }

    #[test]
    fn a_single_value_and_a_value_of_zero_are_not_tested() {
        assert_eq!(difference_test(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(difference_test(&[0.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(difference_test(&[], &[]), None);
    }
}
