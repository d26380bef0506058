//! Which phases of two runs meet.
//!
//! Runs of one tool: by name, if they are defined alike. Runs of two tools: by what phases do; if
//! that is not known of one of them, by name. Of several candidates the one with the same name
//! counts, then the one with the fewest different conditions, then the first. Points of a sweep
//! meet only at the same file size, record size and number of threads.

use std::collections::BTreeSet;
use std::str::FromStr;

use fslab_compare::{
    ComparedSide, ConditionDifference, LeftOver, Meeting, Meetings, PhaseName, phase_difference,
};
use fslab_model::{Failure, Headline, PhaseSpec, RunRecord, VenueKind, VenuePlan, phase_metrics};

use super::content::content;
use super::phase_content::PhaseContent;

/// A phase of an import and the one that it is compared with, as given by the user: `THEIRS=OURS`;
/// of two runs of one kind, `BASE=NEW`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseMap {
    text: String,
}

impl FromStr for PhaseMap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((theirs, ours)) if !theirs.is_empty() && !ours.is_empty() => Ok(Self {
                text: text.to_owned(),
            }),
            _ => Err(format!(
                "'{text}' is not THEIRS=OURS, for example block-write=write"
            )),
        }
    }
}

impl PhaseMap {
    /// Each way to split the text into two names; those of fio's jobs may have equals signs.
    fn splits(&self) -> impl Iterator<Item = (&str, &str)> {
        let separators = self.text.match_indices('=').map(|(at, _)| at);
        separators.map(|at| (&self.text[..at], &self.text[at + 1..]))
    }

    /// Each name that a side of it may be.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.splits().flat_map(|(theirs, ours)| [theirs, ours])
    }
}

/// A phase with what is known of it.
struct Unit<'r> {
    spec: &'r PhaseSpec,
    content: PhaseContent,
    /// The number of points of its sweep; 1 if it runs once.
    points: usize,
    /// Names of the metrics that any of its records has.
    metrics: BTreeSet<&'static str>,
    headline: Headline,
}

impl Unit<'_> {
    fn name(&self) -> &str {
        self.spec.study_phase()
    }

    fn is_named(&self, name: &str) -> bool {
        self.name() == name || self.spec.name == name
    }

    fn has(&self, headline: Headline) -> bool {
        self.metrics.contains(headline.metric().name)
    }
}

fn units(run: &RunRecord) -> Vec<Unit<'_>> {
    let phases = &run.header.plan.phases;
    let of = |spec: &'_ PhaseSpec| {
        let records = run.trials.iter().flat_map(|trial| &trial.phases);
        records
            .filter(|record| record.name == spec.name)
            .collect::<Vec<_>>()
    };
    let unit = |spec| {
        let records = of(spec);
        let metrics = records.iter().flat_map(|record| phase_metrics(record));
        Unit {
            spec,
            content: content(&run.header.plan, spec),
            points: phases
                .iter()
                .filter(|it| it.study_phase() == spec.study_phase())
                .count(),
            metrics: metrics.map(|metric| metric.definition.name).collect(),
            headline: records
                .first()
                .map_or(Headline::Throughput, |it| it.headline),
        }
    };
    phases.iter().map(unit).collect()
}

/// How a pair of phases was found; the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    /// The user mapped them.
    Mapped,
    /// They do the same.
    Alike,
    /// They have the same name, and of one of them is not known what it does.
    Named,
}

/// A mapping with the indexes of its phases.
struct Resolved<'m> {
    map: &'m PhaseMap,
    base: String,
    new: String,
}

/// Two runs of which phases meet.
pub(super) struct Matching<'r> {
    runs: [&'r RunRecord; 2],
    base: Vec<Unit<'r>>,
    new: Vec<Unit<'r>>,
    /// True if the runs are of two tools.
    is_across: bool,
    /// The side whose names are kept: fslab's, else the base.
    ours: ComparedSide,
}

impl<'r> Matching<'r> {
    pub(super) fn of(base: &'r RunRecord, new: &'r RunRecord) -> Self {
        let is_imported = |run: &RunRecord| run.header.plan.venue.kind() == VenueKind::Imported;
        Self {
            runs: [base, new],
            base: units(base),
            new: units(new),
            is_across: tool(base) != tool(new),
            ours: match is_imported(base) && !is_imported(new) {
                true => ComparedSide::New,
                false => ComparedSide::Base,
            },
        }
    }

