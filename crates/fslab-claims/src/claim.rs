//! The claims of an original as conditions on a run's figures.
//!
//! ```text
//!     Claims --- Claim --- Holds --- ClaimKind   the condition, with its subjects and phases
//!                            +------ Score       the figure that is compared
//!                            +------ condition   the points of a sweep
//! ```

use std::collections::BTreeMap;

use fslab_model::{PointValue, VenueKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PointRange, Score};

/// The claims of one original.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// The study that repeats the original.
    pub study: String,
    /// Stand-ins: the subject that is measured, by the original's name for the one it replaces.
    pub stand_in: BTreeMap<String, String>,
    /// The subject that is mounted as the original's kernel did by default, by the original's name.
    pub then: BTreeMap<String, SubjectThen>,
    /// The platform under which the original measured a subject, by the original's name.
    pub platforms: BTreeMap<String, String>,
    /// The sizes that scale with the machine's memory.
    pub memory: Option<MemoryRule>,
    /// The claims, in the order of the file.
    pub claims: Vec<Claim>,
}

/// A subject with the options that were its defaults in the original.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ClaimsThen")]
pub struct SubjectThen {
    /// The subject as it stands in the study: `"ext3:barrier=0"`.
    #[schemars(length(min = 1))]
    pub subject: String,
    /// The document that says that these were the defaults.
    #[schemars(length(min = 1))]
    pub source: String,
}

/// Sizes that stand for a multiple of the machine's memory: in a run with other memory they are
/// multiplied by the ratio of the two, rounded to a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRule {
    /// The dimension of the sweep.
    pub dimension: String,
    /// The original's memory in bytes.
    pub original: u64,
    /// Sizes of at least this many bytes are multiplied.
    pub from: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its short name, unique in its study.
    pub id: String,
    /// The claim as a sentence.
    pub text: String,
    /// Page, figure or table of the original.
    pub source: String,
    /// Whether `fslab study check` exits with 1 if it fails.
    pub required: bool,
    /// Whether the original's own numbers contradict it.
    pub contradicted: bool,
    /// The platforms of its subjects, each of which needs a run on its own; empty: one run decides,
    /// whatever its platform.
    pub platforms: Vec<String>,
    /// The processors that the run's machine must have at least; `None`: one is enough.
    pub processors: Option<u32>,
    /// The venues in which it is checked; `None`: all.
    pub venues: Option<Vec<VenueKind>>,
    /// The condition.
    pub holds: Holds,
}

/// The condition of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Holds {
    /// The figure by which subjects and phases are compared.
    pub score: Score,
    /// The points of a sweep that count, by dimension.
    pub condition: BTreeMap<String, PointRange>,
    /// The kind, with its subjects, phases and limits.
    pub kind: ClaimKind,
}

