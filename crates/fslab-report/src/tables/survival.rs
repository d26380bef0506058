//! What is left of disks after a power loss.

use std::collections::BTreeMap;

use fslab_compare::Analysis;
use fslab_model::{Bytes, FaultCount, FaultKind, Survival, SurvivalOutcome, format_ns};

use super::cells::subject_cell;
use crate::wording::count;
use crate::{Column, Table, TableCell, Tone};

/// The faults of data and names that a sync has made durable.
const SYNCED: [FaultKind; 8] = [
    FaultKind::Lost,
    FaultKind::Truncated,
    FaultKind::Zeroed,
    FaultKind::Old,
    FaultKind::Foreign,
    FaultKind::Garbage,
    FaultKind::Resurrected,
    FaultKind::Unreadable,
];

/// A row of the table by disk: its head, and the cell of each disk.
type DetailRow = (&'static str, fn(&Survival) -> TableCell);

/// The rows without those of [`SYNCED`], which stand after the first of them.
const DETAILS: [DetailRow; 14] = [
    ("shows data of others", |it| {
        counted(it.broken.get(&FaultKind::Exposed))
    }),
    ("shows data of others, no promise broken", |it| {
        counted(it.unpromised.get(&FaultKind::Exposed))
    }),
    ("other faults, no promise broken", |it| {
        let faults = it.unpromised.iter();
        let others = faults.filter(|(fault, _)| **fault != FaultKind::Exposed);
        let most = others.map(|(_, count)| count).max_by_key(|it| it.states);
        counted(most)
    }),
    ("fails to mount", |it| bad(it.unmountable)),
    ("other names are unreadable", |it| bad(it.unreadable)),
    ("mounts read-only", |it| plain(it.read_only)),
    ("checker finds errors", |it| bad(it.check_errors)),
    ("checker could not run", |it| plain(it.check_failed)),
    ("repaired", |it| plain(it.repaired)),
    ("fails to mount after repair", |it| bad(it.repair_failed)),
    ("repair loses synced data", |it| bad(it.lost_by_repair)),
    ("recovery, median", |it| time(it.recovery_median_ns)),
    ("recovery, longest", |it| time(it.recovery_max_ns)),
    ("maximum lost without a sync", unsynced),
];

/// All that was found, a column for each named disk.
pub fn survival(disks: &[(&str, &Survival)]) -> Table {
    let mut columns = vec![Column::left("Crash states")];
    columns.extend(disks.iter().map(|(name, _)| Column::right(*name)));
    let mut rows = Vec::new();
    let mut add = |name: &str, cell: &dyn Fn(&Survival) -> TableCell| {
        let cells = disks.iter().map(|(_, it)| cell(it));
        rows.push([TableCell::new(name)].into_iter().chain(cells).collect());
    };
    add("judged", &|it| plain(it.states));
    add("share of all", &|it| TableCell::optional(share(it)));
    add("breaks a promise", &|it| bad(it.broken_states));
    for fault in SYNCED {
        let name = format!("synced data {}", fault.as_str());
        add(&name, &|it| counted(it.broken.get(&fault)));
    }
    for (name, cell) in DETAILS {
        add(name, &cell);
    }
    Table {
        caption: "What a power loss leaves".to_owned(),
        columns,
        rows,
        notes: Vec::new(),
    }
}

/// The properties that scripts ask for: in how many states each does not hold.
pub fn survival_properties(disks: &[(&str, &Survival)]) -> Option<Table> {
    let asked = disks.iter().flat_map(|(_, it)| &it.properties);
    let mut by_place = BTreeMap::new();
    for property in asked {
        by_place.insert((&property.phase, property.number), property);
    }
    if by_place.is_empty() {
        return None;
    }
    let mut columns = vec![Column::left("Phase"), Column::left("Property")];
    columns.extend(disks.iter().map(|(name, _)| Column::right(*name)));
    columns.push(Column::right("Disks that violate it"));
    let is_published = by_place.values().any(|it| it.published.is_some());
    columns.extend(is_published.then(|| Column::right("Published")));
    let rows = by_place.into_iter().map(|((phase, number), property)| {
        let states = disks.iter().map(|(_, it)| {
            let mut found = it.properties.iter();
            let found = found.find(|it| (&it.phase, it.number) == (phase, number));
            found.map(|it| it.states)
        });
        let states: Vec<Option<u64>> = states.collect();
        let asked = states.iter().flatten().count();
        let without = states.iter().flatten().filter(|it| **it > 0).count();
        let cells = states
            .iter()
            .map(|it| it.map_or_else(TableCell::nothing, bad));
        let head = [TableCell::new(phase), TableCell::new(&property.text)].into_iter();
        let last = TableCell::new(format!("{without} of {asked}"));
        let published = property.published;
        let published = published.map(|it| format!("{} of {}", it.without, it.of));
        let published = is_published.then(|| TableCell::optional(published));
        head.chain(cells).chain([last]).chain(published).collect()
    });
    Some(Table {
        caption: "Properties that no document promises: states that violate them".to_owned(),
        columns,
        rows: rows.collect(),
        notes: vec!["0: no judged state violates it, which proves nothing.".to_owned()],
    })
}

/// All tables on what a power loss leaves of the subjects of a run, with the kind of each: the
/// subjects, everything that was found, and the properties that scripts ask for. Empty if that was
/// not judged.
pub fn survival_tables(analysis: &Analysis) -> Vec<(&'static str, Table)> {
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let judged = outcomes(analysis).filter_map(|(index, outcome)| {
        let name = names.get(index)?.as_str();
        Some((index, name, outcome.judged()?))
    });
    let mut judged: Vec<_> = judged.collect();
    judged.sort_by_key(|it| it.0);
    let disks: Vec<(&str, &Survival)> = judged.iter().map(|it| (it.1, it.2)).collect();
    let details = (!disks.is_empty()).then(|| Table {
        caption: "What a power loss leaves: everything that was found".to_owned(),
        ..survival(&disks)
    });
    let found = [
        ("survival", survival_by_subject(analysis)),
        ("survival-details", details),
        ("survival-properties", survival_properties(&disks)),
    ];
    let there = found.into_iter();
    there
        .filter_map(|(kind, table)| Some((kind, table?)))
        .collect()
}

/// The subjects of a run with what is left of each, by index in the plan.
fn outcomes<'a>(
    analysis: &Analysis<'a>,
) -> impl Iterator<Item = (usize, &'a SurvivalOutcome)> + use<'a> {
    let run = analysis.run;
    let trials = run.trials.iter();
    trials.filter_map(|it| Some((it.trial.cell.0 as usize, it.survival.as_ref()?)))
}

/// What a power loss leaves of each subject of a run; `None` if that was not judged.
fn survival_by_subject(analysis: &Analysis) -> Option<Table> {
    let plan = analysis.run.header.plan.survival.as_ref()?;
    let group = |title: &str, group: &str| Column::right(title).in_group(group);
    let columns = vec![
        Column::left("Subject"),
        Column::right("judged"),
        group("break a promise", "States that"),
        group("lose synced data", "States that"),
        group("do not mount", "States that"),
        group("need repair", "States that"),
        group("lose by repair", "States that"),
        group("show others' data", "States that"),
        group("median", "Recovery"),
        group("longest", "Recovery"),
        Column::right("lost without a sync"),
    ];
    let mut notes = vec![format!(
        "Crash states of the scripts of the study {}, judged separately from the figures: mounted, \
         read, checked and compared with what was synced. Lost without a sync: the maximum bytes \
         of a state, and the age of the oldest.",
        plan.study
    )];
    let mut rows = Vec::new();
    let subjects: Vec<_> = analysis.subjects().collect();
    for (index, outcome) in outcomes(analysis) {
        let Some(subject) = subjects.get(index) else {
            continue;
        };
        let mut row = vec![subject_cell(index, subject)];
        match outcome {
            SurvivalOutcome::Judged { survival } => {
                row.extend([
                    plain(survival.states),
                    bad(survival.broken_states),
                    synced(survival),
                    bad(survival.unmountable),
                    bad(survival.check_errors),
                    bad(survival.lost_by_repair),
                    others(survival),
                    time(survival.recovery_median_ns),
                    time(survival.recovery_max_ns),
                    unsynced(survival),
                ]);
            }
            SurvivalOutcome::Failed { failure } => {
                row.extend((1..columns.len()).map(|_| TableCell::nothing()));
                notes.push(format!("{subject}: not judged: {failure}"));
            }
        }
        rows.push(row);
    }
    rows.sort_by_key(|row: &Vec<TableCell>| row[0].subject);
    (!rows.is_empty()).then(|| Table {
        caption: "What a power loss leaves".to_owned(),
        columns,
        rows,
        notes,
    })
}

/// The subjects that lose what a document promises, as a sentence.
pub(crate) fn survival_caveat(analysis: &Analysis, names: &[String]) -> Option<String> {
    let of_subject = |(index, outcome): (usize, &SurvivalOutcome)| {
        let survival = outcome.judged().filter(|it| it.broken_states > 0)?;
        let (broken, states) = (survival.broken_states, survival.states);
        Some(format!("{} in {broken} of {states}", names.get(index)?))
    };
    let found: Vec<String> = outcomes(analysis).filter_map(of_subject).collect();
    (!found.is_empty()).then(|| {
        format!(
            "Breaks a promise after a power loss: {} states. A document says that such data, names \
             or structures survive.",
            found.join("; ")
        )
    })
}

fn share(survival: &Survival) -> Option<String> {
    let all = survival.kinds.values().map(|it| it.possible).sum::<u64>();
    (all > 0).then(|| format!("{:.1} %", 100.0 * survival.states as f64 / all as f64))
}

fn plain(states: u64) -> TableCell {
    TableCell::new(states.to_string())
}

fn bad(states: u64) -> TableCell {
    match states {
        0 => plain(0),
        states => plain(states).tone(Tone::Bad),
    }
}

fn counted(found: Option<&FaultCount>) -> TableCell {
    let Some(found) = found else { return plain(0) };
    let files = count(usize::try_from(found.files).unwrap_or(usize::MAX), "file");
    bad(found.states).detail(format!("{files}, up to {}", Bytes(found.bytes)))
}

/// The most frequent fault of synced data.
fn synced(survival: &Survival) -> TableCell {
    let faults = SYNCED.iter().filter_map(|it| survival.broken.get(it));
    counted(faults.max_by_key(|it| it.states))
}

/// Data of others, whether a document promises otherwise or not.
fn others(survival: &Survival) -> TableCell {
    let promised = survival.broken.get(&FaultKind::Exposed);
    match (promised, survival.unpromised.get(&FaultKind::Exposed)) {
        (None, Some(found)) => plain(found.states).detail("without a promise"),
        (promised, _) => counted(promised),
    }
}

fn time(ns: Option<u64>) -> TableCell {
    TableCell::optional(ns.map(|ns| format_ns(ns as f64)))
}

fn unsynced(survival: &Survival) -> TableCell {
    let bytes = Bytes(survival.unsynced_bytes).to_string();
    TableCell::new(bytes).detail(format_ns(survival.unsynced_age_ns as f64))
}
