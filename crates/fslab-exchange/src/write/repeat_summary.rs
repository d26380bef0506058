//! The summary of repeated figures that IOR and mdtest print.

/// Largest, smallest, mean and standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) max: f64,
    pub(super) min: f64,
    pub(super) mean: f64,
    /// Of the population, as IOR's.
    pub(super) deviation: f64,
}

impl Spread {
    /// The spread of at least one value.
    pub(super) fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>();
        Self {
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            deviation: (squares / count).sqrt(),
        }
    }

    /// The deviation of the sample, as mdtest's; 0 of one value.
    pub(super) fn of_sample(self, count: usize) -> f64 {
        match count {
            0 | 1 => 0.0,
            count => self.deviation * (count as f64 / (count as f64 - 1.0)).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_that_of_its_values() {
        let spread = Spread::of(&[2.0, 4.0]);
        let expected = Spread {
            max: 4.0,
            min: 2.0,
            mean: 3.0,
            deviation: 1.0,
        };
        assert_eq!(spread, expected);
        assert!((spread.of_sample(2) - 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of(&[5.0]).of_sample(1), 0.0);
    }
}
