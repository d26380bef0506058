//! The scale of a run relative to the study's original.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Bytes;
use crate::text::text_type::text_type;

/// A scale, as a fraction: `1/20`, or `1`. Never above 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Scale {
    numerator: u32,
    denominator: u32,
}

/// Why a text is not a scale.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the scale {0:?} is not a fraction of at most 1, for example 1/20")]
pub struct ParseScaleError(String);

impl Scale {
    /// The scale of the original.
    pub const FULL: Self = Self {
        numerator: 1,
        denominator: 1,
    };

    /// True for the original's scale.
    pub fn is_full(&self) -> bool {
        *self == Self::FULL
    }

    /// As a number.
    pub fn ratio(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// `count` at this scale, rounded up, so that nothing becomes 0.
    pub fn of(self, count: u64) -> u64 {
        let scaled = u128::from(count) * u128::from(self.numerator);
        let scaled = scaled.div_ceil(u128::from(self.denominator));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

impl Default for Scale {
    fn default() -> Self {
        Self::FULL
    }
}

impl FromStr for Scale {
    type Err = ParseScaleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseScaleError(text.to_owned());
        let (numerator, denominator) = match text.strip_suffix('%') {
            Some(percent) => (percent, "100"),
            None => text.split_once('/').unwrap_or((text, "1")),
        };
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let (numerator, denominator) = (number(numerator)?, number(denominator)?);
        if numerator == 0 || numerator > denominator {
            return Err(wrong());
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        Ok(Self {
            numerator: numerator / divisor,
            denominator: denominator / divisor,
        })
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            _ => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

text_type!(Scale, ParseScaleError, {
    "description": "A fraction like \"1/20\", above 0 and at most 1.",
    "type": "string",
    "pattern": "^ *[0-9]+ *(/ *[0-9]+ *)?$",
    "examples": ["1/20"]
});

/// What of a study becomes smaller with its scale. Parameters that are not named keep their value:
/// records, thresholds, the width of directories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScaleRules {
    /// The scale where the command line names none, above 0 and at most 1.
    pub default: Scale,
    /// Parameters of workloads that are multiplied by the scale: `file_size`, `files`,
    /// `operations`.
    pub parameters: Vec<String>,
    /// True if a comparison in real time without --scale takes the scale at which its repeats fit
    /// its time budget, by the times of a pilot.
    pub by_budget: bool,
    /// Makes the size of the file system smaller, down to this. Default: the size stays.
    pub size_min: Option<Bytes>,
    /// Makes the memory of a guest smaller, down to this. Default: the memory stays.
    pub memory_min: Option<Bytes>,
    /// Multiplies the write cache of a RAID controller by the scale in the venue `sim`, so that the
    /// same share of the data fits into it.
    pub controller_cache: bool,
    /// Seconds that one trial took in the venue `sim` at the default scale, on one processor;
    /// used to estimate the time of a run. Default: there is no estimate.
    pub sim_trial_s: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_a_fraction_in_lowest_terms() {
        let scale: Scale = "2/40".parse().expect("a scale");
        assert_eq!(scale.to_string(), "1/20");
        assert_eq!((scale.of(1), scale.of(100), scale.of(101)), (1, 5, 6));
        assert_eq!("1".parse(), Ok(Scale::FULL));
        assert_eq!(Scale::FULL.of(u64::MAX), u64::MAX);
        for bad in ["", "0", "2", "3/2", "1/0", "-1/2", "0.5", "1/2/3"] {
            assert!(bad.parse::<Scale>().is_err(), "{bad}");
        }
    }
}
