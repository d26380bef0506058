//! Multiple tests: p-values adjusted for their number.

/// Holm's adjusted p-values, in the order of the input. Rejecting those up to 0.05 gives any false
/// rejection in at most one of twenty families, however the tests depend on each other (Holm, "A
/// simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
/// 1979).
///
/// NaN stays NaN and does not count as a test.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let order = rising(p_values);
    let (mut adjusted, mut least) = (p_values.to_vec(), 0.0_f64);
    for (place, index) in order.iter().enumerate() {
        let factor = (order.len() - place) as f64;
        least = least.max(factor * p_values[*index]).min(1.0);
        adjusted[*index] = least;
    }
    adjusted
}

/// Adjusted p-values of Benjamini and Hochberg, in the order of the input. Of those up to 0.05, at
/// most one in twenty is expected to be false (Benjamini and Hochberg, "Controlling the false
/// discovery rate", Journal of the Royal Statistical Society B 57, 1995). It holds for independent
/// tests and for positively dependent ones (Benjamini and Yekutieli, Annals of Statistics 29,
/// 2001), such as comparisons with one common subject.
///
/// NaN stays NaN and does not count as a test.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let order = rising(p_values);
    let (mut adjusted, mut most) = (p_values.to_vec(), 1.0_f64);
    for (place, index) in order.iter().enumerate().rev() {
        let factor = order.len() as f64 / (place + 1) as f64;
        most = most.min(factor * p_values[*index]);
        adjusted[*index] = most;
    }
    adjusted
}

/// The indices of the numbers that are not NaN, the smallest first.
fn rising(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len())
        .filter(|index| !p_values[*index].is_nan())
        .collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-12,
                "{found} is not {expected}"
            );
        }
    }

    #[test]
    fn adjusted_p_values_are_those_of_the_definitions() {
        // By hand: Holm 4 · 0.01, 3 · 0.02, 2 · 0.03, 1 · 0.04, each at least the one before;
        // Benjamini and Hochberg 4/1 · 0.01, 4/2 · 0.02, 4/3 · 0.03, 4/4 · 0.04.
        let p = [0.03, 0.01, 0.04, 0.02];
        near(&holm(&p), &[0.06, 0.04, 0.06, 0.06]);
        near(&benjamini_hochberg(&p), &[0.04, 0.04, 0.04, 0.04]);
        let p = [0.001, 0.2, 0.01, 0.9];
        near(&holm(&p), &[0.004, 0.4, 0.03, 0.9]);
        near(
            &benjamini_hochberg(&p),
            &[0.004, 0.2 * 4.0 / 3.0, 0.02, 0.9],
        );
    }

    #[test]
    fn one_test_is_not_adjusted_and_none_gives_none() {
        near(&holm(&[0.03]), &[0.03]);
        near(&benjamini_hochberg(&[0.03]), &[0.03]);
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }

    #[test]
    fn adjusted_p_values_are_in_range_and_what_was_not_tested_does_not_count() {
        near(&holm(&[0.9, 0.8]), &[1.0, 1.0]);
        let found = benjamini_hochberg(&[f64::NAN, 0.02, 0.04]);
        assert!(found[0].is_nan());
        near(&found[1..], &[0.04, 0.04]);
    }
}
