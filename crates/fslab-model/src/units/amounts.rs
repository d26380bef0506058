//! Sizes, shares and rates, with the unit in the type, and their formatting.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::text::text_type::text_schema;
const UNITS: [(&str, u64); 17] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("pib", 1 << 50),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("pb", 1_000_000_000_000_000),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("t", 1 << 40),
    ("p", 1 << 50),
    ("bytes", 1),
    ("b", 1),
];

/// The pattern of a size, as a regular expression.
pub(crate) const SIZE_PATTERN: &str =
    "^ *[0-9][0-9._]* *([kKmMgGtTpP]([iI]?[bB])?|[bB]([yY][tT][eE][sS])?) *$";

/// A number of bytes. Written with a unit: `4KiB`, `1.5 GiB`, `20GB`; `K`, `M`, `G` are binary.
///
/// Serialised as a plain number in JSON plans and records; read from a number or a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `count` kibibytes (1024 bytes).
    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// `count` mebibytes.
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }

    /// `count` gibibytes.
    pub const fn gib(count: u64) -> Self {
        Self(count << 30)
    }
}

/// Why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseBytesError {
    /// It does not begin with a number.
    #[error(
        "'{0}' is not a size: a number and a unit are needed, for example 4KiB, 256MiB or 20GB"
    )]
    NotANumber(String),
    /// A number without a unit.
    #[error("the size '{0}' has no unit; write {0}B, {0}KiB, {0}MiB or {0}GiB")]
    NoUnit(String),
    /// An unknown unit.
    #[error(
        "the size '{text}' has the unknown unit '{unit}'; the units are B, KiB, MiB, GiB, TiB, kB, \
         MB, GB, TB"
    )]
    UnknownUnit {
        /// The text.
        text: String,
        /// The unit.
        unit: String,
    },
    /// More than 2^64 - 1 bytes, or a fraction of a byte.
    #[error("the size '{0}' is not an integer number of bytes below 16 EiB")]
    OutOfRange(String),
}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let split = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(split);
        let number = number.replace('_', "");
        if number.is_empty() {
            return Err(ParseBytesError::NotANumber(text.to_owned()));
        }
        let unit = unit.trim();
        if unit.is_empty() {
            return Err(ParseBytesError::NoUnit(trimmed.to_owned()));
        }
        let lower = unit.to_ascii_lowercase();
        let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == lower) else {
            return Err(ParseBytesError::UnknownUnit {
                text: trimmed.to_owned(),
                unit: unit.to_owned(),
            });
        };
        scaled(&number, *scale).ok_or_else(|| ParseBytesError::OutOfRange(trimmed.to_owned()))
    }
}

/// `number` times `scale` in exact integer arithmetic; `None` if the result is not an integer.
fn scaled(number: &str, scale: u64) -> Option<Bytes> {
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: u128 = format!("{integer}{fraction}").parse().ok()?;
    let divisor = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let product = digits.checked_mul(u128::from(scale))?;
    (product % divisor == 0).then_some(())?;
    u64::try_from(product / divisor).ok().map(Bytes)
}

/// Binary units, the largest first, with their powers of two.
const STEPS: [(&str, u32); 6] = [
    ("PiB", 50),
    ("TiB", 40),
    ("GiB", 30),
    ("MiB", 20),
    ("KiB", 10),
    ("B", 0),
];

impl Bytes {
    /// The size as an integer of at most four digits, and its unit; `None` if there is no such
    /// unit.
    fn in_integral_units(self) -> Option<(u64, &'static str)> {
        let found = STEPS.iter().find(|(_, shift)| {
            self.0 >> shift != 0 && self.0.trailing_zeros() >= *shift && self.0 >> shift < 10_000
        });
        found.map(|(unit, shift)| (self.0 >> shift, *unit))
    }

    /// The size as one word for a command line, like `300MiB`, which reads back exactly.
    pub fn to_argument(self) -> String {
        let (number, unit) = self.in_integral_units().unwrap_or((self.0, "B"));
        format!("{number}{unit}")
    }
}

