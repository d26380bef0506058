//! Quantities of a profile as text: `8.9 ms`, `100 MB/s`, `2 MiB`, `7 %`.
//!
//! A quantity without a unit is refused. A printed quantity reads back as the same number.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use fslab_model::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::Value;

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanoseconds(pub u64);

/// A rate in bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BytesPerSecond(pub u64);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationsPerSecond(pub u64);

/// A share in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permille(pub u32);

/// A type of a key's value.
pub(super) trait Quantity: Sized {
    /// Reads the value; the error is a fragment that follows it.
    fn read(value: &Value) -> Result<Self, String>;

    /// The value as written in a file; `None` if the key is absent.
    fn write(&self) -> Option<Value>;

    /// The value of an absent key; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }
}

const TIMES: [(&str, u64); 6] = [
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ns", 1),
];
const RATES: [(&str, u64); 7] = [
    ("GB/s", 1_000_000_000),
    ("MB/s", 1_000_000),
    ("kB/s", 1_000),
    ("GiB/s", 1 << 30),
    ("MiB/s", 1 << 20),
    ("KiB/s", 1 << 10),
    ("B/s", 1),
];
const SIZES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("B", 1),
];
const SHARES: [(&str, u64); 1] = [("%", 10)];
const FREQUENCIES: [(&str, u64); 1] = [("op/s", 1)];

/// `text` as a number of the smallest unit.
fn parse(text: &str, units: &[(&str, u64)], example: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (number, unit) = (number.replace('_', ""), unit.trim());
    let known = || {
        let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    };
    if number.is_empty() {
        return Err(format!(
            "must be a number and a unit, such as \"{example}\""
        ));
    }
    if unit.is_empty() {
        return Err(format!("the unit is missing; it is one of {}", known()));
    }
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("the unit '{unit}' is not one of {}", known()));
    };
    scaled(&number, *scale).ok_or_else(|| {
        let unit = smallest(units);
        format!(
            "is not an integer number of {unit}, or is above {}",
            u64::MAX
        )
    })
}

/// The name of the unit in which numbers are stored.
fn smallest(units: &[(&str, u64)]) -> String {
    match units {
        [("%", 10)] => "tenths of a percent".to_owned(),
        _ => {
            let unit = units.iter().find(|(_, scale)| *scale == 1);
            unit.map_or_else(String::new, |(name, _)| (*name).to_owned())
        }
    }
}

/// `number` times `scale` without rounding.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: u128 = format!("{integer}{fraction}").parse().ok()?;
    let divisor = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let product = digits.checked_mul(u128::from(scale))?;
    if !product.is_multiple_of(divisor) {
        return None;
    }
    u64::try_from(product / divisor).ok()
}

/// A unit is used for numbers below this.
const READABLE: u64 = 10_000;

/// The shortest exact text: in the largest unit that needs at most `digits` decimals.
fn exact(number: u64, units: &[(&str, u64)], digits: u32) -> String {
    for (index, (name, scale)) in units.iter().enumerate() {
        let (integer, rest) = (number / scale, u128::from(number % scale));
        let scale = u128::from(*scale);
        let is_last = index + 1 == units.len();
        if !is_last && (integer == 0 || integer >= READABLE) {
            continue;
        }
        for places in 0..=digits {
            let shifted = rest * 10_u128.pow(places);
            if shifted.is_multiple_of(scale) {
                let decimals = shifted / scale;
                return match places {
                    0 => format!("{integer} {name}"),
                    _ => format!(
                        "{integer}.{decimals:0width$} {name}",
                        width = places as usize
                    ),
                };
            }
        }
    }
    unreachable!("the smallest unit leaves no more decimals than that")
}

/// The text of a value; an error for a bare number, which has no unit.
fn text_of(value: &Value) -> Result<&str, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Integer(_) | Value::Float(_) => {
            Err("has no unit; write the number and its unit in quotes".to_owned())
        }
        other => Err(format!("must be a string, not {}", kind_of(other))),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a fraction",
        Value::Boolean(_) => "a boolean",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a group",
    }
}