    /// The meetings.
    ///
    /// # Errors
    /// Bad input, if a mapping is not possible.
    pub(super) fn meetings(&self, maps: &[PhaseMap]) -> Result<Meetings, Failure> {
        let maps = self.resolve(maps)?;
        let mut candidates = Vec::new();
        for (i, base) in self.base.iter().enumerate() {
            for (j, new) in self.new.iter().enumerate() {
                let Some(found) = self.found(base, new, &maps) else {
                    continue;
                };
                let Some(headline) = self.headline(base, new, found) else {
                    continue;
                };
                let is_renamed = base.name() != new.name();
                let distance = base.content.conditions.distance(&new.content.conditions);
                candidates.push(((found, is_renamed, distance, i, j), headline));
            }
        }
        candidates.sort_by_key(|(rank, _)| *rank);
        let mut partner_of_base = vec![None; self.base.len()];
        let mut partner_of_new = vec![None; self.new.len()];
        let mut pairs = Vec::new();
        for ((found, .., i, j), headline) in candidates {
            if partner_of_base[i].is_none() && partner_of_new[j].is_none() {
                partner_of_base[i] = Some(j);
                partner_of_new[j] = Some(i);
                let order = if self.ours == ComparedSide::Base {
                    i
                } else {
                    j
                };
                pairs.push((order, self.meeting((i, j), found, headline)));
            }
        }
        for map in &maps {
            let is_mapped = |(_, pair): &(usize, Meeting)| {
                let base = self
                    .base
                    .iter()
                    .find(|unit| unit.spec.name == pair.base.name);
                base.is_some_and(|unit| unit.is_named(&map.base))
            };
            if !pairs.iter().any(is_mapped) {
                let text = &map.map.text;
                let reason = "the two phases have no metric in common";
                let failure = Failure::bad_input(format!("cannot use --map {text}: {reason}"));
                return Err(failure.hint("see what was measured with `fslab show RUN --json`"));
            }
        }
        pairs.sort_by_key(|(order, _)| *order);
        let mut left = Vec::new();
        for (place, partners) in [
            (ComparedSide::Base, &partner_of_base),
            (ComparedSide::New, &partner_of_new),
        ] {
            let units = self.units(place).iter().zip(partners);
            let unmet = units.filter(|(_, partner)| partner.is_none());
            left.extend(unmet.map(|(unit, _)| {
                let why = self.why_left(unit, place, &maps);
                LeftOver {
                    does: unit.content.activity.map(|it| it.title().to_owned()),
                    ..LeftOver::of(place, unit.spec, why)
                }
            }));
        }
        Ok(Meetings {
            pairs: pairs.into_iter().map(|(_, pair)| pair).collect(),
            left,
        })
    }

    fn units(&self, place: ComparedSide) -> &[Unit<'r>] {
        match place {
            ComparedSide::Base => &self.base,
            ComparedSide::New => &self.new,
        }
    }

    /// How two phases meet; `None` if they do not.
    fn found(&self, base: &Unit, new: &Unit, maps: &[Resolved]) -> Option<Found> {
        let of_base = maps.iter().find(|map| base.is_named(&map.base));
        let of_new = maps.iter().find(|map| new.is_named(&map.new));
        let found = match (of_base, of_new) {
            (Some(a), Some(b)) if std::ptr::eq(a, b) => Found::Mapped,
            (None, None) if self.is_across => match (base.content.activity, new.content.activity) {
                (Some(a), Some(b)) => (a == b).then_some(Found::Alike)?,
                _ => (base.name() == new.name()).then_some(Found::Named)?,
            },
            (None, None) => {
                let is_alike = base.spec.name == new.spec.name
                    && phase_difference(base.spec, new.spec).is_none();
                return is_alike.then_some(Found::Alike);
            }
            _ => return None,
        };
        let is_swept = base.points > 1 || new.points > 1;
        let meets = !is_swept
            || base
                .content
                .conditions
                .is_same_point(&new.content.conditions);
        meets.then_some(found)
    }

    /// The figure for a comparison: that of our side if both have it. Durations only compare where
    /// nothing is known of the amount of work.
    fn headline(&self, base: &Unit, new: &Unit, found: Found) -> Option<Headline> {
        let (ours, theirs) = match self.ours {
            ComparedSide::Base => (base, new),
            ComparedSide::New => (new, base),
        };
        let rates = [Headline::Throughput, Headline::OperationRate];
        let has_any = |unit: &Unit| {
            let known = rates.into_iter().chain([unit.headline, Headline::Duration]);
            known.into_iter().any(|it| unit.has(it))
        };
        // A phase that was too short to be measured still meets.
        if !has_any(ours) || !has_any(theirs) {
            return Some(ours.headline);
        }
        let is_timed = found != Found::Alike || ours.headline == theirs.headline;
        let own = [ours.headline, theirs.headline].into_iter();
        let all = own.chain(rates).chain([Headline::Duration]);
        let mut fitting = all.filter(|it| *it != Headline::Duration || is_timed);
        fitting.find(|it| ours.has(*it) && theirs.has(*it))
    }

    fn meeting(&self, (i, j): (usize, usize), found: Found, headline: Headline) -> Meeting {
        let (base, new) = (&self.base[i], &self.new[j]);
        let ours = match self.ours {
            ComparedSide::Base => base,
            ComparedSide::New => new,
        };
        let mut shared = ours.spec.clone();
        // One point alone is no sweep on the other side.
        if base.spec.swept.is_none() || new.spec.swept.is_none() {
            shared.swept = None;
            ours.spec.study_phase().clone_into(&mut shared.name);
        }
        let title = |unit: &Unit| unit.content.activity.map(|it| it.title().to_owned());
        let mut differences = base.content.conditions.differences(&new.content.conditions);
        if base.content.activity != new.content.activity && found == Found::Mapped {
            let does = ConditionDifference {
                condition: "what they do",
                base: title(base),
                new: title(new),
            };
            differences.insert(0, does);
        }
        Meeting {
            base: PhaseName::of(base.spec),
            new: PhaseName::of(new.spec),
            does: title(base).filter(|_| base.content.activity == new.content.activity),
            differences,
            shared,
            headline,
        }
    }

