//! Stages: what is done to a new file system before its phases, so that they run on a used one.
//!
//! ```text
//!     age=churn                                      with the profile's own targets
//!     age=churn,full=80%,score=0.6,turnover=3        with others
//!     fill=80%                                       files, and nothing else, until that is full
//! ```

use std::fmt;
use std::str::FromStr;

use crate::{Bytes, nearest_name, suggestion};

/// The directory below the root for the stages' files; phases do not touch it.
pub const AGED_DIRECTORY: &str = ".aged";

/// Most file systems do not work when fuller than this.
const FULL_PERCENT_MAX: u8 = 98;
/// In hundredths: a thousand times the capacity takes too long.
const TURNOVER_MAX: u32 = 100_000;

/// A stage of a new file system before its phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Files are created, extended and deleted until the file system is as full and as fragmented
    /// as requested.
    Age(Ageing),
    /// Files are created until so many percent of the capacity are used.
    Fill {
        /// 1 to 98.
        full_percent: u8,
    },
}

/// How a file system is aged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ageing {
    /// The kind of files and of changes.
    pub profile: &'static AgeProfile,
    /// Fill level during ageing: percent of its capacity, 1 to 98.
    pub full_percent: u8,
    /// The layout score at which ageing ends, in hundredths; `None`: it continues to `turnover`.
    pub score_hundredths: Option<u8>,
    /// Ageing ends after so many hundredths of the capacity are written to the full file system.
    pub turnover_hundredths: u32,
}

/// A pattern of creating and deleting files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgeProfile {
    /// Its name in subjects.
    pub name: &'static str,
    /// Description in one line.
    pub title: &'static str,
    /// The shortest file; lengths are log-uniform.
    pub file_bytes_min: u64,
    /// The longest file, if the file system has room for it.
    pub file_bytes_max: u64,
    /// Number of directories.
    pub directories: u32,
    /// Percent of writes that extend an existing file; the rest create a new one.
    pub append_percent: u8,
    /// Default fill level.
    pub full_percent: u8,
    /// Default turnover, in hundredths of the capacity.
    pub turnover_hundredths: u32,
}

/// Every profile, by name. The first is for general use.
pub const AGE_PROFILES: &[AgeProfile] = &[
    AgeProfile {
        name: "churn",
        title: "general use: files of all sizes, three writings in ten extend one",
        file_bytes_min: Bytes::kib(1).0,
        file_bytes_max: Bytes::mib(4).0,
        directories: 200,
        append_percent: 30,
        full_percent: 60,
        turnover_hundredths: 300,
    },
    AgeProfile {
        name: "mail",
        title: "mailboxes: many small files, half of the writings extend one",
        file_bytes_min: Bytes::kib(1).0,
        file_bytes_max: Bytes::kib(256).0,
        directories: 500,
        append_percent: 50,
        full_percent: 60,
        turnover_hundredths: 300,
    },
    AgeProfile {
        name: "media",
        title: "recordings: few large files, hardly any of which is extended",
        file_bytes_min: Bytes::mib(1).0,
        file_bytes_max: Bytes::mib(256).0,
        directories: 20,
        append_percent: 2,
        full_percent: 60,
        turnover_hundredths: 300,
    },
];

/// Why a text is not a stage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseStageError {
    /// No profile has that name.
    #[error(
        "there is no ageing profile '{name}'; the profiles are {}{}",
        profiles(),
        suggestion(*nearest)
    )]
    Profile {
        /// The name given.
        name: String,
        /// The most similar known name.
        nearest: Option<&'static str>,
    },
    /// A key that ageing does not have.
    #[error("ageing has no setting '{0}'; its settings are full, score and turnover")]
    Key(String),
    /// A key given twice.
    #[error("'{0}' is given twice")]
    Twice(String),
    /// An invalid value.
    #[error("'{key}={value}': {wanted}")]
    Value {
        /// Its key.
        key: &'static str,
        /// The value given.
        value: String,
        /// The valid values.
        wanted: &'static str,
    },
}

fn profiles() -> String {
    let names: Vec<_> = AGE_PROFILES.iter().map(|profile| profile.name).collect();
    names.join(", ")
}

impl Stage {
    /// The fill level afterwards, in percent of the capacity.
    pub fn full_percent(&self) -> u8 {
        match self {
            Self::Age(ageing) => ageing.full_percent,
            Self::Fill { full_percent } => *full_percent,
        }
    }

    /// Its key in subjects, which is also the name of its step.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Age(_) => "age",
            Self::Fill { .. } => "fill",
        }
    }

    /// Reads a stage with the key `name`; `None` if no stage has that key.
    pub fn parse(name: &str, value: &str) -> Option<Result<Self, ParseStageError>> {
        match name {
            "age" => Some(value.parse().map(Self::Age)),
            "fill" => {
                let full = percent("fill", value);
                Some(full.map(|full_percent| Self::Fill { full_percent }))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Age(ageing) => write!(f, "age={ageing}"),
            Self::Fill { full_percent } => write!(f, "fill={full_percent}%"),
        }
    }
}

impl Ageing {
    /// With the defaults of `profile`.
    pub fn of(profile: &'static AgeProfile) -> Self {
        Self {
            profile,
            full_percent: profile.full_percent,
            score_hundredths: None,
            turnover_hundredths: profile.turnover_hundredths,
        }
    }
}

