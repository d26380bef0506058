//! What one phase does, and under which conditions.

use fslab_model::{PhaseSpec, Plan};

use super::activity::Activity;
use super::condition::Conditions;
use super::{bonnie, fio, fslab, iozone, mdtest};
use crate::Format;

/// What a phase does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseContent {
    /// What it does to files; `None` if there is no common word for it.
    pub activity: Option<Activity>,
    /// The conditions that are known.
    pub conditions: Conditions,
}

/// What the phase `spec` of `plan` does: of another tool if its workload is named after one.
#[must_use]
pub fn content(plan: &Plan, spec: &PhaseSpec) -> PhaseContent {
    let format = Format::ALL
        .into_iter()
        .find(|it| it.name() == spec.workload);
    match format {
        Some(Format::Bonnie) => bonnie::content(spec),
        Some(Format::Iozone) => iozone::content(spec),
        Some(Format::Fio) => fio::content(spec),
        Some(Format::Mdtest) => mdtest::content(spec),
        Some(Format::Csv | Format::Json) => PhaseContent::default(),
        None => fslab::content(plan, spec),
    }
}
