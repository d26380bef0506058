//! Ranges of a sweep's values: `"2GiB"`, `"64KiB..256KiB"`, `"2.."`, `"..8"`.

use std::fmt;
use std::str::FromStr;

use fslab_model::{Bytes, Point, PointValue};

/// A range of values of one dimension, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointRange {
    /// The lowest value; `None`: no lower end.
    pub from: Option<PointValue>,
    /// The highest value; `None`: no upper end.
    pub to: Option<PointValue>,
}

/// A text that is not a range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a value or a range, like 2GiB, 64KiB..256KiB or 2..")]
pub struct ParseRangeError(String);

impl PointRange {
    /// Whether `value` has the unit of the ends and lies between them.
    pub fn contains(&self, value: PointValue) -> bool {
        let unit = |end: PointValue| {
            matches!(end, PointValue::Bytes(_)) == matches!(value, PointValue::Bytes(_))
        };
        self.from
            .is_none_or(|from| unit(from) && from.number() <= value.number())
            && self
                .to
                .is_none_or(|to| unit(to) && value.number() <= to.number())
    }

    /// The range with `change` applied to both ends.
    pub fn map(self, change: impl Fn(PointValue) -> PointValue) -> Self {
        Self {
            from: self.from.map(&change),
            to: self.to.map(&change),
        }
    }
}

/// Whether `point` has a value in every range of `ranges`.
pub fn is_within<'a>(
    point: &Point,
    ranges: impl IntoIterator<Item = (&'a String, &'a PointRange)>,
) -> bool {
    let mut ranges = ranges.into_iter();
    ranges.all(|(name, range)| point.get(name).is_some_and(|value| range.contains(*value)))
}

/// A count, or a size with its unit.
pub(crate) fn read_value(text: &str) -> Option<PointValue> {
    let text = text.trim();
    let count = text.parse().ok().map(PointValue::Count);
    let size = || {
        text.parse()
            .ok()
            .map(|size: Bytes| PointValue::Bytes(size.0))
    };
    count.or_else(size)
}

impl FromStr for PointRange {
    type Err = ParseRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseRangeError(text.to_owned());
        let end = |text: &str| match text.trim() {
            "" => Ok(None),
            text => read_value(text).map(Some).ok_or_else(wrong),
        };
        let (from, to) = match text.split_once("..") {
            Some((from, to)) => (end(from)?, end(to)?),
            None => (end(text)?, end(text)?),
        };
        let ordered = match (from, to) {
            (Some(PointValue::Count(from)), Some(PointValue::Count(to)))
            | (Some(PointValue::Bytes(from)), Some(PointValue::Bytes(to))) => from <= to,
            (Some(_), Some(_)) | (None, None) => false,
            _ => true,
        };
        ordered.then_some(Self { from, to }).ok_or_else(wrong)
    }
}

impl fmt::Display for PointRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (Some(from), Some(to)) if from == to => write!(f, "{from}"),
            (Some(from), Some(to)) => write!(f, "{from} to {to}"),
            (Some(from), None) => write!(f, "from {from} on"),
            (None, Some(to)) => write!(f, "up to {to}"),
            (None, None) => f.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> PointRange {
        text.parse().expect(text)
    }

    #[test]
    fn a_range_includes_its_ends_and_no_value_of_another_unit() {
        let sizes = range("64KiB..256KiB");
        for (kib, inside) in [
            (32, false),
            (64, true),
            (128, true),
            (256, true),
            (512, false),
        ] {
            assert_eq!(
                sizes.contains(PointValue::Bytes(kib << 10)),
                inside,
                "{kib}"
            );
        }
        assert!(!sizes.contains(PointValue::Count(100_000)));
        assert!(range("2..").contains(PointValue::Count(9)));
        assert!(!range("2..").contains(PointValue::Count(1)));
        assert!(range("1").contains(PointValue::Count(1)));
        assert_eq!(sizes.to_string(), "64 KiB to 256 KiB");
        assert_eq!(range("..8").to_string(), "up to 8");
    }

    #[test]
    fn invalid_ranges_are_refused() {
        for bad in [
            "",
            "..",
            "8..2",
            "8KiB..2",
            "many",
            "1KiB..2KiB..3KiB",
            "-1",
        ] {
            assert!(bad.parse::<PointRange>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_point_is_within_if_every_named_dimension_is() {
        let point = Point::from([
            ("file_size".to_owned(), PointValue::Bytes(2 << 30)),
            ("record".to_owned(), PointValue::Bytes(8 << 10)),
        ]);
        let named = |name: &str, text: &str| (name.to_owned(), range(text));
        let within = |ranges: &[(String, PointRange)]| {
            is_within(&point, ranges.iter().map(|(name, range)| (name, range)))
        };
        assert!(within(&[]));
        assert!(within(&[named("file_size", "2GiB")]));
        assert!(!within(&[
            named("file_size", "2GiB"),
            named("record", "64KiB..")
        ]));
        assert!(!within(&[named("processes", "1")]));
    }
}
