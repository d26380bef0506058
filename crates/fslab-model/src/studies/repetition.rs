//! Repetition of measurements by level.
//!
//! ```text
//!     repeat      mkfs, mount, phases, unmount: a separate trial on a new file system
//!       mount     the same file system, mounted again
//!         iteration    the same mount, the phases again in a new directory
//! ```
//!
//! Mounts and iterations share a file system: a trial gives one value of a figure, the mean of its
//! rounds, and only trials are independent of each other.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Percent;

/// The rounds of one trial: iterations at each mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rounds {
    /// Mounts of one file system, 1 to 999.
    #[schemars(range(min = 1, max = 999))]
    pub mounts: u32,
    /// Iterations in one mount, 1 to 999.
    #[schemars(range(min = 1, max = 999))]
    pub iterations: u32,
}

impl Rounds {
    /// The phases run once.
    pub const ONE: Self = Self {
        mounts: 1,
        iterations: 1,
    };

    /// True if the phases run once.
    pub fn is_one(&self) -> bool {
        *self == Self::ONE
    }

    /// Every round, in order.
    pub fn each(self) -> impl Iterator<Item = Round> {
        (0..self.mounts).flat_map(move |mount| {
            (0..self.iterations).map(move |iteration| Round { mount, iteration })
        })
    }
}

impl Default for Rounds {
    fn default() -> Self {
        Self::ONE
    }
}

/// One of the rounds of a trial.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Round {
    /// The mount, from 0.
    pub mount: u32,
    /// The iteration in that mount, from 0.
    pub iteration: u32,
}

/// Further repeats of a cell until its key figures reach a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Adaptive {
    /// The maximum of repeats; at least the plan's minimum.
    pub repeats_max: u32,
    /// Largest relative half-width of the 95 % interval of each key figure.
    pub target: Percent,
    /// The phases whose headline figures are key figures; empty: all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<String>,
    /// True if a key figure needs no further repeats, either, once its subject's difference from
    /// the best is decided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_decided: bool,
    /// No further repeat begins that would probably end after so many seconds of the run; `None`:
    /// no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<u32>,
}

impl Adaptive {
    /// The default target.
    pub const TARGET: Percent = Percent::of_share(0.05);
    /// The budget of a comparison to which no option of repetition was given.
    pub const BUDGET_S: u32 = 300;

    /// The option `--budget`, if it ended the repeats.
    fn budget_option(&self) -> Option<&'static str> {
        let by_default = self.until_decided.then_some(Self::BUDGET_S);
        let is_given = self.budget_s.is_some() && self.budget_s != by_default;
        is_given.then_some("--budget")
    }

    /// The command that continues a run with this rule with the range `repeats`, in words.
    pub fn continued_with_range(rule: Option<&Self>, repeats: impl fmt::Display) -> String {
        let without = rule.and_then(Self::budget_option);
        command(repeats, without.as_slice())
    }

    /// The command that continues a run with this rule with a fixed number of repeats, in words.
    /// Options that end repeats cannot stand beside such a number.
    pub fn continued_with(rule: Option<&Self>, repeats: u32) -> String {
        let mut without = Vec::from_iter(rule.and_then(Self::budget_option));
        without.extend(rule.and_then(|it| (it.target != Self::TARGET).then_some("--target")));
        without.extend(rule.and_then(|it| (!it.key.is_empty()).then_some("--key")));
        command(repeats, &without)
    }
}

fn command(repeats: impl fmt::Display, without: &[&str]) -> String {
    let options = match without {
        [] => String::new(),
        options => format!(" (without {})", options.join(", ")),
    };
    format!("the same command with --resume --repeats {repeats}{options}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_continued_without_the_options_that_would_end_it_again() {
        let by_default = Adaptive {
            repeats_max: 30,
            target: Adaptive::TARGET,
            key: Vec::new(),
            until_decided: true,
            budget_s: Some(Adaptive::BUDGET_S),
        };
        let same = "the same command with --resume --repeats";
        for rule in [None, Some(&by_default)] {
            assert_eq!(Adaptive::continued_with(rule, 9), format!("{same} 9"));
            let range = Adaptive::continued_with_range(rule, "3..20");
            assert_eq!(range, format!("{same} 3..20"));
        }
        let limited = Adaptive {
            key: vec!["read".to_owned()],
            budget_s: Some(20),
            ..by_default
        };
        assert_eq!(
            Adaptive::continued_with(Some(&limited), 9),
            format!("{same} 9 (without --budget, --key)")
        );
        assert_eq!(
            Adaptive::continued_with_range(Some(&limited), "3..20"),
            format!("{same} 3..20 (without --budget)")
        );
    }

    #[test]
    fn rounds_go_mount_by_mount() {
        let rounds = Rounds {
            mounts: 2,
            iterations: 2,
        };
        let each: Vec<_> = rounds.each().map(|r| (r.mount, r.iteration)).collect();
        assert_eq!(each, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        assert!(Rounds::default().is_one() && !rounds.is_one());
    }
}
