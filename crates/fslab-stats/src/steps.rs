//! Samples without any spread that a coarse clock may have made from one true value.
//!
//! Three times 2 s and three times 3 s have no spread, but a clock of full seconds gives them for
//! 2.5 s in one experiment of 32. The values do not show the clock's resolution, so this enters no
//! verdict; it is reported as a caveat.

/// The largest distance of a quotient from an integer that counts as rounding.
const ROUNDING: f64 = 1e-6;

/// True if neither sample varies, and the two are neighbouring steps of a decimal clock: integral
/// multiples of a power of ten that is their difference. 2 and 3 are, and 61.2 and 61.3, but not
/// 100 and 95, which are five steps apart.
pub fn are_neighbouring_steps(a: &[f64], b: &[f64]) -> bool {
    match (constant(a), constant(b)) {
        (Some(a), Some(b)) => are_neighbours(a, b),
        _ => false,
    }
}

fn constant(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    values.iter().all(|value| *value == first).then_some(first)
}

fn are_neighbours(a: f64, b: f64) -> bool {
    let step = (a - b).abs();
    if !step.is_normal() {
        return false;
    }
    let decimal = 10.0_f64.powf(step.log10().round());
    let steps = a.min(b) / step;
    let is_whole = (steps - steps.round()).abs() < ROUNDING && steps > 0.5;
    is_whole && (step / decimal - 1.0).abs() < ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_decimal_step_apart_whatever_the_unit() {
        for (a, b) in [(2.0, 3.0), (61.3, 61.2), (6.12e10, 6.13e10), (20.0, 10.0)] {
            assert!(are_neighbours(b, a), "{a} {b}");
            assert!(are_neighbours(b * 1e9, a * 1e9), "{a} {b}");
        }
        for (a, b) in [
            (2.0, 2.0),
            (95.0, 100.0),
            (100.0, 80.0),
            (2.5, 3.5),
            (1e300, 1.0),
        ] {
            assert!(!are_neighbours(b, a), "{a} {b}");
        }
    }

    #[test]
    fn a_sample_that_varies_has_no_step() {
        assert!(are_neighbouring_steps(&[2.0; 2], &[3.0; 3]));
        assert!(!are_neighbouring_steps(&[2.0, 3.0], &[3.0; 3]));
        assert!(!are_neighbouring_steps(&[], &[3.0; 3]));
    }
}
