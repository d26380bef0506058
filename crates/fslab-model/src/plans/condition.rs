//! The place of a run in an experiment: the level of each factor that varies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A condition of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The experiment: the same for all of its runs.
    pub experiment: String,
    /// Its factors with the level of this run.
    pub factors: Vec<FactorLevel>,
}

/// A factor of an experiment with the level of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorLevel {
    /// Its name: `disk`.
    pub name: String,
    /// All levels.
    pub levels: Vec<String>,
    /// The place of the run's among them.
    pub level: usize,
}
