//! Sweeps: a phase that runs once for each combination of parameter values.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Bytes, ParseBytesError};

/// Most points of one sweep; more are a mistake.
const POINTS_MAX: usize = 10_000;

/// A sweep as a study writes it: the values of each dimension, and which combinations are wanted.
///
/// ```toml
/// [sweep.sizes]
/// file_size = { from = "64KiB", to = "2GiB", factor = 2 }
/// record = ["8KiB", "64KiB"]
/// where = "record <= file_size"
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// Which combinations are measured: two dimensions with `<=` or `<` between them, like
    /// `"record <= file_size"`. Default: all.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Values of each dimension: a list, or a range.
    #[serde(flatten)]
    pub dimensions: BTreeMap<String, Values>,
}

/// The values of one dimension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Values {
    /// One by one.
    List(Vec<Written>),
    /// From one to another, each `factor` times the one before.
    Range(Range),
}

/// Values from one to another, each `factor` times the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// First value: a size with its unit, or a count.
    pub from: Written,
    /// Upper limit of the values, in the unit of `from`.
    pub to: Written,
    /// What each value is multiplied by to get the next: 2 or more.
    #[schemars(range(min = 2))]
    pub factor: u64,
    /// Whether `--scale` lowers `to`.
    #[serde(default)]
    pub scaled: bool,
}

/// A value as written: a size with its unit, or a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Written {
    /// A number of things.
    Count(u64),
    /// A size, with a unit.
    Size(String),
}

/// A value of a dimension.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PointValue {
    /// A number of things.
    Count(u64),
    /// A size.
    Bytes(u64),
}

impl PointValue {
    /// The number, in either case.
    pub fn number(self) -> u64 {
        match self {
            Self::Count(number) | Self::Bytes(number) => number,
        }
    }
}

impl fmt::Display for PointValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Bytes(bytes) => write!(f, "{}", Bytes(*bytes)),
        }
    }
}

/// A combination of values, by dimension.
pub type Point = BTreeMap<String, PointValue>;

/// The point of a phase in a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Swept {
    /// The phase's name in its study, which all points share.
    pub phase: String,
    /// The values of the point.
    pub point: Point,
}

/// Why a sweep is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    /// It has no dimension.
    #[error("it has no dimension")]
    NoDimension,
    /// A dimension without values.
    #[error("the dimension '{0}' has no value")]
    NoValue(String),
    /// An invalid size.
    #[error("the dimension '{dimension}' has the invalid value {value:?}")]
    Size {
        /// The dimension.
        dimension: String,
        /// The value given.
        value: String,
        /// The cause.
        #[source]
        source: ParseBytesError,
    },
    /// A range that never ends, or has both sizes and numbers.
    #[error(
        "the range of the dimension '{0}' needs a factor of 2 or more, and the same unit at both \
         ends"
    )]
    Range(String),
    /// An invalid condition.
    #[error("the condition {0:?} must be two dimensions with <= or < between them")]
    Condition(String),
    /// Too many points.
    #[error("it has more than {POINTS_MAX} points")]
    TooMany,
}

impl Sweep {
    /// Every combination that the condition allows; the last dimension changes fastest. `scale` is
    /// at most 1, and ends scaled ranges earlier, though never before their first value.
    pub fn points(&self, scale: f64) -> Result<Vec<Point>, SweepError> {
        if self.dimensions.is_empty() {
            return Err(SweepError::NoDimension);
        }
        let wanted = self
            .condition
            .as_deref()
            .map(|text| self.read(text))
            .transpose()?;
        let mut points = vec![Point::new()];
        for (name, values) in &self.dimensions {
            let values = values.resolve(name, scale)?;
            // Checked before they are built: the product of two lists grows quickly.
            if points.len().saturating_mul(values.len()) > POINTS_MAX {
                return Err(SweepError::TooMany);
            }
            points = points
                .iter()
                .flat_map(|point| {
                    values.iter().map(move |value| {
                        let mut longer = point.clone();
                        longer.insert(name.clone(), *value);
                        longer
                    })
                })
                .collect();
        }
        points.retain(|point| wanted.as_ref().is_none_or(|wanted| wanted.holds(point)));
        Ok(points)
    }

    fn read(&self, text: &str) -> Result<Condition, SweepError> {
        let wrong = || SweepError::Condition(text.to_owned());
        let (left, right, strict) = match text.split_once("<=") {
            Some((left, right)) => (left, right, false),
            None => {
                let (left, right) = text.split_once('<').ok_or_else(wrong)?;
                (left, right, true)
            }
        };
        let known = |name: &str| {
            let name = name.trim().to_owned();
            self.dimensions.contains_key(&name).then_some(name)
        };
        let (low, high) = known(left).zip(known(right)).ok_or_else(wrong)?;
        Ok(Condition { low, high, strict })
    }
}

