//! Quantiles of a small sample.

/// The quantile of `sample` at `p` in 0..=1 by linear interpolation between order statistics, with
/// the extremes at 0 and 1: type 7 of Hyndman and Fan ("Sample quantiles in statistical packages",
/// The American Statistician 50, 1996), the default of R and NumPy.
///
/// `None` for an empty sample, a value that is not finite, or a `p` outside 0..=1.
pub fn quantile(sample: &[f64], p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) || !sample.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = p * last as f64;
    // `place` lies in 0..=last, so truncation gives the index below it.
    let below = place as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (place - below as f64) * (sorted[above] - sorted[below]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_type_seven() {
        // quantile(c(1, 3, 4, 8, 20), c(0, .1, .25, .5, .9, 1)) in R: 1.0 1.8 3.0 4.0 15.2 20.0
        let sample = [20.0, 1.0, 8.0, 3.0, 4.0];
        for (p, expected) in [
            (0.0, 1.0),
            (0.1, 1.8),
            (0.25, 3.0),
            (0.5, 4.0),
            (0.9, 15.2),
            (1.0, 20.0),
        ] {
            let found = quantile(&sample, p).expect("a sample");
            assert!((found - expected).abs() < 1e-12, "{p}: {found}");
        }
    }

    #[test]
    fn the_median_of_an_even_sample_is_between_its_middle_values() {
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.5), Some(2.5));
        assert_eq!(quantile(&[9.0], 0.5), Some(9.0));
    }

    #[test]
    fn no_sample_has_no_quantile() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0, f64::NAN], 0.5), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
    }
}
