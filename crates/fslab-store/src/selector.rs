//! Selecting a run: `last`, `last~N`, a complete name, or the beginning of one.

use std::fmt;
use std::str::FromStr;

use fslab_model::{ParseRunIdError, RunId};

/// Prefix of a number of runs before the last.
const BEFORE: &str = "last~";

/// Selects a run of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunSelector {
    /// The run that began last.
    Last,
    /// The run that began so many before the last.
    Before(u32),
    /// The run of that name, or the only one whose name begins with it.
    Named(RunId),
}

impl RunSelector {
    /// The runs of `last~5..last~1`, the latest last; of any other text the one run that it
    /// selects.
    ///
    /// # Errors
    /// If it, or an end of it, cannot be a run's name, or the ends are not counted from the last
    /// run.
    pub fn range(text: &str) -> Result<Vec<Self>, ParseRunIdError> {
        let Some((from, to)) = text.split_once("..") else {
            return Ok(vec![text.parse()?]);
        };
        let back = |end: &str| match end.parse() {
            Ok(Self::Last) => Some(0),
            Ok(Self::Before(back)) => Some(back),
            _ => None,
        };
        match (back(from), back(to)) {
            (Some(from), Some(to)) if from >= to => {
                Ok((to..=from).rev().map(Self::Before).collect())
            }
            _ => Err(ParseRunIdError::of(text)),
        }
    }
}

impl FromStr for RunSelector {
    type Err = ParseRunIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(back) = text.strip_prefix(BEFORE) {
            let back = back.parse().map_err(|_| ParseRunIdError::of(text))?;
            return Ok(Self::Before(back));
        }
        match text {
            "last" => Ok(Self::Last),
            name => name.parse().map(Self::Named),
        }
    }
}

impl fmt::Display for RunSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Before(back) => write!(f, "{BEFORE}{back}"),
            Self::Named(name) => name.fmt(f),
        }
    }
}

impl From<RunId> for RunSelector {
    fn from(run: RunId) -> Self {
        Self::Named(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_is_a_word_and_everything_else_a_name() {
        assert_eq!("last".parse(), Ok(RunSelector::Last));
        let named: RunSelector = "20261121-14".parse().expect("a beginning");
        assert_eq!(named.to_string(), "20261121-14");
        assert!("../last".parse::<RunSelector>().is_err());
    }

    #[test]
    fn runs_are_counted_back_from_the_last() {
        assert_eq!("last~3".parse(), Ok(RunSelector::Before(3)));
        assert_eq!(RunSelector::Before(3).to_string(), "last~3");
        let range = |text| RunSelector::range(text);
        let before = |back: &[u32]| Ok(back.iter().copied().map(RunSelector::Before).collect());
        assert_eq!(range("last~3..last~1"), before(&[3, 2, 1]));
        assert_eq!(range("last~1..last"), before(&[1, 0]));
        assert_eq!(range("last"), Ok(vec![RunSelector::Last]));
        for text in [
            "last~",
            "last~-1",
            "last~x",
            "last~1..last~2",
            "last~2..",
            "a..last",
        ] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
