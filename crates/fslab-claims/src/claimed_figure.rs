//! The figure that a claim compares by: its name in claims files, its unit and its good direction.

use fslab_model::{Better, MetricDefinition, Unit, definitions as d, nearest_name, suggestion};
use serde::Serialize;

/// The figure that a claim compares by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Score {
    /// The phase's headline, as a rate.
    Headline,
    /// A metric of a phase.
    Metric(&'static MetricDefinition),
    /// A time of a phase, of trials without a failure.
    Clean(Timed),
    /// The sum of a time over the claim's phases.
    Sum(Timed),
    /// The standard deviation of a time over the repeats.
    Deviation(Timed),
    /// The same in percent of the mean.
    RelativeDeviation(Timed),
    /// The processor's share of the phase's time, in percent.
    CpuPercent,
    /// Failed repeats of the phase, in percent of all.
    FailedPercent,
    /// A list that the workload records.
    List(&'static str),
}

/// The parts of a phase that are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timed {
    /// The phase itself.
    Run,
    /// The sync and the unmount after it.
    Unmount,
    /// Both.
    Total,
}

/// The dimension of a figure, with its base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
    Percent,
    /// A count or a ratio.
    Number,
    /// Bytes or operations per second.
    Rate,
}

/// The short names of claims files; the names in METRICS are accepted, too.
const NAMES: [(&str, Score); 18] = [
    ("elapsed", Score::Metric(&d::ELAPSED)),
    ("latency", Score::Metric(&d::LATENCY_MAX)),
    ("device-reads", Score::Metric(&d::FIRST_READ_DEVICE_READS)),
    ("run", Score::Clean(Timed::Run)),
    ("unmount", Score::Clean(Timed::Unmount)),
    ("total", Score::Clean(Timed::Total)),
    ("run-sum", Score::Sum(Timed::Run)),
    ("unmount-sum", Score::Sum(Timed::Unmount)),
    ("total-sum", Score::Sum(Timed::Total)),
    ("sd", Score::Deviation(Timed::Run)),
    ("unmount-sd", Score::Deviation(Timed::Unmount)),
    ("total-sd", Score::Deviation(Timed::Total)),
    ("sd-of-mean", Score::RelativeDeviation(Timed::Run)),
    (
        "unmount-sd-of-mean",
        Score::RelativeDeviation(Timed::Unmount),
    ),
    ("total-sd-of-mean", Score::RelativeDeviation(Timed::Total)),
    ("cpu-percent", Score::CpuPercent),
    ("failed-percent", Score::FailedPercent),
    ("window-blocks", Score::List("readahead-window")),
];

impl Score {
    /// Whether only trials without a failure count.
    pub(crate) fn needs_clean_trials(self) -> bool {
        matches!(
            self,
            Self::Clean(_) | Self::Sum(_) | Self::Deviation(_) | Self::RelativeDeviation(_)
        )
    }

    /// The score of that name in a claims file.
    pub fn named(name: &str) -> Result<Self, String> {
        if let Some((_, score)) = NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(*score);
        }
        if let Some(definition) = MetricDefinition::named(name) {
            return Ok(Self::Metric(definition));
        }
        let metrics = fslab_model::METRICS
            .iter()
            .map(|definition| definition.name);
        let known = NAMES.iter().map(|(known, _)| *known).chain(metrics);
        let nearest = suggestion(nearest_name(name, known));
        Err(format!("has the unknown metric '{name}'{nearest}"))
    }

    pub fn name(self) -> &'static str {
        if let Some((name, _)) = NAMES.iter().find(|(_, score)| *score == self) {
            return name;
        }
        match self {
            Self::Metric(definition) => definition.name,
            Self::List(list) => list,
            _ => "rate",
        }
    }

    /// Which direction is good.
    pub fn better(self) -> Better {
        match self {
            Self::Headline => Better::Higher,
            Self::Metric(definition) => definition.better,
            Self::List(_) => Better::Neither,
            Self::Clean(_)
            | Self::Sum(_)
            | Self::Deviation(_)
            | Self::RelativeDeviation(_)
            | Self::CpuPercent
            | Self::FailedPercent => Better::Lower,
        }
    }

    /// Its dimension.
    pub fn measure(self) -> Measure {
        match self {
            Self::Headline => Measure::Rate,
            Self::Metric(definition) => match definition.unit {
                Unit::BytesPerSecond | Unit::OperationsPerSecond => Measure::Rate,
                Unit::Nanoseconds => Measure::Time,
                Unit::Bytes => Measure::Size,
                Unit::Count | Unit::Ratio => Measure::Number,
            },
            Self::Clean(_) | Self::Sum(_) | Self::Deviation(_) => Measure::Time,
            Self::RelativeDeviation(_) | Self::CpuPercent | Self::FailedPercent => Measure::Percent,
            Self::List(_) => Measure::Number,
        }
    }
}

