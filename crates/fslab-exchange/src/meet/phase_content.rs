//! What the work of a phase is, as tools name it.

use fslab_model::{Parameters, PhaseSpec};
use serde_json::Value;

use super::activity::Activity;
use super::condition::Conditions;

/// What a phase does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseContent {
    /// What it does to files; `None` if there is no common word for it.
    pub activity: Option<Activity>,
    /// The conditions that are known.
    pub conditions: Conditions,
}

impl PhaseContent {
    /// What a phase does whose conditions are not known yet.
    pub(super) fn of(activity: Option<Activity>) -> Self {
        Self {
            activity,
            conditions: Conditions::default(),
        }
    }
}

/// The entry of the phase `spec` in a tool's table of what its phases do.
pub(super) fn look_up<T: Copy>(table: &[(&str, T)], spec: &PhaseSpec) -> Option<T> {
    let name = spec.study_phase();
    let found = table.iter().find(|(known, _)| *known == name);
    found.map(|(_, entry)| *entry)
}

/// The parameter `name`, if it is an integer.
pub(super) fn number(parameters: &Parameters, name: &str) -> Option<u64> {
    parameters.get(name).and_then(Value::as_u64)
}