/// Limits of a figure, both inclusive unless `strict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Limits {
    /// Lower limit.
    pub at_least: Option<f64>,
    /// Upper limit.
    pub at_most: Option<f64>,
    /// Whether `at_least` is exclusive: "faster" without a limit means more than 1.
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
    /// Stays level or falls.
    DoesNotRise,
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
pub enum ClaimKind {
    /// Each of `subjects` against each of `than`.
    Faster {
        phases: Vec<String>,
        /// Numerators of the ratios.
        subjects: Vec<String>,
        /// Denominators.
        than: Vec<String>,
        /// Limits of the ratio of scores.
        limits: Limits,
    },
    /// `subjects` are the best, or among the best.
    Best(Among),
    /// `subjects` are the worst, or among the worst.
    Worst(Among),
    /// Scores fall along `subjects`.
    Order {
        phases: Vec<String>,
        /// From the best to the worst.
        subjects: Vec<String>,
    },
    /// One phase against another of the same subject.
    Phases {
        /// The two phases.
        pair: PhasePair,
        /// The subjects, each of which must match.
        subjects: Vec<String>,
        /// Limits of the ratio of scores.
        limits: Limits,
    },
    /// A ratio of two phases against another such ratio of the same subject.
    Gain {
        /// The phases of the numerator.
        pair: PhasePair,
        /// The phases of the denominator.
        against: PhasePair,
        /// The subjects, each of which must match.
        subjects: Vec<String>,
        /// Limits of the ratio of ratios.
        limits: Limits,
    },
    /// The shape of the scores over one dimension of a sweep.
    Trend {
        phases: Vec<String>,
        /// The subjects, each of which must match.
        subjects: Vec<String>,
        /// The dimension.
        over: String,
        /// The subjects by whose mean the scores are divided; empty: they are not.
        relative_to: Vec<String>,
        shape: Shape,
        /// The value of the dimension at which the shape ends, begins, or drops.
        at: Option<PointValue>,
    },
    /// A figure within limits.
    Value {
        /// The phases, each of which must match.
        phases: Vec<String>,
        /// The subjects, each of which must match.
        subjects: Vec<String>,
        /// Limits in the figure's base unit.
        limits: Limits,
        /// The limits as written in the file.
        written: String,
    },
    /// The values of a list that the workload records, one per event.
    Sequence {
        phase: String,
        /// The subjects, each of which must match.
        subjects: Vec<String>,
        /// The expected values; the last one repeats.
        values: Vec<f64>,
    },
    /// First, or last, in at least a number of phases.
    Wins {
        subject: String,
        /// The phases that are counted.
        phases: Vec<String>,
        /// The subjects compared with; `None`: all that were measured.
        among: Option<Vec<String>>,
        /// First or last.
        position: Position,
        /// The least number of phases.
        at_least: usize,
    },
    /// Among the best few.
    Rank {
        phases: Vec<String>,
        /// The subjects, each of which must be.
        subjects: Vec<String>,
        /// The subjects compared with.
        among: Vec<String>,
        /// The last rank that counts.
        at_most: usize,
    },
    /// The largest ratio between groups of subjects, against the largest ratio within a group.
    Spread {
        phases: Vec<String>,
        groups: Vec<Vec<String>>,
        /// With one group: the simulated disks of the two runs to compare.
        disks: Option<[String; 2]>,
        /// Lower limit of the ratio of the two largest ratios.
        at_least: f64,
    },
    /// The phase fails for each of `subjects`.
    Fails {
        phase: String,
        /// The subjects, each of which must match.
        subjects: Vec<String>,
    },
}

/// The condition of `best` and `worst`.
#[derive(Clone, Debug, PartialEq)]
pub struct Among {
    pub phases: Vec<String>,
    pub subjects: Vec<String>,
    /// The subjects compared with; `None`: all that were measured.
    pub among: Option<Vec<String>>,
    /// Distance from the best, or worst, that still counts, as a share; `None`: no distance.
    pub within: Option<f64>,
}

impl ClaimKind {
    /// The word of the claims file.
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
            Self::Rank { .. } => "rank",
            Self::Spread { .. } => "spread",
            Self::Fails { .. } => "fails",
        }
    }
}

/// Rounding error of a power and a logarithm, relative to the value.
const ROUNDING: f64 = 1e-12;

impl Limits {
    /// Whether `value` is within the limits.
    pub fn admit(&self, value: f64) -> bool {
        !self.is_below(value) && !self.is_above(value)
    }

    /// Whether `value` is below the lower limit. An inclusive limit allows for rounding; a strict
    /// one need not, since equal figures are equal to the last digit.
    pub(crate) fn is_below(&self, value: f64) -> bool {
        self.at_least.is_some_and(|least| {
            if self.strict {
                value <= least
            } else {
                value < least * (1.0 - ROUNDING)
            }
        })
    }

    /// Whether `value` is above the upper limit.
    pub(crate) fn is_above(&self, value: f64) -> bool {
        self.at_most
            .is_some_and(|most| value > most * (1.0 + ROUNDING))
    }
}