impl Measure {
    /// `text` as a number of this measure's base unit: nanoseconds, bytes, percent, bytes per
    /// second.
    pub fn read(self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        let split = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let number: f64 = number
            .parse()
            .map_err(|_| format!("has '{text}', not a number"))?;
        let unit = unit.trim();
        let factor = match (self, unit) {
            (Self::Time, "ns") => Some(1.0),
            (Self::Time, "us" | "µs") => Some(1e3),
            (Self::Time, "ms") => Some(1e6),
            (Self::Time, "s") => Some(1e9),
            (Self::Time, "min") => Some(60e9),
            (Self::Time, "h") => Some(3600e9),
            (Self::Percent, "%") | (Self::Number, "") => Some(1.0),
            (Self::Size, unit) => size(unit),
            (Self::Rate, "op/s") => Some(1.0),
            (Self::Rate, unit) => unit.strip_suffix("/s").and_then(size),
            _ => None,
        };
        let factor =
            factor.ok_or_else(|| format!("has '{text}'; it must be {}", self.example()))?;
        Ok(number * factor)
    }

    fn example(self) -> &'static str {
        match self {
            Self::Time => "a time like 2 min",
            Self::Size => "a size like 128 MiB",
            Self::Percent => "a share like 50 %",
            Self::Number => "a number without a unit",
            Self::Rate => "a rate like 10 MB/s or 100 op/s",
        }
    }
}

/// Bytes of a unit.
fn size(unit: &str) -> Option<f64> {
    let bytes: fslab_model::Bytes = format!("1{unit}").parse().ok()?;
    Some(bytes.0 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_have_short_names_and_those_of_metrics() {
        for (name, score) in NAMES {
            assert_eq!(Score::named(name), Ok(score));
            assert_eq!(score.name(), name);
        }
        let seek = Score::named("seek_bytes_mean").expect("a metric");
        assert_eq!(
            (seek.better(), seek.measure()),
            (Better::Lower, Measure::Size)
        );
        let unknown = Score::named("totl").expect_err("unknown");
        assert!(unknown.ends_with("did you mean 'total'?"), "{unknown}");
    }

    #[test]
    fn limits_need_a_unit_of_their_figure() {
        assert_eq!(Measure::Time.read("2 min"), Ok(120e9));
        assert_eq!(Measure::Time.read("0.5s"), Ok(0.5e9));
        assert_eq!(Measure::Percent.read("50 %"), Ok(50.0));
        assert_eq!(Measure::Size.read("128 MiB"), Ok(f64::from(1 << 27)));
        assert_eq!(Measure::Number.read("1"), Ok(1.0));
        assert_eq!(Measure::Rate.read("10 MB/s"), Ok(1e7));
        for (measure, bad) in [
            (Measure::Time, "2"),
            (Measure::Time, "2 MiB"),
            (Measure::Percent, "5"),
            (Measure::Number, "5 %"),
            (Measure::Size, "5"),
            (Measure::Rate, "5 MB"),
            (Measure::Time, "s"),
        ] {
            assert!(measure.read(bad).is_err(), "{measure:?} {bad}");
        }
    }
}
