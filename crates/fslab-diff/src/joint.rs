//! The trials of a pair as one run of two subjects: so that what a report makes of a phase, a sweep
//! or a round is made of both alike.

use std::collections::BTreeMap;

use fslab_model::{CellId, PhaseSpec, RunRecord, TrialRecord};

use crate::pairing::Pair;

/// The place of the base in a joint run.
pub(crate) const BASE: usize = 0;
/// The place of what is compared.
pub(crate) const NEW: usize = 1;

/// A pair's run, and the phases that are not in it.
pub(crate) struct Joint {
    pub(crate) run: RunRecord,
    /// Phases that have one name and are not the same, with what differs.
    pub(crate) others: Vec<(String, String)>,
}

/// Joins a pair. Phases of one name that were not asked the same are left out.
pub(crate) fn joint(base: &RunRecord, new: &RunRecord, pair: Pair) -> Joint {
    let of_base: BTreeMap<&str, &PhaseSpec> = specs(base).collect();
    let mut others: Vec<(String, String)> = Vec::new();
    for (name, spec) in specs(new) {
        let found = of_base.get(name).and_then(|known| unlike(known, spec));
        if let Some(what) = found {
            others.push((name.to_owned(), what));
        }
    }
    let mut header = new.header.clone();
    header.plan.subjects = [(base, pair.base), (new, pair.new)]
        .into_iter()
        .filter_map(|(run, place)| run.header.plan.subjects.get(place).cloned())
        .collect();
    header.plan.repeats = base.header.plan.repeats.max(new.header.plan.repeats);
    let known: Vec<String> = header.plan.phases.iter().map(|p| p.name.clone()).collect();
    let more = base.header.plan.phases.iter();
    let more = more.filter(|phase| !known.contains(&phase.name)).cloned();
    header.plan.phases.extend(more.collect::<Vec<_>>());
    let left_out = |name: &str| others.iter().any(|(other, _)| other == name);
    header.plan.phases.retain(|phase| !left_out(&phase.name));
    let taken = |run: &RunRecord, from: usize, to: usize| -> Vec<TrialRecord> {
        let from = CellId(u32::try_from(from).unwrap_or(u32::MAX));
        run.cell(from)
            .map(|trial| {
                let mut trial = trial.clone();
                trial.trial.cell = CellId(if to == BASE { 0 } else { 1 });
                trial.phases.retain(|phase| !left_out(&phase.name));
                trial
            })
            .collect()
    };
    let mut trials = taken(base, pair.base, BASE);
    trials.extend(taken(new, pair.new, NEW));
    Joint {
        run: RunRecord { header, trials },
        others,
    }
}

fn specs(run: &RunRecord) -> impl Iterator<Item = (&str, &PhaseSpec)> {
    let phases = run.header.plan.phases.iter();
    phases.map(|phase| (phase.name.as_str(), phase))
}

/// In what two phases of one name are not the same question; `None` where they are.
fn unlike(base: &PhaseSpec, new: &PhaseSpec) -> Option<String> {
    if base.workload != new.workload {
        return Some(format!(
            "workload {} against {}",
            new.workload, base.workload
        ));
    }
    if base.cache != new.cache {
        return Some("another cache policy".to_owned());
    }
    if base.settle != new.settle {
        return Some("another end: sync and unmount are timed in one of them".to_owned());
    }
    let names = base.parameters.keys().chain(new.parameters.keys());
    let differs = |name: &&String| base.parameters.get(*name) != new.parameters.get(*name);
    let name = names.into_iter().find(differs)?;
    let shown = |spec: &PhaseSpec| match spec.parameters.get(name) {
        Some(value) => value.to_string(),
        None => "nothing".to_owned(),
    };
    Some(format!("{name}: {} against {}", shown(new), shown(base)))
}
