//! A curve as data, rendered for the terminal and as SVG, JSON and CSV.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// The unit of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AxisUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes of a request.
    Bytes,
    /// Position on the disk, or distance, in bytes.
    Place,
    /// Bytes per second.
    BytesPerSecond,
    /// Operations per second.
    OperationsPerSecond,
    /// A plain number.
    Count,
}

impl AxisUnit {
    /// The unit for a column's header.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Bytes | Self::Place => "B",
            Self::BytesPerSecond => "B/s",
            Self::OperationsPerSecond => "op/s",
            Self::Count => "",
        }
    }
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Axis {
    /// Its label.
    pub title: &'static str,
    /// Its unit.
    pub unit: AxisUnit,
    /// Whether its scale is logarithmic.
    pub logarithmic: bool,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Value on the x axis.
    pub x: f64,
    /// Value on the y axis.
    pub y: f64,
}

impl Serialize for CurvePoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (significant(self.x), significant(self.y)).serialize(serializer)
    }
}

/// Rounded to six significant digits, more than a mean over thousands of requests is good for.
fn significant(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// One line of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// What was measured, such as `read`.
    pub name: &'static str,
    /// Its points, from left to right.
    #[schemars(with = "Vec<(f64, f64)>")]
    pub points: Vec<CurvePoint>,
}

/// A figure of a disk over a range of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Curve {
    /// A short name, such as `queue-depth`.
    pub name: &'static str,
    /// A heading.
    pub title: &'static str,
    /// How it was measured.
    pub about: String,
    /// The parameter.
    pub x: Axis,
    /// The figure.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}
