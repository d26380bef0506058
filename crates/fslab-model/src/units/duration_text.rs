//! Times as people write them, with a unit: `10s`, `500ms`, `2min`.

use std::time::Duration;

use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Why a text is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseDurationError {
    /// It has no number, or no unit.
    #[error("'{0}' is not a time; use for example 10s, 500ms or 2min")]
    Malformed(String),
    /// A negative one.
    #[error("'{0}' is a negative time")]
    Negative(String),
    /// It is no integral number of the unit that is needed, or is too large for it.
    #[error("'{text}' is not an integer number of {unit}, or is too large")]
    NotIntegral {
        /// The text.
        text: String,
        /// The unit.
        unit: &'static str,
    },
}

/// Reads a time with its unit.
pub fn parse_duration(text: &str) -> Result<Duration, ParseDurationError> {
    let trimmed = text.trim();
    let parsed: SignedDuration = trimmed
        .parse()
        .map_err(|_| ParseDurationError::Malformed(trimmed.to_owned()))?;
    Duration::try_from(parsed).map_err(|_| ParseDurationError::Negative(trimmed.to_owned()))
}

/// Reads a time as a number of units of `unit_ns` nanoseconds each.
pub fn parse_duration_in(
    text: &str,
    unit_ns: u64,
    unit: &'static str,
) -> Result<u64, ParseDurationError> {
    let nanoseconds = parse_duration(text)?.as_nanos();
    let is_integral = nanoseconds.is_multiple_of(u128::from(unit_ns));
    let count = u64::try_from(nanoseconds / u128::from(unit_ns)).ok();
    count
        .filter(|_| is_integral)
        .ok_or_else(|| ParseDurationError::NotIntegral {
            text: text.to_owned(),
            unit,
        })
}

/// Reads seconds: a bare number, or a time with its unit.
pub fn parse_seconds(text: &str) -> Result<u32, ParseDurationError> {
    if let Ok(seconds) = text.trim().parse() {
        return Ok(seconds);
    }
    let seconds = parse_duration_in(text, 1_000_000_000, "seconds")?;
    u32::try_from(seconds).map_err(|_| ParseDurationError::NotIntegral {
        text: text.to_owned(),
        unit: "seconds",
    })
}

/// Seconds in a file: a number, or a time with its unit.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Seconds {
    /// The number.
    Number(u32),
    /// With its unit.
    Text(String),
}

/// For `#[serde(deserialize_with)]`.
pub(crate) fn deserialize_seconds<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    match Seconds::deserialize(from)? {
        Seconds::Number(seconds) => Ok(seconds),
        Seconds::Text(text) => parse_seconds(&text).map_err(serde::de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration(" 1h 30m "), Ok(Duration::from_secs(5400)));
        for text in ["10", "", "s", "-3s", "10 apples"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn seconds_are_a_number_or_a_time() {
        assert_eq!(parse_seconds("600"), Ok(600));
        assert_eq!(parse_seconds("10min"), Ok(600));
        assert!(parse_seconds("1500ms").is_err());
        assert!(parse_seconds("-1").is_err());
    }
}
