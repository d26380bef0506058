//! Linear and logarithmic scales with round ticks.

use fslab_model::Unit;
use fslab_stats::Interval;

/// A range of figures and its range of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    /// From 0 to `high`, which is widened if not above 0.
    pub(super) fn from_zero(high: f64, from: f64, to: f64) -> Self {
        let high = if high > 0.0 && high.is_finite() {
            high
        } else {
            1.0
        };
        Self {
            low: 0.0,
            high,
            from,
            to,
            logarithmic: false,
        }
    }

    /// From `low` to `high`; a single figure is in the middle.
    pub(super) fn between(low: f64, high: f64, from: f64, to: f64) -> Self {
        let room = if high > low { 0.0 } else { 1.0 };
        Self {
            low: low - room,
            high: high + room,
            from,
            to,
            logarithmic: false,
        }
    }

    /// From `low` to `high`, both above 0, at least a factor of 2 apart on the drawing.
    pub(super) fn logarithmic(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = if low > 0.0 && low.is_finite() {
            low
        } else {
            1.0
        };
        let high = if high.is_finite() { high.max(low) } else { low };
        let widen = (2.0 / (high / low)).max(1.0).sqrt();
        Self {
            low: low / widen,
            high: high * widen,
            from,
            to,
            logarithmic: true,
        }
    }

    pub(super) fn is_logarithmic(self) -> bool {
        self.logarithmic
    }

    /// The pixel of a figure, clamped to the range.
    pub(super) fn at(self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// The ends of the range.
    pub(super) fn ends(self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The pixels of the ends.
    pub(super) fn pixels(self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// True if the entire interval is within the range.
    pub(super) fn has(self, interval: Interval) -> bool {
        self.low <= interval.low && interval.high <= self.high
    }

    /// True if a figure is above the range.
    pub(super) fn is_beyond(self, value: f64) -> bool {
        value > self.high
    }

    /// Round figures inside the range, about `count` on a linear scale.
    pub(crate) fn ticks(self, count: u32) -> Vec<f64> {
        if self.logarithmic {
            return self.logarithmic_ticks();
        }
        let step = nice_step((self.high - self.low) / f64::from(count.max(1)));
        let first = (self.low / step - 1e-9).ceil() * step;
        (0..=4 * count)
            .map(|index| first + f64::from(index) * step)
            .take_while(|tick| *tick <= self.high * (1.0 + 1e-9))
            .collect()
    }

    fn logarithmic_ticks(self) -> Vec<f64> {
        let (first, last) = (
            self.low.log10().floor() as i32,
            self.high.log10().ceil() as i32,
        );
        let inside = |tick: &f64| (self.low..=self.high).contains(tick);
        let ticks = |steps: &[f64]| -> Vec<f64> {
            (first..=last)
                .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)))
                .filter(inside)
                .collect()
        };
        let decades = ticks(&[1.0]);
        match decades.len() {
            0 | 1 => match ticks(&[1.0, 2.0, 5.0]) {
                // A single tick does not show a scale.
                few if few.len() < 2 => ticks(&[1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]),
                some => some,
            },
            2 | 3 => ticks(&[1.0, 3.0]),
            4..=6 => decades,
            many => decades.into_iter().step_by(many.div_ceil(5)).collect(),
        }
    }
}

impl Scale {
    /// The enlargement if the axis covered only the range between two figures.
    pub(super) fn zoom(self, low: f64, high: f64) -> f64 {
        let zoom = if self.logarithmic {
            let room = (high / low).max(2.0);
            (self.high / self.low).ln() / room.ln()
        } else {
            (self.high - self.low) / high
        };
        if zoom.is_finite() { zoom.max(1.0) } else { 1.0 }
    }
}

/// The next of 1, 2, 2.5, 5 times a power of ten.
fn nice_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 2.5, 5.0, 10.0];
    let found = nice
        .into_iter()
        .find(|nice| nice * power >= rough * (1.0 - 1e-9));
    found.unwrap_or(10.0) * power
}

/// The common unit of an axis's ticks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AxisUnit {
    divisor: f64,
    /// Its name, such as `MB/s`.
    pub(super) name: String,
}

