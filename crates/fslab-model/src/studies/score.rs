//! The score of a benchmark: one number for a subject, computed from several phases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PhaseRecord;
use crate::units::{Seconds, deserialize_seconds};

/// A score: the geometric mean of its parts, each the geometric mean of the rates of phases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreSpec {
    /// Its name: `"IO500 score"`.
    pub name: String,
    /// Its parts.
    #[serde(rename = "part")]
    pub parts: Vec<ScorePart>,
    /// Phases that must take `at_least` for a score that may be compared with published ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timed: Vec<String>,
    /// That time: a number of seconds, or a time such as `"5min"`. Default: no limit.
    #[serde(
        default,
        deserialize_with = "deserialize_seconds",
        rename = "at_least",
        skip_serializing_if = "crate::is_default"
    )]
    #[schemars(with = "Seconds")]
    pub at_least_s: u32,
}

/// A part of a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScorePart {
    /// Its name: `"Bandwidth"`.
    pub name: String,
    /// The unit of its rates.
    pub unit: ScoreUnit,
    /// Its phases.
    pub phases: Vec<ScorePhase>,
}

/// One rate of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "it must be the name of a phase, or a list of names"
)]
pub enum ScorePhase {
    /// That of a phase.
    One(String),
    /// That of several phases as one: their work by their time.
    Joined(Vec<String>),
}

/// The unit of a rate in a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ScoreUnit {
    /// 2^30 bytes a second.
    #[serde(rename = "GiB/s")]
    GibibytesPerSecond,
    /// 1000 operations a second.
    #[serde(rename = "kIOPS")]
    ThousandOperationsPerSecond,
}

impl ScoreSpec {
    /// The names of all phases that it uses.
    pub fn phases(&self) -> impl Iterator<Item = &String> {
        let of_parts = self.parts.iter().flat_map(|part| &part.phases);
        let named = of_parts.flat_map(ScorePhase::names);
        named.chain(&self.timed)
    }

    /// The weight of a phase in the logarithm of the score; 0 if it does not count.
    pub fn weight(&self, phase: &str) -> f64 {
        let of_part = |part: &ScorePart| {
            let of = |rate: &ScorePhase| match rate.names() {
                names if names.iter().any(|name| name == phase) => 1.0 / names.len() as f64,
                _ => 0.0,
            };
            part.phases.iter().map(of).sum::<f64>() / part.phases.len() as f64
        };
        self.parts.iter().map(of_part).sum::<f64>() / self.parts.len() as f64
    }
}

impl ScorePhase {
    /// The names of its phases.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Joined(names) => names,
        }
    }
}

impl ScoreUnit {
    /// The unit in tables.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::GibibytesPerSecond => "GiB/s",
            Self::ThousandOperationsPerSecond => "kIOPS",
        }
    }

    /// The rate of `records` as one; `None` if there are none, or one has no figures.
    pub fn rate_of(self, records: &[&PhaseRecord]) -> Option<f64> {
        let mut work = 0.0;
        let mut seconds = 0.0;
        for record in records {
            work += match self {
                Self::GibibytesPerSecond => record.bytes? as f64 / f64::from(1 << 30),
                Self::ThousandOperationsPerSecond => record.operations? as f64 / 1e3,
            };
            seconds += record.elapsed_ns? as f64 / 1e9;
        }
        (seconds > 0.0).then(|| work / seconds)
    }
}
