//! How a plan compares with the original that its study repeats.

use std::time::Duration;

use fslab_model::{Bytes, DataToMemory, PhaseSpec, Plan, Study, Subject, VenuePlan};

use crate::ResolveError;
use crate::resolve::footprint;

/// The data of the largest phase and the memory, beside the original's; `None` if the study
/// repeats none, or the memory is not known.
pub(crate) fn data_to_memory(
    study: &Study,
    phases: &[PhaseSpec],
    venue: &VenuePlan,
) -> Result<Option<DataToMemory>, ResolveError> {
    let Some(original) = &study.original else {
        return Ok(None);
    };
    let of_machine = || Some(Bytes(fslab_sys::MachineMemory::now()?.total_bytes));
    let Some(memory_bytes) = venue.guest_memory().or_else(of_machine) else {
        return Ok(None);
    };
    let mut data_bytes = Bytes(0);
    for phase in phases {
        data_bytes = data_bytes.max(footprint(std::slice::from_ref(phase))?);
    }
    Ok(Some(DataToMemory {
        data_bytes,
        memory_bytes,
        original: original.clone(),
    }))
}

/// In what `plan` differs from the original that `study` repeats, each as a clause; the ratio of
/// data to memory first. Empty if it repeats none.
#[must_use]
pub fn differences(study: &Study, plan: &Plan) -> Vec<String> {
    let mut differences = Vec::new();
    if study.original.is_none() {
        return differences;
    }
    differences.extend(
        plan.data_to_memory
            .as_ref()
            .and_then(DataToMemory::difference),
    );
    if !plan.scale.is_full() {
        let smaller = match study.scale.parameters.is_empty() {
            true => "the ends of its sweeps".to_owned(),
            false => study.scale.parameters.join(", ").replace('_', " "),
        };
        differences.push(format!("scale {}: fewer or smaller {smaller}", plan.scale));
    }
    differences.push(match &plan.venue {
        VenuePlan::Sim { disk, .. } => {
            format!(
                "the disk is simulated ({}), the kernel is of today",
                disk.profile
            )
        }
        VenuePlan::Guest { .. } => {
            "the disk is a file of this machine, the kernel is of today".to_owned()
        }
        _ => "the disk, the memory and the kernel are this machine's".to_owned(),
    });
    let is_missing = |text: &&String| {
        let subject: Result<Subject, _> = text.parse();
        let mut planned = plan.subjects.iter();
        subject.is_ok_and(|subject| !planned.any(|it| it.subject == subject))
    };
    let missing = study.subjects.iter().filter(is_missing);
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    if !missing.is_empty() {
        differences.push(format!("without {}", missing.join(", ")));
    }
    differences
}

/// Estimate of the time that the trials of `plan` take in virtual time, `jobs` at a time; `None`
/// in real time, and if the study has no measured time of a trial.
#[must_use]
pub fn expected_time(study: &Study, plan: &Plan, jobs: usize) -> Option<Duration> {
    if !plan.venue.kind().is_virtual() {
        return None;
    }
    let of_trial = f64::from(study.scale.sim_trial_s?);
    let scale = plan.scale.ratio() / study.scale.default.ratio();
    let trials = plan.trials().len();
    let one_after_another = trials.div_ceil(jobs.max(1));
    Some(Duration::from_secs_f64(
        of_trial * scale * one_after_another as f64,
    ))
}