/// Implements reading, writing and printing of a number with a unit.
macro_rules! with_unit {
    ($type:ident, $inner:ty, $units:expr, $digits:expr, $example:expr) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&exact(u64::from(self.0), &$units, $digits))
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let number = parse(text, &$units, $example)?;
                let number = <$inner>::try_from(number);
                number.map($type).map_err(|_| "is too large".to_owned())
            }
        }

        impl Quantity for $type {
            fn read(value: &Value) -> Result<Self, String> {
                text_of(value)?.parse()
            }

            fn write(&self) -> Option<Value> {
                Some(Value::String(self.to_string()))
            }
        }
    };
}

with_unit!(Nanoseconds, u64, TIMES, 3, "8.9 ms");
with_unit!(BytesPerSecond, u64, RATES, 2, "100 MB/s");
with_unit!(OperationsPerSecond, u64, FREQUENCIES, 0, "13000 op/s");
with_unit!(Permille, u32, SHARES, 1, "7 %");

impl Quantity for Bytes {
    fn read(value: &Value) -> Result<Self, String> {
        parse(text_of(value)?, &SIZES, "2 MiB").map(Self)
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(exact(self.0, &SIZES, 2)))
    }
}

/// Sizes that are multiples of this stay so.
const SIZE_STEP: u64 = 4096;

/// A number, with its unit, times `factor`: at least 1 of its smallest unit, unless it is 0. `None`
/// for what is no number.
pub(super) fn times(value: &Value, factor: f64) -> Option<Value> {
    let scaled = |number: u64, step: u64| match number {
        0 => 0,
        _ => ((number as f64 / step as f64 * factor).round() as u64).max(1) * step,
    };
    let text = match value {
        Value::Integer(number) => {
            let number = scaled(u64::try_from(*number).ok()?, 1);
            return i64::try_from(number).ok().map(Value::Integer);
        }
        Value::String(text) => text,
        _ => return None,
    };
    if let Ok(Nanoseconds(ns)) = text.parse() {
        return Nanoseconds(scaled(ns, 1)).write();
    }
    if let Ok(BytesPerSecond(rate)) = text.parse() {
        return BytesPerSecond(scaled(rate, 1)).write();
    }
    if let Ok(OperationsPerSecond(rate)) = text.parse() {
        return OperationsPerSecond(scaled(rate, 1)).write();
    }
    if let Ok(Permille(share)) = text.parse() {
        let share = scaled(u64::from(share), 1).min(1000);
        return Permille(u32::try_from(share).unwrap_or(1000)).write();
    }
    let Bytes(size) = Bytes::read(value).ok()?;
    let step = match size.is_multiple_of(SIZE_STEP) {
        true => SIZE_STEP,
        false => 512,
    };
    Bytes(scaled(size, step)).write()
}

impl Quantity for u32 {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Integer(number) => {
                Self::try_from(*number).map_err(|_| "is out of range".to_owned())
            }
            other => Err(format!("must be an integer, not {}", kind_of(other))),
        }
    }

    fn write(&self) -> Option<Value> {
        Some(Value::Integer(i64::from(*self)))
    }
}

impl Quantity for bool {
    fn read(value: &Value) -> Result<Self, String> {
        let needed = || format!("must be true or false, not {}", kind_of(value));
        value.as_bool().ok_or_else(needed)
    }

    fn write(&self) -> Option<Value> {
        Some(Value::Boolean(*self))
    }
}

impl Quantity for String {
    fn read(value: &Value) -> Result<Self, String> {
        match value.as_str().map(str::trim) {
            Some("") => Err("is empty".to_owned()),
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("must be a string, not {}", kind_of(value))),
        }
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(self.clone()))
    }
}

impl<Q: Quantity> Quantity for Option<Q> {
    fn read(value: &Value) -> Result<Self, String> {
        Q::read(value).map(Some)
    }

    fn write(&self) -> Option<Value> {
        self.as_ref().and_then(Q::write)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// Implements the schema of a number with a unit, which is a text.
macro_rules! with_unit_schema {
    ($type:ident, $units:expr, $about:literal, $example:literal) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let names: Vec<_> = $units.iter().map(|(name, _)| *name).collect();
                json_schema!({
                    "description": format!("{}: a number and its unit.", $about),
                    "type": "string",
                    "pattern": format!("^ *[0-9][0-9._]* *({}) *$", names.join("|")),
                    "examples": [$example]
                })
            }
        }
    };
}

