//! What an original claims, in a form that a run can confirm or contradict.
//!
//! ```text
//!     Claims --- Claim --- Holds --- Kind       what must be so, of which subjects and phases
//!                            +------ Score      by which figure
//!                            +------ where      at which points of a sweep
//! ```

use std::collections::BTreeMap;

use fslab_model::{PointValue, VenueKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{PointRange, Score};

/// The claims of one original.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// The study that repeats it.
    pub study: String,
    /// What is measured in the place of a subject of the original, by the original's name.
    pub stand_in: BTreeMap<String, String>,
    /// Which sizes are to be seen against the memory.
    pub memory: Option<MemoryRule>,
    /// The claims, in the order of the file.
    pub claims: Vec<Claim>,
}

/// Sizes that mean a multiple of the machine's memory: where a run has another memory than the
/// original, they are multiplied by the ratio of the two, rounded to a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRule {
    /// The dimension of the sweep.
    pub dimension: String,
    /// The original's memory in bytes.
    pub original: u64,
    /// Sizes from here on mean a multiple of it.
    pub from: u64,
}

/// One claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its short name, unique in its study.
    pub id: String,
    /// What is claimed, in a sentence.
    pub text: String,
    /// Where it stands in the original.
    pub source: String,
    /// Whether a check fails where it does not hold.
    pub required: bool,
    /// Whether the original's own numbers contradict it.
    pub contradicted: bool,
    /// Where it may be checked; `None`: everywhere.
    pub venues: Option<Vec<VenueKind>>,
    /// What must be so.
    pub holds: Holds,
}

/// What must be so.
#[derive(Clone, Debug, PartialEq)]
pub struct Holds {
    /// By which figure subjects and phases are compared.
    pub score: Score,
    /// At which points of a sweep, by dimension.
    pub condition: BTreeMap<String, PointRange>,
    /// Of whom, and how much.
    pub kind: Kind,
}

/// Limits of a figure, ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// The least.
    pub at_least: Option<f64>,
    /// The most.
    pub at_most: Option<f64>,
    /// Whether `at_least` itself is too little: "faster" without a limit is more than 1.
    pub strict: bool,
}

/// Shapes of a series of scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Shape {
    /// Rises.
    Rises,
    /// Falls.
    Falls,
    /// Stays level.
    Levels,
    /// Rises, then stays level.
    RisesThenLevels,
    /// Rises, then falls.
    RisesThenFalls,
    /// Drops at one value.
    Cliff,
}

/// Ends of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Position {
    /// The best.
    #[default]
    First,
    /// The worst.
    Last,
}

/// Two phases, the first divided by the second.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PhasePair {
    /// Numerator.
    pub phase: String,
    /// Denominator.
    pub than: String,
}

/// The kinds of claim; docs/claims.md says what each means.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Each of `subjects` against each of `than`.
    Faster {
        /// The phases.
        phases: Vec<String>,
        /// Above the line.
        subjects: Vec<String>,
        /// Below it.
        than: Vec<String>,
        /// Of the ratio of scores.
        limits: Limits,
    },
    /// `subjects` are the best, or among the best.
    Best(Among),
    /// `subjects` are the worst, or among the worst.
    Worst(Among),
    /// Scores fall along `subjects`.
    Order {
        /// The phases.
        phases: Vec<String>,
        /// From the best to the worst.
        subjects: Vec<String>,
    },
    /// A phase against another of the same subject.
    Phases {
        /// The two phases.
        pair: PhasePair,
        /// Of each of these.
        subjects: Vec<String>,
        /// Of the ratio of scores.
        limits: Limits,
    },
    /// Such a ratio against another of the same subject.
    Gain {
        /// Above the line.
        pair: PhasePair,
        /// Below it.
        against: PhasePair,
        /// Of each of these.
        subjects: Vec<String>,
        /// Of the ratio of ratios.
        limits: Limits,
    },
    /// The scores over one dimension.
    Trend {
        /// The phases.
        phases: Vec<String>,
        /// Of each of these.
        subjects: Vec<String>,
        /// The dimension.
        over: String,
        /// Which way it must go.
        shape: Shape,
        /// Where it ends, begins, or drops.
        at: Option<PointValue>,
    },
    /// A figure itself.
    Value {
        /// In each of these phases.
        phases: Vec<String>,
        /// Of each of these.
        subjects: Vec<String>,
        /// In the figure's base unit.
        limits: Limits,
        /// The limits as they were written.
        written: String,
    },
    /// The values of a list, one an event.
    Sequence {
        /// The phase.
        phase: String,
        /// Of each of these.
        subjects: Vec<String>,
        /// The values; behind their end the last one repeats.
        values: Vec<f64>,
    },
    /// First, or last, in how many phases.
    Wins {
        /// Who.
        subject: String,
        /// Among which.
        phases: Vec<String>,
        /// Against whom; `None`: all that were measured.
        among: Option<Vec<String>>,
        /// First or last.
        position: Position,
        /// In how many phases at least.
        at_least: usize,
    },
    /// How far groups of subjects lie apart, against how far their members do.
    Spread {
        /// The phases.
        phases: Vec<String>,
        /// The groups.
        groups: Vec<Vec<String>>,
        /// With one group: the disk of one run, and that of another.
        disks: Option<[String; 2]>,
        /// Of the ratio of the two largest ratios.
        at_least: f64,
    },
    /// The phase fails for each of `subjects`.
    Fails {
        /// The phase.
        phase: String,
        /// Of each of these.
        subjects: Vec<String>,
    },
}

/// A place at one end of an order.
#[derive(Clone, Debug, PartialEq)]
pub struct Among {
    /// The phases.
    pub phases: Vec<String>,
    /// Who.
    pub subjects: Vec<String>,
    /// Against whom; `None`: all that were measured.
    pub among: Option<Vec<String>>,
    /// How far from the end is still at the end; `None`: nobody else may be there.
    pub within: Option<f64>,
}

impl Kind {
    /// The word of the claims file.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Faster { .. } => "faster",
            Self::Best(_) => "best",
            Self::Worst(_) => "worst",
            Self::Order { .. } => "order",
            Self::Phases { .. } => "phases",
            Self::Gain { .. } => "gain",
            Self::Trend { .. } => "trend",
            Self::Value { .. } => "value",
            Self::Sequence { .. } => "sequence",
            Self::Wins { .. } => "wins",
            Self::Spread { .. } => "spread",
            Self::Fails { .. } => "fails",
        }
    }
}

/// What a power and a logarithm leave of a ratio, as a share of it.
const ROUNDING: f64 = 1e-12;

impl Limits {
    /// Whether `value` is within them.
    #[must_use]
    pub fn admit(&self, value: f64) -> bool {
        !self.is_below(value) && !self.is_above(value)
    }

    /// Whether `value` is too little. A figure is at its limit where only rounding parts the two;
    /// against a strict one there is nothing to round, since equals are equal to the last digit.
    pub(crate) fn is_below(&self, value: f64) -> bool {
        self.at_least.is_some_and(|least| {
            if self.strict {
                value <= least
            } else {
                value < least * (1.0 - ROUNDING)
            }
        })
    }

    /// Whether `value` is too much.
    pub(crate) fn is_above(&self, value: f64) -> bool {
        self.at_most
            .is_some_and(|most| value > most * (1.0 + ROUNDING))
    }
}