impl FromStr for Ageing {
    type Err = ParseStageError;

    fn from_str(text: &str) -> Result<Self, ParseStageError> {
        let mut parts = text.split(',').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let profile = AGE_PROFILES.iter().find(|profile| profile.name == name);
        let mut ageing = Self::of(profile.ok_or_else(|| ParseStageError::Profile {
            name: name.to_owned(),
            nearest: nearest_name(name, AGE_PROFILES.iter().map(|profile| profile.name)),
        })?);
        let mut seen: Vec<&str> = Vec::new();
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if seen.contains(&key) {
                return Err(ParseStageError::Twice(key.to_owned()));
            }
            seen.push(key);
            match key {
                "full" => ageing.full_percent = percent("full", value)?,
                "score" => ageing.score_hundredths = Some(score(value)?),
                "turnover" => ageing.turnover_hundredths = turnover(value)?,
                _ => return Err(ParseStageError::Key(key.to_owned())),
            }
        }
        Ok(ageing)
    }
}

impl fmt::Display for Ageing {
    /// Values equal to the profile's are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.profile.name)?;
        if self.full_percent != self.profile.full_percent {
            write!(f, ",full={}%", self.full_percent)?;
        }
        if let Some(score) = self.score_hundredths {
            write!(f, ",score={}", written(score.into()))?;
        }
        if self.turnover_hundredths != self.profile.turnover_hundredths {
            write!(f, ",turnover={}", written(self.turnover_hundredths))?;
        }
        Ok(())
    }
}

fn percent(key: &'static str, value: &str) -> Result<u8, ParseStageError> {
    let number = value.strip_suffix('%').map(str::trim_end);
    let number = number.and_then(|number| number.parse().ok());
    number
        .filter(|percent| (1..=FULL_PERCENT_MAX).contains(percent))
        .ok_or_else(|| ParseStageError::Value {
            key,
            value: value.to_owned(),
            wanted: "expected 1% to 98%",
        })
}

fn score(value: &str) -> Result<u8, ParseStageError> {
    let score = hundredths(value).and_then(|score| u8::try_from(score).ok());
    score
        .filter(|score| (1..100).contains(score))
        .ok_or_else(|| ParseStageError::Value {
            key: "score",
            value: value.to_owned(),
            wanted: "expected 0.01 to 0.99",
        })
}

fn turnover(value: &str) -> Result<u32, ParseStageError> {
    hundredths(value)
        .filter(|turnover| (1..=TURNOVER_MAX).contains(turnover))
        .ok_or_else(|| ParseStageError::Value {
            key: "turnover",
            value: value.to_owned(),
            wanted: "expected 0.01 to 1000 times the capacity",
        })
}

/// `0.6` is 60; at most two decimals.
fn hundredths(text: &str) -> Option<u32> {
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if integer.is_empty() || fraction.len() > 2 || !is_number(integer) || !is_number(fraction) {
        return None;
    }
    let integer: u32 = integer.parse().ok()?;
    let fraction: u32 = format!("{fraction:0<2}").parse().ok()?;
    integer.checked_mul(100)?.checked_add(fraction)
}

/// The shortest text that [`hundredths`] reads back.
fn written(hundredths: u32) -> String {
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn age(text: &str) -> Result<Ageing, ParseStageError> {
        text.parse()
    }

    #[test]
    fn what_is_left_out_the_profile_says() {
        let plain = age("churn").expect("a profile");
        assert_eq!(plain, Ageing::of(&AGE_PROFILES[0]));
        let full = age("churn,turnover=0.5,full=80 %,score=0.6").expect("all of it");
        assert_eq!((full.full_percent, full.score_hundredths), (80, Some(60)));
        assert_eq!(full.turnover_hundredths, 50);
        assert_eq!(full.to_string(), "churn,full=80%,score=0.6,turnover=0.5");
    }

    #[test]
    fn what_is_printed_reads_back() {
        for text in ["mail", "media,full=90%,score=0.05,turnover=12.25"] {
            let ageing = age(text).expect(text);
            assert_eq!(ageing.to_string(), text);
            assert_eq!(age(&ageing.to_string()), Ok(ageing));
        }
        for text in ["100", "1", "1.5", "0.07", "10.1"] {
            assert_eq!(hundredths(text).map(written).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, word) in [
            ("chrun", "did you mean 'churn'?"),
            ("", "the profiles are churn, mail, media"),
            ("churn,fill=80%", "no setting 'fill'"),
            ("churn,full=80", "full=80"),
            ("churn,full=99%", "1% to 98%"),
            ("churn,score=1", "0.01 to 0.99"),
            ("churn,score=0.123", "0.01 to 0.99"),
            ("churn,turnover=0", "turnover=0"),
            ("churn,turnover=-1", "turnover=-1"),
            ("churn,full=50%,full=60%", "twice"),
        ] {
            let error = age(text).expect_err(text).to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
        assert!(Stage::parse("fill", "0%").is_some_and(|stage| stage.is_err()));
        assert_eq!(Stage::parse("noatime", ""), None);
    }

    #[test]
    fn the_profiles_make_sense() {
        for profile in AGE_PROFILES {
            assert!(profile.file_bytes_min > 0 && profile.directories > 0);
            assert!(profile.file_bytes_min < profile.file_bytes_max);
            assert!(profile.append_percent < 100 && profile.full_percent <= FULL_PERCENT_MAX);
        }
    }
}