    fn why_left(&self, unit: &Unit, place: ComparedSide, maps: &[Resolved]) -> String {
        let others = match place {
            ComparedSide::Base => &self.new,
            ComparedSide::New => &self.base,
        };
        if !self.is_across {
            let namesake = others
                .iter()
                .find(|other| other.spec.name == unit.spec.name);
            return match namesake {
                None => "the other run has no phase of this name".to_owned(),
                Some(other) => phase_difference(other.spec, unit.spec)
                    .unwrap_or_else(|| "its namesake is in a --map".to_owned()),
            };
        }
        let Some(activity) = unit.content.activity else {
            return "no mapping is known for it".to_owned();
        };
        let alike: Vec<&Unit> = others
            .iter()
            .filter(|other| other.content.activity == Some(activity))
            .collect();
        let fits = |other: &&&Unit| {
            let (base, new) = match place {
                ComparedSide::Base => (unit, **other),
                ComparedSide::New => (**other, unit),
            };
            self.found(base, new, maps).is_some()
        };
        match (alike.first(), alike.iter().find(fits)) {
            (None, _) => "no phase of the other run does the same".to_owned(),
            (Some(_), None) => "the other run does the same with a different file size, record \
                                size or number of threads"
                .to_owned(),
            (Some(_), Some(taken)) => {
                format!(
                    "{} does the same, but is compared with another phase",
                    taken.name()
                )
            }
        }
    }

    /// The mappings with the phases of either side.
    fn resolve<'m>(&self, maps: &'m [PhaseMap]) -> Result<Vec<Resolved<'m>>, Failure> {
        // Theirs are of the import; of two runs of one kind, of the base.
        let is_swapped = !self.is_import(ComparedSide::Base) && self.is_import(ComparedSide::New);
        let mut resolved: Vec<Resolved> = Vec::new();
        for map in maps {
            let sides = |(theirs, ours): (&'m str, &'m str)| match is_swapped {
                true => (ours, theirs),
                false => (theirs, ours),
            };
            let is_known = |(base, new): &(&str, &str)| {
                self.knows(ComparedSide::Base, base) && self.knows(ComparedSide::New, new)
            };
            let all: Vec<(&str, &str)> = map.splits().map(sides).collect();
            let Some((base, new)) = all.iter().copied().find(is_known) else {
                let (base, new) = all.first().copied().unwrap_or_default();
                let (place, phase) = match self.knows(ComparedSide::Base, base) {
                    true => (ComparedSide::New, new),
                    false => (ComparedSide::Base, base),
                };
                let (text, run) = (&map.text, self.run(place));
                let reason = format!("{run} has no phase '{phase}'");
                let failure = Failure::bad_input(format!("cannot use --map {text}: {reason}"));
                let known = self.names(place).join(", ");
                return Err(failure.hint(format!("the phases of {run} are {known}")));
            };
            for (place, phase) in [(ComparedSide::Base, base), (ComparedSide::New, new)] {
                let is_taken = |other: &Resolved| match place {
                    ComparedSide::Base => other.base == phase,
                    ComparedSide::New => other.new == phase,
                };
                if resolved.iter().any(is_taken) {
                    let (text, run) = (&map.text, self.run(place));
                    let reason = format!("'{phase}' of {run} is already in another --map");
                    let failure = Failure::bad_input(format!("cannot use --map {text}: {reason}"));
                    return Err(failure.hint("a phase can be compared with only one other"));
                }
            }
            resolved.push(Resolved {
                map,
                base: base.to_owned(),
                new: new.to_owned(),
            });
        }
        Ok(resolved)
    }

    fn is_import(&self, place: ComparedSide) -> bool {
        self.side(place).header.plan.venue.kind() == VenueKind::Imported
    }

    fn side(&self, place: ComparedSide) -> &RunRecord {
        match place {
            ComparedSide::Base => self.runs[0],
            ComparedSide::New => self.runs[1],
        }
    }

    fn run(&self, place: ComparedSide) -> String {
        self.side(place).header.run.to_string()
    }

    fn knows(&self, place: ComparedSide, name: &str) -> bool {
        self.units(place).iter().any(|unit| unit.is_named(name))
    }

    /// The names of the phases, each sweep once.
    fn names(&self, place: ComparedSide) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for unit in self.units(place) {
            if !names.iter().any(|known| known == unit.name()) {
                names.push(unit.name().to_owned());
            }
        }
        names
    }
}

/// The tool that has measured a run, without its version.
pub(super) fn tool(run: &RunRecord) -> &str {
    match &run.header.plan.venue {
        VenuePlan::Imported { tool } => tool.split([' ', ',']).next().unwrap_or(tool),
        _ => "fslab",
    }
}