/// `low <= high`, or `low < high`.
struct Condition {
    low: String,
    high: String,
    strict: bool,
}

impl Condition {
    fn holds(&self, point: &Point) -> bool {
        let (low, high) = (point[&self.low].number(), point[&self.high].number());
        if self.strict { low < high } else { low <= high }
    }
}

impl Values {
    fn resolve(&self, dimension: &str, scale: f64) -> Result<Vec<PointValue>, SweepError> {
        match self {
            Self::List(values) if values.is_empty() => {
                Err(SweepError::NoValue(dimension.to_owned()))
            }
            Self::List(values) => values
                .iter()
                .map(|value| value.resolve(dimension))
                .collect(),
            Self::Range(range) => range.resolve(dimension, scale),
        }
    }
}

impl Range {
    fn resolve(&self, dimension: &str, scale: f64) -> Result<Vec<PointValue>, SweepError> {
        let wrong = || SweepError::Range(dimension.to_owned());
        let (from, to) = (self.from.resolve(dimension)?, self.to.resolve(dimension)?);
        let make = match (from, to) {
            (PointValue::Bytes(_), PointValue::Bytes(_)) => PointValue::Bytes,
            (PointValue::Count(_), PointValue::Count(_)) => PointValue::Count,
            _ => return Err(wrong()),
        };
        if self.factor < 2 || from.number() == 0 || to < from {
            return Err(wrong());
        }
        let end = if self.scaled {
            ((to.number() as f64 * scale) as u64).max(from.number())
        } else {
            to.number()
        };
        let next = |value: &u64| value.checked_mul(self.factor).filter(|value| *value <= end);
        Ok(std::iter::successors(Some(from.number()), next)
            .map(make)
            .collect())
    }
}

impl Written {
    fn resolve(&self, dimension: &str) -> Result<PointValue, SweepError> {
        match self {
            Self::Count(count) => Ok(PointValue::Count(*count)),
            Self::Size(text) => {
                let size: Bytes = text.parse().map_err(|source| SweepError::Size {
                    dimension: dimension.to_owned(),
                    value: text.clone(),
                    source,
                })?;
                Ok(PointValue::Bytes(size.0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(text: &str) -> Sweep {
        toml::from_str(text).expect("a sweep")
    }

    fn texts(points: &[Point]) -> Vec<String> {
        let text = |point: &Point| {
            let values: Vec<_> = point.values().map(ToString::to_string).collect();
            values.join("/")
        };
        points.iter().map(text).collect()
    }

    #[test]
    fn a_sweep_has_every_combination_that_its_condition_allows() {
        let sizes = sweep(
            "file_size = { from = '8KiB', to = '32KiB', factor = 2 }\n\
             record = ['8KiB', '16KiB']\nwhere = 'record <= file_size'",
        );
        let points = sizes.points(1.0).expect("points");
        assert_eq!(
            texts(&points),
            [
                "8 KiB/8 KiB",
                "16 KiB/8 KiB",
                "16 KiB/16 KiB",
                "32 KiB/8 KiB",
                "32 KiB/16 KiB"
            ]
        );
    }

    #[test]
    fn a_smaller_scale_ends_scaled_ranges_earlier_but_not_before_their_first_value() {
        let range = sweep("size = { from = '1MiB', to = '8MiB', factor = 2, scaled = true }");
        let count = |scale| range.points(scale).expect("points").len();
        assert_eq!((count(1.0), count(0.5), count(0.01)), (4, 3, 1));
        let fixed = sweep("size = { from = '1MiB', to = '8MiB', factor = 2 }");
        assert_eq!(fixed.points(0.01).expect("points").len(), 4);
    }

    #[test]
    fn sweeps_that_make_no_sense_are_refused_by_their_dimension() {
        let error = |text: &str| sweep(text).points(1.0).expect_err(text);
        assert_eq!(error(""), SweepError::NoDimension);
        assert_eq!(error("a = []"), SweepError::NoValue("a".into()));
        assert!(matches!(
            error("a = ['8 furlongs']"),
            SweepError::Size { .. }
        ));
        let range = SweepError::Range("a".into());
        assert_eq!(error("a = { from = 1, to = 8, factor = 1 }"), range);
        assert_eq!(error("a = { from = 1, to = '8KiB', factor = 2 }"), range);
        assert_eq!(error("a = { from = 8, to = 1, factor = 2 }"), range);
        for condition in ["a", "a <= b", "b < a", "a > a"] {
            let text = format!("a = [1]\nwhere = '{condition}'");
            assert!(
                matches!(error(&text), SweepError::Condition(_)),
                "{condition}"
            );
        }
    }
}
