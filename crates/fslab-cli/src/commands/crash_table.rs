//! The tables of `fslab crash judge`.

use std::collections::BTreeMap;

use fslab_crash::{FaultCount, FaultKind, JudgedState, KindCount, StateCheck, Survival};
use fslab_model::{Bytes, format_ns};
use fslab_report::{Column, Table, TableCell, Tone};

use super::crash_judge::{FailingState, LogResult};
use crate::screen;

/// Failing states of a log that are listed if not all are asked for.
const LISTED_MAX: usize = 5;

/// The faults of data that a sync has made durable.
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

/// A column for each log.
pub(crate) fn survival(results: &[LogResult]) -> Table {
    let mut columns = vec![Column::left("States after a power loss")];
    columns.extend(results.iter().map(|it| Column::right(&it.subject)));
    let mut rows = Vec::new();
    let mut add = |name: &str, cell: &dyn Fn(&Survival) -> TableCell| {
        let cells = results.iter().map(|it| cell(&it.survival));
        rows.push([TableCell::new(name)].into_iter().chain(cells).collect());
    };
    add("judged", &|it| TableCell::new(it.states.to_string()));
    add("share of all", &|it| TableCell::new(share(it)));
    add("that break a promise", &|it| bad(it.broken_states));
    for fault in SYNCED {
        let name = format!("synced data {}", fault.as_str());
        add(&name, &|it| counted(it.broken.get(&fault)));
    }
    add("data of others shown", &|it| {
        counted(it.broken.get(&FaultKind::Exposed))
    });
    add("the same, without a promise", &|it| {
        counted(it.unpromised.get(&FaultKind::Exposed))
    });
    add("other faults without a promise", &|it| {
        let faults = it.unpromised.iter();
        let others = faults.filter(|(fault, _)| **fault != FaultKind::Exposed);
        let most = others.map(|(_, count)| count).max_by_key(|it| it.states);
        counted(most)
    });
    add("that do not mount", &|it| bad(it.unmountable));
    add("with other names that cannot be read", &|it| {
        bad(it.unreadable)
    });
    add("in which nothing can be written", &|it| plain(it.read_only));
    add(
        "in which the check finds errors",
        &|it| bad(it.check_errors),
    );
    add("that the check cannot look at", &|it| {
        plain(it.check_failed)
    });
    add("repaired", &|it| plain(it.repaired));
    add("that do not mount after that", &|it| bad(it.repair_failed));
    add("that lose synced data by the repair", &|it| {
        bad(it.lost_by_repair)
    });
    add("recovery, median", &|it| time(it.recovery_median_ns));
    add("recovery, longest", &|it| time(it.recovery_max_ns));
    add("lost without a sync, at most", &|it| {
        TableCell::new(Bytes(it.unsynced_bytes).to_string())
    });
    add("age of the oldest of that", &|it| time(it.unsynced_age_ns));
    let notes = results.iter().map(kinds_note);
    Table {
        caption: "What a power loss leaves".to_owned(),
        columns,
        rows,
        notes: notes.collect(),
    }
}

/// The properties that scripts ask for: in how many states each does not hold.
pub(crate) fn properties(results: &[LogResult]) -> Table {
    let mut columns = vec![Column::left("Phase"), Column::left("Property")];
    columns.extend(results.iter().map(|it| Column::right(&it.subject)));
    let mut asked: BTreeMap<&(String, usize), &String> = BTreeMap::new();
    for result in results {
        asked.extend(&result.properties);
    }
    let cell = |result: &LogResult, key: &(String, usize)| {
        if !result.properties.contains_key(key) {
            return TableCell::nothing();
        }
        let broken = result.survival.properties.iter();
        let mut broken =
            broken.filter(|it| (&it.property.phase, it.property.number) == (&key.0, key.1));
        bad(broken.next().map_or(0, |it| it.states))
    };
    let rows = asked.into_iter().map(|(key, text)| {
        let head = [TableCell::new(&key.0), TableCell::new(text)].into_iter();
        head.chain(results.iter().map(|it| cell(it, key))).collect()
    });
    Table {
        caption: "States without a property that no document promises".to_owned(),
        columns,
        rows: rows.collect(),
        notes: vec!["0: in no state that was judged, which proves nothing.".to_owned()],
    }
}

