//! The trials of a pair as one run, with a subject for each run of either side: so that what a
//! report makes of a phase, a sweep or a round is made of all alike.

use std::collections::BTreeMap;
use std::ops::Range;

use fslab_model::{CellId, PhaseSpec, RunRecord, TrialRecord};

use crate::pairing::{Pair, subjects};

/// Where the runs of each side are in a joint run: those of the base first.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) base: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// A pair's run, and the phases that are not in it.
pub(crate) struct Joint {
    pub(crate) run: RunRecord,
    pub(crate) places: Places,
    /// Phases that have one name and are not the same, with what differs.
    pub(crate) others: Vec<(String, String)>,
}

/// Joins the runs of both sides. Phases of one name that were not asked the same are left out.
pub(crate) fn joint(base: &[RunRecord], new: &[RunRecord], pair: Pair) -> Joint {
    let sources: Vec<(&RunRecord, usize)> = [(base, pair.base), (new, pair.new)]
        .into_iter()
        .flat_map(|(runs, place)| sources(runs, place))
        .collect();
    let (first, last) = (&base[0], &new[0]);
    let others = unlike_phases(last, base.iter().chain(&new[1..]));
    let mut header = last.header.clone();
    let subject = |(run, place): &(&RunRecord, usize)| {
        let planned = run.header.plan.subjects.get(*place);
        // Where a run has not got the subject, its place stays empty.
        planned
            .or_else(|| first.header.plan.subjects.get(pair.base))
            .cloned()
    };
    header.plan.subjects = sources.iter().filter_map(subject).collect();
    let repeats = sources.iter().map(|(run, _)| run.header.plan.repeats);
    header.plan.repeats = repeats.max().unwrap_or(0);
    for (run, _) in &sources {
        let known: Vec<String> = header.plan.phases.iter().map(|p| p.name.clone()).collect();
        let more = run.header.plan.phases.iter();
        let more = more.filter(|phase| !known.contains(&phase.name)).cloned();
        header.plan.phases.extend(more.collect::<Vec<_>>());
    }
    let left_out = |name: &str| others.iter().any(|(other, _)| other == name);
    header.plan.phases.retain(|phase| !left_out(&phase.name));
    let trials = sources.iter().zip(0..).flat_map(|((run, from), to)| {
        run.cell(cell(*from)).map(move |trial| {
            let mut trial = trial.clone();
            trial.trial.cell = CellId(to);
            trial
        })
    });
    let mut trials: Vec<TrialRecord> = trials.collect();
    for trial in &mut trials {
        trial.phases.retain(|phase| !left_out(&phase.name));
    }
    Joint {
        run: RunRecord { header, trials },
        places: Places {
            base: 0..base.len(),
            new: base.len()..base.len() + new.len(),
        },
        others,
    }
}

/// Each run of a side with the place that the first one's subject has in it; one past its subjects
/// where it has not got it.
fn sources(runs: &[RunRecord], place: usize) -> Vec<(&RunRecord, usize)> {
    let wanted = runs.first().and_then(|first| subjects(first).nth(place));
    let place_in = |run: &RunRecord| match subjects(run).count() {
        1 if runs.iter().all(|run| subjects(run).count() == 1) => 0,
        all => subjects(run)
            .position(|subject| Some(subject) == wanted)
            .unwrap_or(all),
    };
    runs.iter().map(|run| (run, place_in(run))).collect()
}

fn cell(place: usize) -> CellId {
    CellId(u32::try_from(place).unwrap_or(u32::MAX))
}

/// The phases of `run` that another run has by the same name and asked otherwise.
fn unlike_phases<'a>(
    run: &RunRecord,
    others: impl Iterator<Item = &'a RunRecord>,
) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for other in others {
        let known: BTreeMap<&str, &PhaseSpec> = specs(other).collect();
        for (name, spec) in specs(run) {
            let unlike = known.get(name).and_then(|known| unlike(known, spec));
            if let Some(what) = unlike.filter(|_| !found.iter().any(|(it, _)| it == name)) {
                found.push((name.to_owned(), what));
            }
        }
    }
    found
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
