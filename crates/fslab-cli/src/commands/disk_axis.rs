//! Axes of curves: ranges, positions of values, ticks and their labels.

use fslab_disk::bench::{Axis, AxisUnit, Curve};

/// The range of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    unit: AxisUnit,
    logarithmic: bool,
    low: f64,
    high: f64,
}

impl Scale {
    /// The x axis, with the range of all points of the curve.
    pub(super) fn of_x(curve: &Curve) -> Self {
        let values = curve.lines.iter().flat_map(|line| &line.points);
        Self::over(&curve.x, values.map(|point| point.x), 1.0)
    }

    /// The y axis, with the range of all points of the curve and some padding.
    pub(super) fn of_y(curve: &Curve) -> Self {
        let values = curve.lines.iter().flat_map(|line| &line.points);
        Self::over(&curve.y, values.map(|point| point.y), 1.08)
    }

    fn over(axis: &Axis, values: impl Iterator<Item = f64>, padding: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| value.is_finite() && *value >= 0.0) {
            if value > 0.0 {
                low = low.min(value);
            }
            high = high.max(value);
        }
        // Without points, any range will do.
        if high <= 0.0 {
            (low, high) = (1.0, 10.0);
        }
        if axis.logarithmic {
            // The range is at least a factor of four, with a flat line in the middle.
            let widen = (4.0 / (high / low)).max(1.0).sqrt();
            (low, high) = (low / widen / padding, high * widen * padding);
        } else {
            (low, high) = (0.0, high * padding);
        }
        Self {
            unit: axis.unit,
            logarithmic: axis.logarithmic,
            low,
            high,
        }
    }

    /// The position of a value on the axis, from 0 to 1.
    pub(super) fn at(self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }

    /// About `count` round values in the range, with their labels.
    pub(super) fn ticks(self, count: u32) -> Vec<(f64, String)> {
        let values = match (self.logarithmic, self.unit) {
            (true, AxisUnit::Bytes | AxisUnit::Count) => self.binary(count),
            (true, _) => self.decimal(count),
            (false, _) => self.linear(count),
        };
        let named = values
            .into_iter()
            .map(|value| (value, label(self.unit, value)));
        named.collect()
    }

    /// Powers of two, at most `count`.
    fn binary(self, count: u32) -> Vec<f64> {
        let first = (self.low.log2() - 1e-9).ceil() as i32;
        let last = (self.high.log2() + 1e-9).floor() as i32;
        let step = ((last - first + 1).max(1) as u32).div_ceil(count.max(1));
        let powers = (first..=last).step_by(step.max(1) as usize);
        powers.map(|power| 2_f64.powi(power)).collect()
    }

    /// Powers of ten, and if these are few, two and five times those.
    fn decimal(self, count: u32) -> Vec<f64> {
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let inside = |value: &f64| (self.low..=self.high).contains(value);
        let of = |steps: &[f64]| -> Vec<f64> {
            let decades = first..=last;
            let all = decades.flat_map(|decade| steps.iter().map(move |s| s * 10_f64.powi(decade)));
            all.filter(inside).collect()
        };
        let decades = of(&[1.0]);
        match decades.len() as u32 {
            0..=1 => of(&[1.0, 2.0, 5.0]),
            2 if count >= 4 => of(&[1.0, 2.0, 5.0]),
            many if many > count => {
                let step = many.div_ceil(count.max(1)) as usize;
                decades.into_iter().step_by(step).collect()
            }
            _ => decades,
        }
    }

    fn linear(self, count: u32) -> Vec<f64> {
        let rough = self.high / f64::from(count.max(1));
        let power = 10_f64.powf(rough.log10().floor());
        let nice = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
        let step = nice.into_iter().find(|step| *step >= rough * (1.0 - 1e-9));
        let step = step.unwrap_or(10.0 * power);
        let ticks = (0..=4 * count).map(|index| f64::from(index) * step);
        ticks
            .take_while(|tick| *tick <= self.high * (1.0 + 1e-9))
            .collect()
    }
}

