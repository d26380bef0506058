//! What one phase does, and under which conditions.

use fslab_model::{Parameters, PhaseSpec, Plan};
use serde_json::Value;

use super::activity::Activity;
use super::condition::Conditions;
use super::{bonnie, fio, fslab, ior, iozone, mdtest};
use crate::Format;

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

/// What the phase `spec` of `plan` does: of another tool if its workload is named after one.
pub fn content(plan: &Plan, spec: &PhaseSpec) -> PhaseContent {
    match Format::of_workload(&spec.workload) {
        Some(Format::Bonnie) => bonnie::content(spec),
        Some(Format::Iozone) => iozone::content(spec),
        Some(Format::Fio) => fio::content(spec),
        Some(Format::Mdtest) => mdtest::content(spec),
        Some(Format::Ior) => ior::content(spec),
        Some(Format::Io500) => ior::content_of_io500(spec),
        Some(Format::Csv | Format::Json) => PhaseContent::default(),
        None => fslab::content(plan, spec),
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
