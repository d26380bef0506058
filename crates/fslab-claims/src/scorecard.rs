//! The outcome of each claim, with the numbers that it rests on.

use fslab_stats::Interval;
use serde::{Serialize, Serializer};

use crate::Limits;

/// What a run says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It contradicts it.
    Fails,
    /// It lacks what would tell.
    NotMeasured,
    /// It is not certain enough: an interval contains the limit, or there is none.
    Undecided,
    /// It confirms it.
    Holds,
}

impl Outcome {
    /// Every outcome, in the order in which they are counted.
    pub const ALL: [Self; 4] = [Self::Holds, Self::Fails, Self::Undecided, Self::NotMeasured];

    /// The outcome in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
            Self::NotMeasured => "not measured",
        }
    }
}

/// What the number of a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// A ratio of scores.
    Ratio,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
    /// Percent.
    Percent,
    /// A plain number.
    Number,
    /// Bytes or operations per second.
    Rate,
}

/// One number that a claim rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Of what it is: `ext4 / ntfs3`.
    pub what: String,
    /// What it says of its part of the claim.
    pub outcome: Outcome,
    /// The number; `None` where there is none. An infinite one is the text `infinite`.
    #[serde(serialize_with = "number")]
    pub value: Option<f64>,
    /// What the number is.
    pub quantity: Quantity,
    /// The 95 % interval; of width zero where the number is exact.
    #[serde(serialize_with = "ends")]
    pub interval: Option<Interval>,
    /// What is wanted of it.
    pub limits: Limits,
    /// Over how many points and phases it was taken.
    pub places: usize,
    /// Why there is no number, or no certainty; else what more there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// The values over a dimension, where there is one; `None` for a value that is infinite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<(f64, Option<f64>)>,
}

/// A subject of the original, and what is measured in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StandIn {
    /// The original's.
    pub original: String,
    /// The run's.
    pub measured: String,
}

/// What a run says of one claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The claim's short name.
    pub id: String,
    /// What it claims.
    pub text: String,
    /// Where it stands in the original.
    pub source: String,
    /// Its kind.
    pub kind: &'static str,
    /// Whether a check fails where it does not hold.
    pub required: bool,
    /// Whether the original's own numbers contradict it.
    pub contradicted: bool,
    /// What the run says.
    pub outcome: Outcome,
    /// The numbers in one sentence, or why there is none.
    pub sentence: String,
    /// Who stood for whom.
    pub stand_ins: Vec<StandIn>,
    /// The numbers.
    pub findings: Vec<Finding>,
}

/// The claims of an original, as a run sees them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scorecard {
    /// The study of the claims.
    pub study: String,
    /// The run.
    pub run: String,
    /// One verdict a claim, in the order of the claims.
    pub verdicts: Vec<Verdict>,
}

impl Scorecard {
    /// How many claims have that outcome.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        let verdicts = self.verdicts.iter();
        verdicts
            .filter(|verdict| verdict.outcome == outcome)
            .count()
    }

    /// The required claims that the run contradicts.
    pub fn broken(&self) -> impl Iterator<Item = &Verdict> {
        let is_broken = |verdict: &&Verdict| verdict.required && verdict.outcome == Outcome::Fails;
        self.verdicts.iter().filter(is_broken)
    }
}

/// JSON has no infinity.
fn number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) if value.is_infinite() => serializer.serialize_str("infinite"),
        value => value.serialize(serializer),
    }
}

fn ends<S: Serializer>(interval: &Option<Interval>, serializer: S) -> Result<S::Ok, S::Error> {
    let finite = interval.filter(|ends| ends.low.is_finite() && ends.high.is_finite());
    finite
        .map(|ends| [ends.low, ends.high])
        .serialize(serializer)
}
