//! A figure with its interval.

/// A closed interval; `low <= high`, both finite. It may have width zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// True if `value` is inside, ends included.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A positive figure estimated from repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The point estimate; positive and finite.
    pub value: f64,
    /// The 95 % interval; `None` if the repeats are too few for a spread.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// The relative half-width of the interval on its wider side: 0.05 is "known to 5 %". `None`
    /// without an interval.
    pub fn relative_half_width(self) -> Option<f64> {
        let interval = self.interval?;
        let (above, below) = (
            interval.high / self.value - 1.0,
            1.0 - interval.low / self.value,
        );
        Some(above.max(below).max(0.0))
    }

    /// The interval extended by `resolution`, a share of the figure, on either side; the value
    /// stays.
    pub fn widened(self, resolution: f64) -> Self {
        let factor = 1.0 + resolution.max(0.0);
        Self {
            value: self.value,
            interval: self.interval.map(|interval| Interval {
                low: interval.low / factor,
                high: interval.high * factor,
            }),
        }
    }

    /// The estimate with an interval that contains the one of `other`, too.
    pub fn including(self, other: Option<Self>) -> Self {
        let joined = |(own, other): (Interval, Interval)| Interval {
            low: own.low.min(other.low),
            high: own.high.max(other.high),
        };
        let other = other.and_then(|it| it.interval);
        Self {
            interval: self.interval.zip(other).map(joined).or(self.interval),
            ..self
        }
    }

    /// The estimate of one over the figure: "A against B" becomes "B against A".
    pub fn inverse(self) -> Self {
        Self {
            value: self.value.recip(),
            interval: self.interval.map(|interval| Interval {
                low: interval.high.recip(),
                high: interval.low.recip(),
            }),
        }
    }

    /// From a centre and a half width on the logarithmic scale.
    pub(crate) fn from_logs(centre: f64, half_width: Option<f64>) -> Option<Self> {
        let value = centre.exp();
        let usable = |value: f64| value.is_finite() && value > 0.0;
        let interval = half_width
            .map(|half| Interval {
                low: (centre - half).exp(),
                high: (centre + half).exp(),
            })
            .filter(|interval| usable(interval.low) && usable(interval.high));
        usable(value).then_some(Self { value, interval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_swaps_and_inverts_the_ends() {
        let estimate = Estimate {
            value: 2.0,
            interval: Some(Interval {
                low: 1.0,
                high: 4.0,
            }),
        };
        let inverse = estimate.inverse();
        assert_eq!(inverse.value, 0.5);
        assert_eq!(
            inverse.interval,
            Some(Interval {
                low: 0.25,
                high: 1.0
            })
        );
        assert!(inverse.interval.is_some_and(|i| i.contains(1.0)));
    }

    #[test]
    fn what_is_widened_has_a_width_and_the_inverse_is_widened_alike() {
        let constant = Estimate {
            value: 2.0,
            interval: Some(Interval {
                low: 2.0,
                high: 2.0,
            }),
        };
        let wide = constant.widened(0.25);
        let ends = wide.interval.map(|interval| (interval.low, interval.high));
        assert_eq!((wide.value, ends), (2.0, Some((1.6, 2.5))));
        assert_eq!(constant.inverse().widened(0.25), wide.inverse());
        assert_eq!(constant.widened(0.0), constant);
    }

    #[test]
    fn an_interval_that_includes_another_has_the_outer_ends() {
        let of = |low, high| Estimate {
            value: 2.0,
            interval: Some(Interval { low, high }),
        };
        assert_eq!(of(1.0, 3.0).including(Some(of(1.5, 4.0))), of(1.0, 4.0));
        assert_eq!(of(1.0, 3.0).including(None), of(1.0, 3.0));
    }

    #[test]
    fn the_half_width_is_that_of_the_farther_end() {
        let of = |low, high| Estimate {
            value: 100.0,
            interval: Some(Interval { low, high }),
        };
        assert!((of(96.0, 106.0).relative_half_width().expect("an interval") - 0.06).abs() < 1e-12);
        assert!((of(90.0, 106.0).relative_half_width().expect("an interval") - 0.1).abs() < 1e-12);
        assert_eq!(of(100.0, 100.0).relative_half_width(), Some(0.0));
        let without = Estimate {
            value: 1.0,
            interval: None,
        };
        assert_eq!(without.relative_half_width(), None);
    }

    #[test]
    fn an_interval_beyond_what_a_number_holds_is_none() {
        let estimate = Estimate::from_logs(0.0, Some(1e6)).expect("the centre is 1");
        assert_eq!(estimate.value, 1.0);
        assert_eq!(estimate.interval, None);
    }
}
