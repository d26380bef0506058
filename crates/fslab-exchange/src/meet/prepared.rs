//! Runs prepared for a comparison: their phases renamed to those that they share.

use std::collections::BTreeSet;

use fslab_compare::{ComparedSide, Meetings, Unmet, phase_difference};
use fslab_model::{Failure, RunRecord, VenueKind};

use super::directions;
use super::matching::{Matching, PhaseMap, tool};
use crate::Format;

/// Two sides of a comparison.
#[derive(Clone, Debug)]
pub struct Meet {
    pub base: Vec<RunRecord>,
    /// The new runs.
    pub new: Vec<RunRecord>,
    /// Which phases meet.
    pub meetings: Meetings,
    /// True if phases were mapped: the sides are of two tools, or the user mapped some.
    pub is_mapped: bool,
    /// True if the sides are of two tools: only the tool's own conditions can then be equal.
    pub is_across_tools: bool,
}

/// The runs of two sides, each with at least one run, with phases that meet under one name. Runs of
/// one tool without `maps` stay as they are.
///
/// # Errors
/// Bad input, if a mapping is not possible.
pub fn meet(base: &[RunRecord], new: &[RunRecord], maps: &[PhaseMap]) -> Result<Meet, Failure> {
    let (first, last) = (&base[0], &new[0]);
    let is_across_tools = tool(first) != tool(last);
    if !is_across_tools && maps.is_empty() {
        return Ok(Meet {
            base: base.to_vec(),
            new: new.to_vec(),
            meetings: Meetings::by_name(&first.header.plan, &last.header.plan),
            is_mapped: false,
            is_across_tools,
        });
    }
    let joined = |runs: &[RunRecord]| -> Vec<RunRecord> {
        runs.iter()
            .map(|run| comparable(run, is_across_tools, maps))
            .collect()
    };
    let (base, new) = (joined(base), joined(new));
    let meetings = Matching::of(&base[0], &new[0]).meetings(maps)?;
    let prepare = |runs: &[RunRecord], place| -> Vec<RunRecord> {
        let prepared = runs
            .iter()
            .map(|run| meetings.prepare(run, place, &Unmet::Dropped));
        prepared.collect()
    };
    Ok(Meet {
        base: prepare(&base, ComparedSide::Base),
        new: prepare(&new, ComparedSide::New),
        meetings,
        is_mapped: true,
        is_across_tools,
    })
}

/// A run for a table that it shares with others.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The run, with the names of phases that it shares.
    pub run: RunRecord,
    /// How its phases meet those of the reference; `None` for the reference.
    pub meetings: Option<Meetings>,
}

/// Runs for one table: each with the names of its phases that it shares with the first run of
/// fslab, or with the first run; other phases stay. `None` if any of them shares no phase, or if
/// some are in virtual time and some are not.
///
/// # Errors
/// Bad input, if a mapping is possible with none of the runs.
pub fn gather(runs: &[RunRecord], maps: &[PhaseMap]) -> Result<Option<Vec<Gathered>>, Failure> {
    let is_virtual = |run: &RunRecord| run.header.plan.venue.kind().is_virtual();
    if runs
        .iter()
        .any(|run| is_virtual(run) != is_virtual(&runs[0]))
    {
        return Ok(None);
    }
    let is_own = |run: &RunRecord| run.header.plan.venue.kind() != VenueKind::Imported;
    let reference = runs.iter().position(is_own).unwrap_or(0);
    let is_across = runs.iter().any(|run| tool(run) != tool(&runs[reference]));
    let joined = runs.iter().map(|run| comparable(run, is_across, maps));
    let joined: Vec<RunRecord> = joined.collect();
    let mut shared = joined[reference].clone();
    let mut others: Vec<(usize, RunRecord, Meetings)> = Vec::new();
    let mut unused: Vec<Option<Failure>> = vec![None; maps.len()];
    let mut used = vec![false; maps.len()];
    for (at, run) in joined.iter().enumerate().filter(|(at, _)| *at != reference) {
        let matching = Matching::of(&joined[reference], run);
        let mut fitting = Vec::new();
        for (number, map) in maps.iter().enumerate() {
            match matching.meetings(std::slice::from_ref(map)) {
                Ok(_) => {
                    used[number] = true;
                    fitting.push(map.clone());
                }
                Err(error) => unused[number] = Some(error),
            }
        }
        let meetings = matching.meetings(&fitting)?;
        if meetings.pairs.is_empty() {
            return first_unused(unused, &used).map_or(Ok(None), Err);
        }
        let kept = |taken| Unmet::Kept { taken };
        shared = meetings.prepare(&shared, ComparedSide::Base, &kept(BTreeSet::new()));
        let before = others.iter().map(|(_, run, _)| run);
        let taken = defined_otherwise(run, before.chain([&shared]));
        let prepared = meetings.prepare(run, ComparedSide::New, &kept(taken));
        others.push((at, prepared, meetings));
    }
    if let Some(error) = first_unused(unused, &used) {
        return Err(error);
    }
    let gathered = |run, meetings| Gathered { run, meetings };
    let mut all: Vec<(usize, Gathered)> = others
        .into_iter()
        .map(|(at, run, meetings)| (at, gathered(run, Some(meetings))))
        .collect();
    all.push((reference, gathered(shared, None)));
    all.sort_by_key(|(at, _)| *at);
    Ok(Some(all.into_iter().map(|(_, run)| run).collect()))
}

fn first_unused(errors: Vec<Option<Failure>>, used: &[bool]) -> Option<Failure> {
    let unused = errors.into_iter().zip(used).filter(|(_, used)| !**used);
    unused.filter_map(|(error, _)| error).next()
}

/// Names of the phases of `run` that another run defines differently.
fn defined_otherwise<'r>(
    run: &RunRecord,
    others: impl Iterator<Item = &'r RunRecord>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for other in others {
        for phase in &run.header.plan.phases {
            let differs = other.header.plan.phases.iter().any(|known| {
                known.study_phase() == phase.study_phase()
                    && (known.name != phase.name || phase_difference(known, phase).is_some())
            });
            if differs {
                found.insert(phase.study_phase().to_owned());
            }
        }
    }
    found
}

/// The run as it is compared with those of other tools: the directions of a job of fio are one
/// phase.
pub fn as_compared(run: &RunRecord) -> RunRecord {
    comparable(run, true, &[])
}

/// The run in the form in which other tools' runs compare with it.
fn comparable(run: &RunRecord, is_across: bool, maps: &[PhaseMap]) -> RunRecord {
    let apart: BTreeSet<&str> = maps.iter().flat_map(PhaseMap::names).collect();
    match is_across && tool(run) == Format::Fio.name() {
        true => directions::joined(run, &apart),
        false => run.clone(),
    }
}
