//! A curve as data: the terminal, SVG, JSON and CSV are its renderings.

use serde::{Serialize, Serializer};

/// What the numbers of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes of a request.
    Bytes,
    /// Bytes from somewhere on the disk.
    Place,
    /// Bytes per second.
    BytesPerSecond,
    /// Operations per second.
    OperationsPerSecond,
    /// Nothing but a number.
    Count,
}

impl AxisUnit {
    /// The unit in a column's head.
    #[must_use]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// What it shows.
    pub title: &'static str,
    /// What its numbers are.
    pub unit: AxisUnit,
    /// Whether it is drawn by factors.
    pub logarithmic: bool,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Along the axis.
    pub x: f64,
    /// Up.
    pub y: f64,
}

impl Serialize for CurvePoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (significant(self.x), significant(self.y)).serialize(serializer)
    }
}

/// To six digits: more is not in a mean over thousands of requests.
fn significant(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// One line of a curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// What it is of.
    pub name: &'static str,
    /// Its points, from left to right.
    pub points: Vec<CurvePoint>,
}

/// What a disk does over a range of something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// A short name, such as `queue-depth`.
    pub name: &'static str,
    /// A heading.
    pub title: &'static str,
    /// How it was made, in a sentence.
    pub about: String,
    /// What is varied.
    pub x: Axis,
    /// What comes of it.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}