/// A value with its unit: `64 KiB`, `1.5 GB`, `20 ms`, `42 MB/s`, `180 op/s`.
pub(super) fn label(unit: AxisUnit, value: f64) -> String {
    const DECIMAL: [(f64, &str); 5] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    const TIME: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    const BINARY: [(f64, &str); 4] = [
        (1_073_741_824.0, "GiB"),
        (1_048_576.0, "MiB"),
        (1024.0, "KiB"),
        (1.0, "B"),
    ];
    if value == 0.0 {
        return "0".to_owned();
    }
    let pick = |steps: &[(f64, &'static str)]| {
        let found = steps.iter().find(|(limit, _)| value >= *limit * 0.9995);
        found.or(steps.last()).copied().unwrap_or((1.0, ""))
    };
    let (divisor, name) = match unit {
        AxisUnit::Nanoseconds => pick(&TIME),
        AxisUnit::Bytes => pick(&BINARY),
        AxisUnit::Count => (1.0, ""),
        AxisUnit::Place | AxisUnit::BytesPerSecond | AxisUnit::OperationsPerSecond => {
            pick(&DECIMAL)
        }
    };
    let number = short(value / divisor);
    match unit {
        AxisUnit::Nanoseconds | AxisUnit::Bytes => format!("{number} {name}"),
        AxisUnit::Count => number,
        AxisUnit::Place | AxisUnit::BytesPerSecond | AxisUnit::OperationsPerSecond => {
            format!("{number} {name}{}", unit.symbol())
        }
    }
}

/// Three significant digits, without trailing zeros.
fn short(value: f64) -> String {
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{value:.digits$}");
    if digits == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use fslab_disk::bench::{CurvePoint, Line};

    use super::*;

    fn scale(unit: AxisUnit, logarithmic: bool, values: &[f64]) -> Scale {
        let axis = Axis {
            title: "t",
            unit,
            logarithmic,
        };
        Scale::over(&axis, values.iter().copied(), 1.0)
    }

    fn labels(scale: Scale, count: u32) -> Vec<String> {
        scale
            .ticks(count)
            .into_iter()
            .map(|(_, label)| label)
            .collect()
    }

    #[test]
    fn ticks_are_round_in_the_unit_of_their_axis() {
        let sizes = scale(AxisUnit::Bytes, true, &[512.0, 8_388_608.0]);
        assert_eq!(
            labels(sizes, 5),
            ["512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB"]
        );
        let positions = scale(AxisUnit::Place, false, &[0.0, 3e10]);
        assert_eq!(labels(positions, 4), ["0", "10 GB", "20 GB", "30 GB"]);
        let times = scale(AxisUnit::Nanoseconds, true, &[1e5, 1e11]);
        assert_eq!(labels(times, 4), ["100 µs", "10 ms", "1 s", "100 s"]);
        let depths = scale(AxisUnit::Count, true, &[1.0, 32.0]);
        assert_eq!(labels(depths, 6), ["1", "2", "4", "8", "16", "32"]);
    }

    #[test]
    fn every_value_has_a_position_even_if_all_are_equal() {
        for logarithmic in [false, true] {
            for values in [&[7.0, 7.0][..], &[], &[0.0], &[f64::NAN, 3.0]] {
                let scale = scale(AxisUnit::OperationsPerSecond, logarithmic, values);
                for value in [0.0, 3.0, 7.0, 1e300] {
                    assert!((0.0..=1.0).contains(&scale.at(value)), "{scale:?} {value}");
                }
                assert!(scale.ticks(5).len() < 25);
            }
        }
    }

    #[test]
    fn the_range_of_a_curve_holds_all_its_lines() {
        let axis = Axis {
            title: "t",
            unit: AxisUnit::Count,
            logarithmic: false,
        };
        let line = |y| Line {
            name: "l",
            points: vec![CurvePoint { x: y / 2.0, y }],
        };
        let curve = Curve {
            name: "c",
            title: "C",
            about: String::new(),
            x: axis.clone(),
            y: axis,
            lines: vec![line(10.0), line(30.0)],
        };
        assert!(Scale::of_y(&curve).at(30.0) < 1.0);
        assert!((Scale::of_x(&curve).at(15.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn labels_have_three_digits_at_most() {
        assert_eq!(label(AxisUnit::OperationsPerSecond, 1234.0), "1.23 kop/s");
        assert_eq!(label(AxisUnit::BytesPerSecond, 42e6), "42 MB/s");
        assert_eq!(label(AxisUnit::Nanoseconds, 13.4e6), "13.4 ms");
        assert_eq!(label(AxisUnit::Place, 0.0), "0");
    }
}
