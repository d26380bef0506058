//! The outcome of each claim, with the numbers that support it.

use fslab_stats::Interval;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{Limits, Measure};

/// The outcome of a claim.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ClaimOutcome {
    /// The run contradicts the claim.
    Fails,
    /// The claim is about a subject or a platform that the run does not have.
    #[strum(serialize = "not applicable")]
    NotApplicable,
    /// The run lacks a phase, a point or a figure.
    #[strum(serialize = "not measured")]
    NotMeasured,
    /// An interval contains the limit, or there is no interval.
    Undecided,
    /// The run confirms the claim.
    Holds,
}

impl From<Measure> for Quantity {
    fn from(measure: Measure) -> Self {
        match measure {
            Measure::Time => Self::Time,
            Measure::Size => Self::Size,
            Measure::Percent => Self::Percent,
            Measure::Number => Self::Number,
            Measure::Rate => Self::Rate,
        }
    }
}

impl ClaimOutcome {
    /// Every outcome, in the order in which they are counted.
    pub const ALL: [Self; 5] = [
        Self::Holds,
        Self::Fails,
        Self::Undecided,
        Self::NotMeasured,
        Self::NotApplicable,
    ];

    /// The outcome in words.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether there is a number.
    pub fn is_measured(self) -> bool {
        !matches!(self, Self::NotMeasured | Self::NotApplicable)
    }
}

/// The quantity of a finding's number, with its base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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

/// One number that supports or contradicts a claim.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// The subjects or phases: `ext4 / ntfs3`.
    pub what: String,
    /// The outcome of its part of the claim.
    pub outcome: ClaimOutcome,
    /// The number; `None` where there is none. An infinite one is the text `infinite`.
    #[serde(serialize_with = "number")]
    #[schemars(with = "Option<NumberOrInfinite>")]
    pub value: Option<f64>,
    /// Its quantity.
    pub quantity: Quantity,
    /// The 95 % interval; of width zero where the number is exact.
    #[serde(serialize_with = "ends")]
    #[schemars(with = "Option<[f64; 2]>")]
    pub interval: Option<Interval>,
    /// The limits of the number.
    pub limits: Limits,
    /// The number of points and phases that it is a mean over.
    pub places: usize,
    /// The number of further ones, left out because the disk did less than half of the work.
    pub left_out: usize,
    /// Why there is no number or no interval, or another remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// The values over a dimension, for a trend or a sequence; `None` for an infinite value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<(f64, Option<f64>)>,
}

/// A subject of the original, and the one that was measured instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StandIn {
    /// The original's.
    pub original: String,
    /// The run's.
    pub measured: String,
}

/// The outcome of one claim, with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClaimVerdict {
    /// The claim's short name.
    pub id: String,
    /// The claim as a sentence.
    pub text: String,
    /// Page, figure or table of the original.
    pub source: String,
    /// Its kind.
    pub kind: &'static str,
    /// Whether `fslab study check` exits with 1 if it fails.
    pub required: bool,
    /// Whether the original's own numbers contradict it.
    pub contradicted: bool,
    /// The platforms on which its subjects must be measured; empty: one run decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub platforms: Vec<String>,
    /// The outcome.
    pub outcome: ClaimOutcome,
    /// The numbers in one sentence, or why there is none.
    pub sentence: String,
    /// The stand-ins among its subjects.
    pub stand_ins: Vec<StandIn>,
    /// The other outcome with today's mount defaults, where its subjects ran with those of the
    /// original's kernel, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_todays_defaults: Option<ClaimOutcome>,
    /// The numbers.
    pub findings: Vec<Finding>,
}

/// The claims of an original, evaluated for a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scorecard {
    /// The study of the claims.
    pub study: String,
    pub run: String,
    /// One verdict per claim, in the order of the file.
    pub verdicts: Vec<ClaimVerdict>,
}

impl Scorecard {
    /// The number of claims with that outcome.
    pub fn count(&self, outcome: ClaimOutcome) -> usize {
        let verdicts = self.verdicts.iter();
        verdicts
            .filter(|verdict| verdict.outcome == outcome)
            .count()
    }

    /// The required claims that fail.
    pub fn broken(&self) -> impl Iterator<Item = &ClaimVerdict> {
        let is_broken =
            |verdict: &&ClaimVerdict| verdict.required && verdict.outcome == ClaimOutcome::Fails;
        self.verdicts.iter().filter(is_broken)
    }
}

/// What a number is in JSON, which has no infinity.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "its schema alone is used")]
enum NumberOrInfinite {
    Number(f64),
    /// `infinite`.
    Infinite(String),
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
