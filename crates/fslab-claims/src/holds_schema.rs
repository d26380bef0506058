//! The condition of a claim as a type for the JSON Schema and the reference. Files are read by
//! [`crate::keys`], whose errors name the claim.

use std::collections::BTreeMap;

use schemars::JsonSchema;

use crate::{PhasePair, Position, Shape};

/// The condition of a claim: its kind with that kind's keys; docs/claims.md explains each.
#[derive(JsonSchema)]
#[schemars(rename = "Holds", deny_unknown_fields)]
#[expect(dead_code, reason = "describes a file, and holds nothing")]
pub(crate) struct HoldsSchema {
    /// Kind of the claim.
    kind: KindSchema,
    /// Metric that subjects and phases are compared in. Default: the headline of the phase.
    metric: Option<String>,
    /// Points of the sweep that count: a value or a range for a dimension, like `"64KiB..256KiB"`.
    #[schemars(rename = "where")]
    condition: Option<BTreeMap<String, NumberOrText>>,
    /// Phase, or phases, of the claim.
    phase: Option<OneOrMore>,
    /// Phases among which `wins` counts.
    phases: Option<Vec<String>>,
    /// Subject of the claim; instead of `subjects`.
    subject: Option<String>,
    /// Subjects of the claim; for `order`, from the best to the worst.
    subjects: Option<Vec<String>>,
    /// What is compared with: subjects for `faster`, a phase for `phases` and `gain`.
    than: Option<OneOrMore>,
    /// Second ratio of `gain`.
    against: Option<PhasePair>,
    /// Subjects that take part in `best`, `worst`, `wins` and `rank`. Default, but not for `rank`:
    /// all that were measured.
    among: Option<Vec<String>>,
    /// Distance from the end that still counts as the end, as a share, for `best` and `worst`.
    #[schemars(range(min = 0))]
    within: Option<f64>,
    /// Lower limit: of a ratio, of a number of phases, or of a figure with its unit.
    at_least: Option<NumberOrText>,
    /// Upper limit: of a ratio, of a rank, or of a figure with its unit.
    at_most: Option<NumberOrText>,
    /// Dimension of a `trend`.
    over: Option<String>,
    /// Subjects of a `trend` by whose geometric mean the scores are divided.
    relative_to: Option<Vec<String>>,
    /// Shape of a `trend`.
    shape: Option<Shape>,
    /// Value of the dimension at which a `trend` ends, begins, or drops.
    at: Option<NumberOrText>,
    /// Values of a `sequence`; after the last one, it repeats.
    values: Option<Vec<f64>>,
    /// End of the order for `wins`. Default: `"first"`.
    position: Option<Position>,
    /// Groups of subjects for `spread`.
    groups: Option<Vec<Vec<String>>>,
    /// Disks of two runs for `spread` with one group.
    #[schemars(length(equal = 2))]
    venue_disks: Option<Vec<String>>,
}

/// Kinds of claim.
#[derive(JsonSchema)]
#[schemars(rename = "ClaimKind", rename_all = "kebab-case")]
#[expect(dead_code, reason = "describes a file, and holds nothing")]
enum KindSchema {
    /// Each of `subjects` against each of `than`.
    Faster,
    /// `subjects` are the best, or within `within` of it.
    Best,
    /// `subjects` are the worst, or within `within` of it.
    Worst,
    /// Scores fall along `subjects`.
    Order,
    /// One phase against another of the same subject.
    Phases,
    /// A ratio of two phases against another such ratio.
    Gain,
    /// The shape of scores over a dimension.
    Trend,
    /// A figure within limits.
    Value,
    /// A list of values.
    Sequence,
    /// First, or last, in a number of phases.
    Wins,
    /// Among the best few of `among`.
    Rank,
    /// The distance between groups of subjects, against that within them.
    Spread,
    /// The phase fails.
    Fails,
}

/// A name, or a list of names.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes a file, and holds nothing")]
enum OneOrMore {
    /// One name.
    One(String),
    /// Several names.
    More(Vec<String>),
}

/// A number, or a text with a unit.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes a file, and holds nothing")]
enum NumberOrText {
    /// A number.
    Number(f64),
    /// With its unit.
    Text(String),
}