impl fmt::Display for Bytes {
    /// The largest binary unit in which the size is an integer; else one decimal, rounded down.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((number, unit)) = self.in_integral_units() {
            return write!(f, "{number} {unit}");
        }
        let (unit, shift) = STEPS
            .iter()
            .find(|(_, shift)| self.0 >> shift != 0)
            .unwrap_or(&("B", 0));
        if *shift == 0 {
            return write!(f, "{} B", self.0);
        }
        let tenths = (u128::from(self.0) * 10) >> shift;
        write!(f, "{}.{} {unit}", tenths / 10, tenths % 10)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size, for example \"4KiB\"")
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Bytes, E> {
                Ok(Bytes(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Bytes, E> {
                let bytes = u64::try_from(value).map(Bytes);
                bytes.map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// A size that is either fixed (`64MiB`) or a share of the file system's size (`1/4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// That many bytes.
    Fixed(Bytes),
    /// `numerator / denominator` of the file system's size.
    Of {
        /// Numerator.
        numerator: u32,
        /// Denominator; never 0.
        denominator: u32,
    },
}

impl Share {
    /// The share of `size` in bytes, rounded down to a multiple of 1 MiB from 1 MiB on.
    pub fn of(self, size: Bytes) -> Bytes {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Of {
                numerator,
                denominator,
            } => {
                let exact = u128::from(size.0) * u128::from(numerator) / u128::from(denominator);
                let exact = u64::try_from(exact).unwrap_or(u64::MAX);
                Bytes(if exact >= 1 << 20 {
                    exact & !((1 << 20) - 1)
                } else {
                    exact
                })
            }
        }
    }
}

impl FromStr for Share {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((above, below)) = text.split_once('/') else {
            return text.parse().map(Self::Fixed);
        };
        match (above.trim().parse(), below.trim().parse()) {
            (Ok(numerator), Ok(denominator)) if denominator > 0 => Ok(Self::Of {
                numerator,
                denominator,
            }),
            _ => Err(ParseBytesError::NotANumber(text.to_owned())),
        }
    }
}

/// A number per second with the unit of its numerator, for printing: `412 MB/s`, `12.3 k/s`.
///
/// Decimal prefixes, as drives and networks are sold; sizes of files stay binary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Bytes per second.
    Bytes(f64),
    /// Operations per second.
    Operations(f64),
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match *self {
            Self::Bytes(value) => (value, "B/s"),
            Self::Operations(value) => (value, "op/s"),
        };
        let (scaled, prefix) = decimal_prefix(value);
        match scaled.abs() {
            0.0 => write!(f, "0 {unit}"),
            // Three digits below one unit: 0.00412; 4.12e-6 if longer.
            small if small < 1e-4 => write!(f, "{scaled:.2e} {prefix}{unit}"),
            size => {
                // 9.996 is 10.0, and has one digit less.
                let digits = (2 - (size * 1.0005).log10().floor() as i32).max(0) as usize;
                write!(f, "{scaled:.digits$} {prefix}{unit}")
            }
        }
    }
}

fn decimal_prefix(value: f64) -> (f64, &'static str) {
    for (limit, prefix) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        // 999.6 would print as "1000": the next prefix takes it.
        if value.abs() >= limit * 0.9995 {
            return (value / limit, prefix);
        }
    }
    (value, "")
}

/// A duration of `ns` nanoseconds to three significant digits: `812 ns`, `1.24 ms`, `3.50 s`.
pub fn format_ns(ns: f64) -> String {
    for (limit, unit) in [(1e9, "s"), (1e6, "ms"), (1e3, "µs")] {
        if ns.abs() >= limit * 0.9995 {
            let scaled = ns / limit;
            let digits = if scaled >= 99.95 {
                0
            } else if scaled >= 9.995 {
                1
            } else {
                2
            };
            return format!("{scaled:.digits$} {unit}");
        }
    }
    format!("{ns:.0} ns")
}

