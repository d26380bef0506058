//! An axis of a chart: its scale, the labels of its ticks, its title, and how these follow from the
//! figures, so that the page's script can fit it to fewer subjects (`templates/charts.js`).

use fslab_model::{Better, Bytes, MetricDefinition, Unit};
use serde::Serialize;

use super::scale::{AxisUnit, Scale};

/// The note of a logarithmic axis in its title.
const LOG: &str = "log axis";

/// The labels of an axis's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TickUnit {
    /// All in one unit, chosen by the largest figure; the title names it.
    Common(Unit),
    /// Each in its own unit.
    Each(Unit),
    /// Each in KiB, MiB, GiB.
    Binary,
}

impl TickUnit {
    /// The label of a tick where figures reach `high`.
    pub(super) fn label(self, tick: f64, high: f64) -> String {
        match self {
            Self::Common(unit) => AxisUnit::of(unit, high).label(tick),
            Self::Each(unit) => AxisUnit::of(unit, tick * 1.000_001).with_value(tick),
            // Ticks are integral bytes, far below the exact range of a float.
            Self::Binary => Bytes(tick.round() as u64).to_string(),
        }
    }

    /// The unit that the title names; empty if each tick has its own.
    fn name(self, high: f64) -> String {
        match self {
            Self::Common(unit) => AxisUnit::of(unit, high).name,
            Self::Each(_) | Self::Binary => String::new(),
        }
    }

    /// The unit without a prefix, as the script knows it.
    fn base(self) -> &'static str {
        match self {
            Self::Binary => "KiB",
            Self::Common(Unit::Count | Unit::Ratio) | Self::Each(Unit::Count | Unit::Ratio) => "",
            Self::Common(unit) | Self::Each(unit) => unit.symbol(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    /// The largest figure, which chooses the unit.
    pub(super) high: f64,
    /// Approximate number of ticks of a linear axis.
    pub(crate) ticks: u32,
    /// Largest ratio of figures on a linear axis; infinite for always linear.
    pub(super) linear_factor_max: f64,
    /// Length of the axis relative to its figures: linear, and logarithmic.
    pub(super) room: (f64, f64),
    pub(super) unit: TickUnit,
    /// `{}` is the place of the unit.
    pub(super) title: String,
}

/// An axis in the page, for the script.
#[derive(Serialize)]
struct Embedded<'a> {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
    ticks: u32,
    /// Null for infinite.
    factor: f64,
    room: (f64, f64),
    /// What the figures of marks are multiples of.
    per: f64,
    unit: &'a str,
    each: bool,
    title: &'a str,
}

impl Axis {
    /// The pixel of a figure.
    pub(crate) fn at(&self, value: f64) -> f64 {
        self.scale.at(value)
    }

    /// The pixels of the ticks, and their labels.
    pub(super) fn labels(&self) -> Vec<(f64, String)> {
        let ticks = self.scale.ticks(self.ticks).into_iter();
        ticks.map(|tick| self.label(tick)).collect()
    }

    /// The pixel of a tick, and its label.
    pub(crate) fn label(&self, tick: f64) -> (f64, String) {
        (self.at(tick), self.unit.label(tick, self.high))
    }

    /// The title, with the unit.
    pub(crate) fn title(&self) -> String {
        let title = self.title.replace("{}", &self.unit.name(self.high));
        let title = title.trim_start_matches(" · ");
        match self.scale.is_logarithmic() && !title.contains(LOG) {
            true => format!("{title} · {LOG}"),
            false => title.to_owned(),
        }
    }

    /// What figures in the page are multiples of: a power of ten, so that large ones have four
    /// digits and no exponent.
    pub(super) fn per(&self) -> f64 {
        let (_, high) = self.scale.ends();
        10_f64.powf(high.log10().floor() - 3.0)
    }

    /// JSON for the script.
    pub(super) fn embedded(&self) -> String {
        let (low, high) = self.scale.ends();
        let (from, to) = self.scale.pixels();
        let embedded = Embedded {
            low: rounded(low, 8),
            high: rounded(high, 8),
            from,
            to,
            log: self.scale.is_logarithmic(),
            ticks: self.ticks,
            factor: self.linear_factor_max,
            room: self.room,
            per: self.per(),
            unit: self.unit.base(),
            each: matches!(self.unit, TickUnit::Each(_)),
            title: &self.title,
        };
        serde_json::to_string(&embedded).expect("numbers and texts")
    }
}

/// The title of a metric's axis: its unit and the better direction.
pub(super) fn title_of(metric: &MetricDefinition) -> String {
    let direction = match metric.better {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
        Better::Neither => "neither is better",
    };
    format!("{{}} · {direction}")
}

/// A value with so many significant digits.
pub(super) fn rounded(value: f64, digits: usize) -> f64 {
    let text = format!("{value:.*e}", digits - 1);
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use fslab_model::definitions::{LATENCY_P99, THROUGHPUT};

    use super::*;

    fn axis(unit: TickUnit, scale: Scale, title: &str) -> Axis {
        Axis {
            scale,
            high: scale.ends().1,
            ticks: 4,
            linear_factor_max: f64::INFINITY,
            room: (1.0, 1.0),
            unit,
            title: title.to_owned(),
        }
    }

    #[test]
    fn a_title_names_the_unit_of_its_ticks_and_a_logarithmic_axis() {
        let rates = TickUnit::Common(Unit::BytesPerSecond);
        let linear = axis(
            rates,
            Scale::from_zero(4e8, 0.0, 100.0),
            &title_of(&THROUGHPUT),
        );
        assert_eq!(linear.title(), "MB/s · more is better");
        let log = axis(
            TickUnit::Each(Unit::Nanoseconds),
            Scale::logarithmic(1e3, 1e6, 0.0, 100.0),
            &title_of(&LATENCY_P99),
        );
        assert_eq!(log.title(), "less is better · log axis");
        let labels: Vec<String> = log.labels().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["1 µs", "10 µs", "100 µs", "1 ms"]);
    }

    #[test]
    fn sizes_are_labelled_in_binary_units() {
        assert_eq!(TickUnit::Binary.label(65_536.0, 0.0), "64 KiB");
        assert_eq!(TickUnit::Common(Unit::Bytes).label(2e10, 3e10), "20");
        assert_eq!(TickUnit::Each(Unit::Bytes).label(2e10, 0.0), "20 GB");
    }

    #[test]
    fn the_script_is_given_what_fits_an_axis_again() {
        let scale = Scale::from_zero(1_234_567_891.0, 40.0, 300.0);
        let axis = axis(TickUnit::Common(Unit::BytesPerSecond), scale, "{}");
        let value: serde_json::Value = serde_json::from_str(&axis.embedded()).expect("JSON");
        assert_eq!(
            value,
            serde_json::json!({
                "low": 0.0, "high": 1_234_567_900.0, "from": 40.0, "to": 300.0, "log": false,
                "ticks": 4, "factor": null, "room": [1.0, 1.0], "per": 1e6, "unit": "B/s",
                "each": false, "title": "{}",
            })
        );
    }
}
