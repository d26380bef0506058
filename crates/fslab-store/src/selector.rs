//! Which run a person means: `last`, a whole name, or the beginning of one.

use std::fmt;
use std::str::FromStr;

use fslab_model::{ParseRunIdError, RunId};

/// Which run of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunSelector {
    /// The run that began last.
    Last,
    /// The run of that name, or else the only one whose name begins with it.
    Named(RunId),
}

impl FromStr for RunSelector {
    type Err = ParseRunIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
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
}