text_schema!(Bytes, {
    "description": "A size with its unit, like \"4KiB\", \"1.5 GiB\" or \"20GB\"; K, M and G are binary. In JSON that fslab writes: bytes.",
    "anyOf": [
        { "type": "string", "pattern": SIZE_PATTERN },
        { "type": "integer", "minimum": 0 }
    ],
    "examples": ["256MiB"]
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_binary_and_decimal_units() {
        for (text, bytes) in [
            ("4KiB", 4096),
            ("1 GiB", 1 << 30),
            ("1.5k", 1536),
            ("20GB", 20_000_000_000),
            ("512B", 512),
            ("64m", 64 << 20),
            ("1_000 bytes", 1000),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn a_size_without_a_unit_or_with_a_foreign_one_is_refused() {
        assert_eq!(
            "1024".parse::<Bytes>(),
            Err(ParseBytesError::NoUnit("1024".into()))
        );
        assert!(matches!(
            "4 KiX".parse::<Bytes>(),
            Err(ParseBytesError::UnknownUnit { .. })
        ));
        assert!(matches!(
            "GiB".parse::<Bytes>(),
            Err(ParseBytesError::NotANumber(_))
        ));
        assert!(matches!(
            "0.3B".parse::<Bytes>(),
            Err(ParseBytesError::OutOfRange(_))
        ));
        assert!(matches!(
            "99999999PiB".parse::<Bytes>(),
            Err(ParseBytesError::OutOfRange(_))
        ));
    }

    #[test]
    fn a_printed_size_reads_back_as_itself_where_it_is_exact() {
        for bytes in [0, 1, 512, 4096, 10_240, 1 << 20, 3 << 30, 1 << 50] {
            let printed = Bytes(bytes).to_string();
            assert_eq!(printed.parse(), Ok(Bytes(bytes)), "{printed}");
        }
        assert_eq!(Bytes(1_500_000).to_string(), "1.4 MiB");
    }

    #[test]
    fn a_size_for_a_command_line_is_one_word_and_never_rounded() {
        for bytes in [0, 1, 4096, 300 << 20, 1_500_000, (3 << 30) + 512] {
            let word = Bytes(bytes).to_argument();
            assert_eq!(word.parse(), Ok(Bytes(bytes)), "{word}");
            assert!(!word.contains(' '), "{word}");
        }
        assert_eq!(Bytes::mib(300).to_argument(), "300MiB");
        assert_eq!(Bytes(1_500_000).to_argument(), "1500000B");
    }

    #[test]
    fn shares_are_of_the_size_and_rounded_to_a_mebibyte() {
        let quarter: Share = "1/4".parse().expect("a share");
        assert_eq!(quarter.of(Bytes::gib(1)), Bytes::mib(256));
        assert_eq!(quarter.of(Bytes(5_000_001)), Bytes::mib(1));
        assert_eq!(
            "8MiB".parse::<Share>().expect("fixed").of(Bytes::gib(1)),
            Bytes::mib(8)
        );
        assert!("1/0".parse::<Share>().is_err());
    }

    #[test]
    fn rates_and_times_are_printed_to_three_digits() {
        assert_eq!(Rate::Bytes(412.4e6).to_string(), "412 MB/s");
        assert_eq!(Rate::Bytes(999.7e6).to_string(), "1.00 GB/s");
        assert_eq!(Rate::Operations(12_345.0).to_string(), "12.3 kop/s");
        assert_eq!(Rate::Operations(0.0).to_string(), "0 op/s");
        assert_eq!(Rate::Operations(1.0).to_string(), "1.00 op/s");
        assert_eq!(Rate::Operations(9.996).to_string(), "10.0 op/s");
        assert_eq!(Rate::Operations(99.96).to_string(), "100 op/s");
        assert_eq!(Rate::Operations(0.016_340).to_string(), "0.0163 op/s");
        assert_eq!(Rate::Operations(1e-9).to_string(), "1.00e-9 op/s");
        assert_eq!(format_ns(812.0), "812 ns");
        assert_eq!(format_ns(1_240_000.0), "1.24 ms");
        assert_eq!(format_ns(99_960.0), "100 µs");
    }
}
