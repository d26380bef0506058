//! Stages: what is done to a fresh file system before its phases, so that they meet one that was
//! lived in.
//!
//! ```text
//!     age=churn                                      with the profile's own targets
//!     age=churn,full=80%,score=0.6,turnover=3        with others
//!     fill=80%                                       files, and nothing else, until that is full
//! ```

use std::fmt;
use std::str::FromStr;

use crate::{Bytes, nearest_name};

/// The directory below the root in which stages work; phases leave it alone.
pub const AGED_DIRECTORY: &str = ".aged";

/// Fuller than this, hardly any file system works.
const FULL_PERCENT_MAX: u8 = 98;
/// In hundredths: a thousand times the capacity is more than anybody waits for.
const TURNOVER_MAX: u32 = 100_000;

/// What is done to a fresh file system before its phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Files are made, extended and deleted until it is as full, and as much in pieces, as asked.
    Age(Ageing),
    /// Files are made until that many percent of its capacity are used.
    Fill {
        /// 1 to 98.
        full_percent: u8,
    },
}

/// How a file system is aged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ageing {
    /// Which files, and what becomes of them.
    pub profile: &'static AgeProfile,
    /// How full it gets first, and stays: percent of its capacity, 1 to 98.
    pub full_percent: u8,
    /// The layout score at which ageing ends, in hundredths; `None`: it goes on to `turnover`.
    pub score_hundredths: Option<u8>,
    /// Ageing ends when this many hundredths of the capacity were written after it was full.
    pub turnover_hundredths: u32,
}

/// A way in which files come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgeProfile {
    /// Its name in subjects.
    pub name: &'static str,
    /// What it is like, in one line.
    pub title: &'static str,
    /// The shortest file; the logarithms of lengths are spread evenly.
    pub file_bytes_min: u64,
    /// The longest file, on a file system that has room for it.
    pub file_bytes_max: u64,
    /// Directories in which the files are.
    pub directories: u32,
    /// Of a hundred writings, so many extend a file that is there; the rest make a new one.
    pub append_percent: u8,
    /// How full it gets where nothing else is said.
    pub full_percent: u8,
    /// Hundredths of the capacity that are written where nothing else is said.
    pub turnover_hundredths: u32,
}

/// Every profile, by name. The first is that of a file system in general use.
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

/// Why a text is no stage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseStageError {
    /// No profile has that name.
    #[error(
        "there is no ageing profile '{name}'{}; known are {}",
        did_you_mean(*nearest),
        profiles()
    )]
    Profile {
        /// What was written.
        name: String,
        /// The known name that is nearest.
        nearest: Option<&'static str>,
    },
    /// A word that ageing does not know.
    #[error("ageing has no '{0}'; it has full, score and turnover")]
    Key(String),
    /// The same word twice.
    #[error("'{0}' stands there twice")]
    Twice(String),
    /// A value that makes no sense.
    #[error("'{key}={value}': {wanted}")]
    Value {
        /// Of what.
        key: &'static str,
        /// What was written.
        value: String,
        /// What can stand there.
        wanted: &'static str,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

fn profiles() -> String {
    let names: Vec<_> = AGE_PROFILES.iter().map(|profile| profile.name).collect();
    names.join(", ")
}

impl Stage {
    /// How full the file system is afterwards, in percent of its capacity.
    #[must_use]
    pub fn full_percent(&self) -> u8 {
        match self {
            Self::Age(ageing) => ageing.full_percent,
            Self::Fill { full_percent } => *full_percent,
        }
    }

    /// Its word in subjects, which is also the name of its step.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Age(_) => "age",
            Self::Fill { .. } => "fill",
        }
    }

    /// Reads a stage whose word is `name`; `None` where no stage has that word.
    #[must_use]
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
    /// As `profile` does it where nothing else is said.
    #[must_use]
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
    /// What the profile says itself is left out.
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
            wanted: "it takes 1% to 98%",
        })
}

fn score(value: &str) -> Result<u8, ParseStageError> {
    let score = hundredths(value).and_then(|score| u8::try_from(score).ok());
    score
        .filter(|score| (1..100).contains(score))
        .ok_or_else(|| ParseStageError::Value {
            key: "score",
            value: value.to_owned(),
            wanted: "it takes 0.01 to 0.99",
        })
}

fn turnover(value: &str) -> Result<u32, ParseStageError> {
    hundredths(value)
        .filter(|turnover| (1..=TURNOVER_MAX).contains(turnover))
        .ok_or_else(|| ParseStageError::Value {
            key: "turnover",
            value: value.to_owned(),
            wanted: "it takes 0.01 to 1000 times the capacity",
        })
}

/// `0.6` is 60; no more than two digits behind the point.
fn hundredths(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 2 || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let whole: u32 = whole.parse().ok()?;
    let fraction: u32 = format!("{fraction:0<2}").parse().ok()?;
    whole.checked_mul(100)?.checked_add(fraction)
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
            ("", "known are churn, mail, media"),
            ("churn,fill=80%", "no 'fill'"),
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