with_unit_schema!(Nanoseconds, TIMES, "A duration", "8.9 ms");
with_unit_schema!(BytesPerSecond, RATES, "A rate", "100 MB/s");
with_unit_schema!(
    OperationsPerSecond,
    FREQUENCIES,
    "A rate of operations",
    "13000 op/s"
);
with_unit_schema!(Permille, SHARES, "A share in steps of 0.1 %", "7 %");

/// One of a list of keywords.
pub(super) fn keyword<T: Copy>(value: &Value, keywords: &[(&str, T)]) -> Result<T, String> {
    let names = || {
        let names: Vec<_> = keywords.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    };
    let found = value
        .as_str()
        .and_then(|text| keywords.iter().find(|(name, _)| *name == text));
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| format!("must be one of {}", names()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(value: &str) -> Value {
        Value::String(value.to_owned())
    }

    #[test]
    fn quantities_are_read_with_their_units_and_printed_in_the_largest_that_fits() {
        for (written, ns, printed) in [
            ("8.9 ms", 8_900_000, "8.9 ms"),
            ("8900us", 8_900_000, "8.9 ms"),
            ("0.3 ms", 300_000, "300 us"),
            ("1.5s", 1_500_000_000, "1.5 s"),
            ("8.33333 ms", 8_333_330, "8333.33 us"),
            ("0 ns", 0, "0 ns"),
        ] {
            let read = Nanoseconds::read(&text(written)).expect(written);
            assert_eq!(read, Nanoseconds(ns));
            assert_eq!(read.to_string(), printed);
        }
        let rate: BytesPerSecond = "44.3 MB/s".parse().expect("a rate");
        assert_eq!((rate.0, rate.to_string()), (44_300_000, "44.3 MB/s".into()));
        assert_eq!(Permille::read(&text("7.5 %")), Ok(Permille(75)));
        let size = Bytes::read(&text("30.02 GB")).expect("a size");
        assert_eq!(size, Bytes(30_020_000_000));
        assert_eq!(size.write(), Some(text("30.02 GB")));
        assert_eq!(Bytes::mib(2).write(), Some(text("2 MiB")));
    }

    #[test]
    fn a_quantity_with_no_or_a_wrong_unit_is_refused_with_the_reason() {
        let reason = |value: &Value| Nanoseconds::read(value).expect_err("refused");
        assert!(reason(&text("8.9")).contains("unit is missing"));
        assert!(reason(&Value::Float(8.9)).contains("no unit"));
        assert!(reason(&text("8.9 MB")).contains("'MB' is not one of s, ms"));
        assert!(reason(&text("ms")).contains("\"8.9 ms\""));
        assert!(reason(&text("0.1 ns")).contains("integer number of ns"));
        let size = Bytes::read(&Value::Integer(512)).expect_err("refused");
        assert!(size.contains("no unit"), "{size}");
        let share = Permille::read(&text("0.01 %")).expect_err("refused");
        assert!(share.contains("tenths of a percent"), "{share}");
    }

    #[test]
    fn a_number_is_scaled_in_its_own_unit() {
        for (written, factor, expected) in [
            ("8.9 ms", 1.5, Some("13.35 ms")),
            ("3 ns", 0.1, Some("1 ns")),
            ("0 s", 2.0, Some("0 ns")),
            ("100 MB/s", 0.9, Some("90 MB/s")),
            ("8 MiB", 1.50001, Some("12 MiB")),
            ("13000 op/s", 1.5, Some("19500 op/s")),
            ("7 %", 2.0, Some("14 %")),
            ("ATA-100", 2.0, None),
            ("", 2.0, None),
        ] {
            let scaled = times(&text(written), factor);
            assert_eq!(scaled, expected.map(text), "{written}");
        }
        assert_eq!(times(&Value::Integer(16), 1.5), Some(Value::Integer(24)));
        assert_eq!(times(&Value::Boolean(true), 1.5), None);
    }

    proptest! {
        #[test]
        fn every_quantity_reads_back_as_itself(number: u64, share: u32) {
            let time = Nanoseconds(number);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
            let rate = BytesPerSecond(number);
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
            let size = Bytes(number).write().expect("written");
            prop_assert_eq!(Bytes::read(&size), Ok(Bytes(number)));
            let share = Permille(share);
            prop_assert_eq!(share.to_string().parse(), Ok(share));
        }
    }
}
