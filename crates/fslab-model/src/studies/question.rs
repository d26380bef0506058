//! The question of a study, which the recommendation of its report answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The question that a study answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyQuestion {
    /// The question, one sentence: `"Which file system for a USB stick?"`
    pub text: String,
    /// The phases by which subjects are recommended. Default: all. An empty list: the study
    /// recommends nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Vec<String>>,
}

impl StudyQuestion {
    /// Whether `phase` counts for the recommendation.
    pub fn counts(&self, phase: &str) -> bool {
        let listed = self.phases.as_ref();
        listed.is_none_or(|phases| phases.iter().any(|listed| listed == phase))
    }

    /// Whether the study recommends a subject.
    pub fn has_answer(&self) -> bool {
        self.phases.as_ref().is_none_or(|phases| !phases.is_empty())
    }
}
