//! Phases that a tool's own format cannot hold.

use fslab_model::{Failure, PhaseRecord, RunRecord};

use crate::read::bonnie_line;

/// Most names listed; more are counted.
const NAMES_MAX: usize = 8;

/// Adds that `phase` is left out, once.
pub(super) fn note(left_out: &mut Vec<String>, phase: &PhaseRecord, reason: &str) {
    let note = format!("the phase '{}' is left out: {reason}", phase.name);
    if !left_out.contains(&note) {
        left_out.push(note);
    }
}

/// The phases that the CSV of bonnie++ cannot hold, and how much of the CSV is empty; `None` if
/// nothing is.
pub fn bonnie_left_out(run: &RunRecord) -> Option<String> {
    let columns: Vec<&str> = bonnie_line::phase_names().collect();
    let [own, others] = split(run, |phase| columns.contains(&&*phase.name));
    let text = sentence(&others, "bonnie++")?;
    let (own, all) = (own.len(), columns.len());
    Some(format!("{text}; of its {all} phases the run has {own}"))
}

/// The phases that Iozone's table and reports cannot hold.
pub fn iozone_left_out(run: &RunRecord) -> Option<String> {
    let [_, others] = split(run, |phase| {
        let point = phase.swept.as_ref().map(|swept| &swept.point);
        point.is_some_and(|it| it.contains_key("file_size") && it.contains_key("record"))
    });
    sentence(&others, "Iozone")
}

/// The names of the phases that a format knows, and of the others; a sweep counts once.
fn split(run: &RunRecord, is_known: impl Fn(&PhaseRecord) -> bool) -> [Vec<String>; 2] {
    let mut names = [Vec::new(), Vec::new()];
    for phase in run.trials.iter().flat_map(|trial| &trial.phases) {
        let swept = phase.swept.as_ref().map(|swept| &swept.phase);
        let name = swept.unwrap_or(&phase.name);
        let list = &mut names[usize::from(!is_known(phase))];
        if !list.contains(name) {
            list.push(name.clone());
        }
    }
    names
}

fn sentence(others: &[String], tool: &str) -> Option<String> {
    let shown = others.iter().take(NAMES_MAX).map(String::as_str);
    let shown = shown.collect::<Vec<&str>>().join(", ");
    let more = match others.len().checked_sub(NAMES_MAX + 1) {
        Some(more) => format!(" and {} more", more + 1),
        None => String::new(),
    };
    let (have, are) = match others.len() {
        0 => return None,
        1 => ("a phase has".to_owned(), "is"),
        count => (format!("{count} phases have"), "are"),
    };
    Some(format!(
        "{have} no place in the format of {tool} and {are} left out: {shown}{more}"
    ))
}
/// A document as indented JSON.
pub(super) fn json_text(document: &serde_json::Value) -> Result<String, Failure> {
    serde_json::to_string_pretty(document)
        .map_err(|error| Failure::bad_input("cannot write the run as JSON").because(&error))
}
