//! A share, written in percent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::text_type::text_type;

/// A share of something, written `5%`; not negative, finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Percent(f64);

/// Why a text is not a percentage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a percentage; use for example 5% or 0.5%")]
pub struct ParsePercentError(String);

impl Percent {
    /// From a share: 0.05 is 5 %. Negative or non-finite values become 0.
    pub const fn of_share(share: f64) -> Self {
        Self(if share > 0.0 && share.is_finite() {
            share
        } else {
            0.0
        })
    }

    /// The share: 0.05 for 5 %.
    pub const fn share(self) -> f64 {
        self.0
    }
}

impl FromStr for Percent {
    type Err = ParsePercentError;

    /// The sign may be left out: `5` is 5 %, too.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.trim().strip_suffix('%').unwrap_or(text).trim();
        let percent: Option<f64> = number.parse().ok();
        let usable = percent.filter(|percent| percent.is_finite() && *percent >= 0.0);
        let wrong = || ParsePercentError(text.to_owned());
        usable
            .map(|percent| Self(percent / 100.0))
            .ok_or_else(wrong)
    }
}

text_type!(Percent, ParsePercentError, {
    "description": "A share in percent, like \"5%\"; 0% or more.",
    "type": "string",
    "pattern": "^ *[0-9]*\\.?[0-9]+ *%? *$",
    "examples": ["5%"]
});

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shown as written: 0.07 * 100.0 is 7.000000000000001.
        let rounded = (self.0 * 1e12).round() / 1e10;
        write!(f, "{rounded}%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_read_and_show_as_written() {
        for text in ["5%", "0.5%", "7%", "100%", "0%"] {
            let percent: Percent = text.parse().expect("a percentage");
            assert_eq!(percent.to_string(), text);
        }
        assert_eq!("5".parse::<Percent>().map(Percent::share), Ok(0.05));
        assert_eq!(" 5 % ".parse::<Percent>().map(Percent::share), Ok(0.05));
    }

    #[test]
    fn what_is_no_percentage_is_refused_by_its_text() {
        for text in ["", "%", "-1%", "NaN", "inf", "5%%", "five"] {
            let error = text.parse::<Percent>().expect_err("no percentage");
            assert!(error.to_string().contains(&format!("'{text}'")), "{error}");
        }
    }
}