impl AxisUnit {
    /// The unit for figures up to `high`.
    pub(super) fn of(unit: Unit, high: f64) -> Self {
        const DECIMAL: [(f64, &str); 5] =
            [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
        const TIME: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
        let pick = |steps: &[(f64, &'static str)]| {
            let found = steps.iter().find(|(limit, _)| high >= *limit);
            found.or(steps.last()).copied().unwrap_or((1.0, ""))
        };
        let (divisor, name) = match unit {
            Unit::Nanoseconds => {
                let (divisor, name) = pick(&TIME);
                (divisor, name.to_owned())
            }
            Unit::Count | Unit::Ratio => (1.0, String::new()),
            Unit::BytesPerSecond | Unit::OperationsPerSecond | Unit::Bytes => {
                let (divisor, prefix) = pick(&DECIMAL);
                (divisor, format!("{prefix}{}", unit.symbol()))
            }
        };
        Self { divisor, name }
    }

    /// True if the labels of all figures of a range are short and not 0.
    pub(super) fn covers(&self, low: f64, high: f64) -> bool {
        low / self.divisor >= 0.001 && high / self.divisor < 1e6
    }

    /// A tick's label with the unit.
    pub(super) fn with_value(&self, value: f64) -> String {
        format!("{} {}", self.label(value), self.name)
            .trim_end()
            .to_owned()
    }

    /// A tick's label, without the unit.
    pub(super) fn label(&self, value: f64) -> String {
        let scaled = value / self.divisor;
        if scaled.abs() >= 1e6 {
            return format!("{scaled:.0e}");
        }
        let text = format!("{scaled:.3}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_range() {
        assert_eq!(
            Scale::from_zero(430.0, 0.0, 100.0).ticks(4),
            [0.0, 200.0, 400.0]
        );
        assert_eq!(
            Scale::from_zero(1.0, 0.0, 100.0).ticks(4),
            [0.0, 0.25, 0.5, 0.75, 1.0]
        );
        assert_eq!(
            Scale::logarithmic(5e3, 2e7, 0.0, 1.0).ticks(4),
            [1e4, 1e5, 1e6, 1e7]
        );
        assert_eq!(
            Scale::logarithmic(15.0, 90.0, 0.0, 1.0).ticks(4),
            [20.0, 50.0]
        );
    }

    #[test]
    fn a_logarithmic_axis_has_two_ticks_wherever_it_is() {
        for step in 0..200 {
            let low = 10_f64.powf(f64::from(step) / 50.0 - 1.0);
            let scale = Scale::logarithmic(low, low, 0.0, 1.0);
            assert!(scale.ticks(4).len() >= 2, "{scale:?}: {:?}", scale.ticks(4));
        }
    }

    #[test]
    fn a_range_of_nothing_still_has_a_place_for_everything() {
        for scale in [
            Scale::from_zero(0.0, 10.0, 90.0),
            Scale::from_zero(f64::NAN, 10.0, 90.0),
            Scale::logarithmic(0.0, 0.0, 10.0, 90.0),
            Scale::logarithmic(7.0, 7.0, 10.0, 90.0),
        ] {
            for value in [0.0, 7.0, 1e300] {
                assert!((10.0..=90.0).contains(&scale.at(value)), "{scale:?}");
            }
            assert!(scale.ticks(4).len() < 20);
        }
    }

    #[test]
    fn an_axis_has_one_unit() {
        let unit = AxisUnit::of(Unit::BytesPerSecond, 4.3e8);
        assert_eq!(
            (unit.name.as_str(), unit.label(2.5e7)),
            ("MB/s", "25".into())
        );
        let unit = AxisUnit::of(Unit::Nanoseconds, 9e5);
        assert_eq!((unit.name.as_str(), unit.label(5e2)), ("µs", "0.5".into()));
        assert!(unit.covers(1.0, 9e8) && !unit.covers(0.9, 9e8) && !unit.covers(1.0, 1e9));
        assert_eq!(unit.with_value(2e3), "2 µs");
    }
}
