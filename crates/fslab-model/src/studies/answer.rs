//! What the answer of a study counts: the measure by which subjects are compared over phases, and
//! how much each phase counts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The measure by which subjects are compared over several phases.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum AnswerMeasure {
    /// The time to do the work once: the sum over the phases, each with its sync and unmount.
    Time,
    /// The geometric mean over phases of the rates, with sync and unmount in the time.
    DurableRate,
    /// The geometric mean over phases of the headline figures.
    #[default]
    Rate,
    /// The score that the study defines.
    Score,
}

impl AnswerMeasure {
    /// Every measure.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The word in studies, options and exports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What the answer of a study counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerSpec {
    /// The measure.
    pub measure: AnswerMeasure,
    /// Why this measure fits the question, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// How much a phase counts, by its name: with `time` how often it is done, else its weight in
    /// the mean. Default: 1. A phase with 0 does not count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
    /// Where the weights come from, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl AnswerSpec {
    /// The weight of `phase`, 0 or more.
    pub fn weight(&self, phase: &str) -> f64 {
        self.weights.get(phase).copied().unwrap_or(1.0)
    }

    /// The first weight that is negative, infinite or not a number.
    pub fn invalid_weight(&self) -> Option<(&str, f64)> {
        let is_invalid = |weight: f64| !(0.0..=WEIGHT_MAX).contains(&weight);
        let mut weights = self.weights.iter();
        weights.find_map(|(phase, weight)| is_invalid(*weight).then_some((&**phase, *weight)))
    }
}

/// Limit of a weight, so that sums stay finite.
pub const WEIGHT_MAX: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_without_a_weight_counts_once() {
        let spec = AnswerSpec {
            weights: [("read".to_owned(), 3.0)].into(),
            ..AnswerSpec::default()
        };
        assert_eq!((spec.weight("read"), spec.weight("write")), (3.0, 1.0));
        assert_eq!(spec.invalid_weight(), None);
    }

    #[test]
    fn weights_below_zero_and_beyond_the_limit_are_named() {
        for weight in [-1.0, f64::NAN, f64::INFINITY, 1e10] {
            let spec = AnswerSpec {
                weights: [("read".to_owned(), weight)].into(),
                ..AnswerSpec::default()
            };
            assert_eq!(
                spec.invalid_weight().map(|it| it.0),
                Some("read"),
                "{weight}"
            );
        }
    }
}
