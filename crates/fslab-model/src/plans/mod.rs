//! Plans, and the specifications of trials that follow from them.

mod cold_method;
mod condition;
mod imported_plan;
mod perturbation;
mod plan;
mod spec;
mod trial_task;

pub use cold_method::ColdMethod;
pub use condition::{Condition, FactorLevel};
pub use perturbation::Perturbation;
#[cfg(test)]
pub(crate) use plan::tests::{plan, sim};
pub use plan::{
    Cell, Directories, GUEST_PROCESSORS, LabPlan, LayerPlan, Plan, SubjectPlan, VenueKind,
    VenuePlan,
};
pub use spec::{DeviceSpec, MemberDisk, PhaseSpec, RankSpec, TrialSpec};
pub use trial_task::{Placement, TrialTask};
