//! The directions of a job of fio as one phase.
//!
//! fio reports reads and writes of a job apart, over the same time; fslab counts them together. For
//! a comparison with fslab they are joined: operations and bytes are added, the longer time taken.

use std::collections::BTreeSet;

use fslab_model::definitions::CPU_SHARE;
use fslab_model::{PhaseKind, PhaseOutcome, PhaseRecord, PhaseSpec, RunRecord};
use serde_json::Value;

/// The run with the directions of each of fio's jobs joined; jobs with a direction in `apart` stay.
pub(super) fn joined(run: &RunRecord, apart: &BTreeSet<&str>) -> RunRecord {
    let mut run = run.clone();
    let phases = &mut run.header.plan.phases;
    let jobs = jobs_of_both(phases, apart);
    for (job, read, write) in &jobs {
        phases.retain(|phase| phase.name != *write);
        for phase in phases.iter_mut().filter(|phase| phase.name == *read) {
            phase.name.clone_from(job);
            let both = Value::from("mixed");
            phase.parameters.insert("direction".to_owned(), both);
        }
        for trial in &mut run.trials {
            let taken = |records: &mut Vec<PhaseRecord>, name: &str| {
                let at = records.iter().position(|record| record.name == name)?;
                Some((at, records.remove(at)))
            };
            let write = taken(&mut trial.phases, write);
            let read = taken(&mut trial.phases, read);
            // A repeat may have moved nothing in one direction.
            let (at, record) = match (read, write) {
                (Some((at, read)), Some((_, write))) => (at, together(read, write)),
                (Some(only), None) | (None, Some(only)) => only,
                (None, None) => continue,
            };
            let record = PhaseRecord {
                name: job.clone(),
                kind: PhaseKind::Mixed,
                ..record
            };
            trial.phases.insert(at.min(trial.phases.len()), record);
        }
    }
    run
}

/// The jobs that have both directions: the job's name, and those of its phases.
fn jobs_of_both(phases: &[PhaseSpec], apart: &BTreeSet<&str>) -> Vec<(String, String, String)> {
    let is_of = |phase: &PhaseSpec, direction: &str| {
        let has = phase.parameters.get("direction").and_then(Value::as_str) == Some(direction);
        phase.workload == "fio" && has
    };
    let reads = phases.iter().filter(|phase| is_of(phase, "read"));
    let both = reads.filter_map(|read| {
        let job = read.name.strip_suffix("-read")?;
        let write = format!("{job}-write");
        let is_other = |phase: &&PhaseSpec| {
            let job = |phase: &PhaseSpec| phase.parameters.get("jobname").cloned();
            phase.name == write && is_of(phase, "write") && job(phase) == job(read)
        };
        let has_both = phases.iter().any(|phase| is_other(&phase));
        let stays = apart.contains(&*read.name) || apart.contains(&*write);
        let is_taken = phases.iter().any(|phase| phase.name == job);
        let is_joined = has_both && !stays && !is_taken;
        is_joined.then(|| (job.to_owned(), read.name.clone(), write))
    });
    both.collect()
}

/// One record of both directions. Figures of one direction, such as a percentile without its bins,
/// have no sum and are left out; the share of the processor is that of the job in either.
fn together(read: PhaseRecord, write: PhaseRecord) -> PhaseRecord {
    let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    let share = read.figures.get(CPU_SHARE.name).copied();
    let mut notes = read.notes;
    for note in write.notes {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    let outcome = match write.outcome {
        PhaseOutcome::Failed { .. } => write.outcome,
        _ => read.outcome,
    };
    PhaseRecord {
        outcome,
        elapsed_ns: read.elapsed_ns.max(write.elapsed_ns),
        operations: sum(read.operations, write.operations),
        bytes: sum(read.bytes, write.bytes),
        latencies: [read.latencies, write.latencies].concat(),
        threads: Vec::new(),
        figures: share
            .map(|share| (CPU_SHARE.name.to_owned(), share))
            .into_iter()
            .collect(),
        notes,
        ..read
    }
}