fn share(survival: &Survival) -> String {
    let all = survival.kinds.values().map(|it| it.possible).sum::<u64>();
    match all {
        0 => "-".to_owned(),
        all => format!("{:.1} %", 100.0 * survival.states as f64 / all as f64),
    }
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

fn counted(count: Option<&FaultCount>) -> TableCell {
    let Some(count) = count else { return plain(0) };
    let files = screen::counted(usize::try_from(count.files).unwrap_or(usize::MAX), "file");
    bad(count.states).detail(format!("{files}, up to {}", Bytes(count.bytes)))
}

fn time(ns: u64) -> TableCell {
    TableCell::new(format_ns(ns as f64))
}

fn kinds_note(result: &LogResult) -> String {
    let kind = |(kind, count): (&fslab_crash::StateKind, &KindCount)| {
        format!("{} {} of {}", kind.as_str(), count.tried, count.possible)
    };
    let kinds: Vec<String> = result.survival.kinds.iter().map(kind).collect();
    let seconds = result.elapsed.as_secs_f64().max(0.001);
    let hourly = result.survival.states as f64 / seconds * 3600.0;
    format!(
        "{}: {}; judged in {seconds:.0} s, {hourly:.0} states an hour.",
        result.subject,
        kinds.join(", ")
    )
}

/// A line for each failing state, as `fslab crash replay` takes it, and what is wrong with it.
pub(crate) fn failing_lines(results: &[LogResult], all: bool) -> String {
    let mut text = String::new();
    for result in results {
        // Broken promises first, then the shortest.
        let mut states: Vec<&FailingState> = result.failing.iter().collect();
        states.sort_by_key(|it| (it.breaks.is_empty(), it.state.state.len()));
        let shown = if all { states.len() } else { LISTED_MAX };
        for failing in states.iter().take(shown) {
            let promise = match failing.breaks.is_empty() {
                true => "no promise",
                false => "a promise",
            };
            text += &format!(
                "fslab crash replay {} {}\n  breaks {promise}: {}\n",
                result.log.display(),
                failing.state.state,
                what_is_wrong(&failing.state)
            );
        }
        if states.len() > shown {
            let more = states.len() - shown;
            text += &format!("and {more} more of {}: --list\n", result.subject);
        }
    }
    text
}

/// What is wrong with a state, in a line.
pub(crate) fn what_is_wrong(state: &JudgedState) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some(error) = &state.unmountable {
        parts.push(format!("does not mount: {}", one_line(error)));
    }
    for finding in state.findings.iter().take(LISTED_MAX) {
        let bytes = match finding.bytes {
            0 => String::new(),
            bytes => format!(" ({})", Bytes(bytes)),
        };
        parts.push(format!(
            "{} {}{bytes}",
            finding.name,
            finding.fault.as_str()
        ));
    }
    if state.findings.len() > LISTED_MAX {
        parts.push(format!("{} more", state.findings.len() - LISTED_MAX));
    }
    if let Some(name) = state.unreadable.first() {
        parts.push(format!("{} cannot be read", screen::plain(name)));
    }
    if let Some(error) = &state.unmount_error {
        parts.push(format!("does not unmount: {}", one_line(error)));
    }
    if state.check == Some(StateCheck::Errors) {
        parts.push("the check finds errors".to_owned());
    }
    if let Some(repair) = &state.repair {
        parts.push(match (&repair.mount_error, repair.lost.len()) {
            (Some(_), _) => "does not mount after the repair".to_owned(),
            (None, 0) => "repaired without a loss".to_owned(),
            (None, lost) => format!("the repair lost {}", screen::counted(lost, "file")),
        });
    }
    parts.join("; ")
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    screen::plain(&words.join(" ")).into_owned()
}
