//! What a tool's own form has no place for: the phases of a run that its table does not know.

use fslab_model::{PhaseRecord, RunRecord};

use crate::read::bonnie;

/// More names than these are counted.
const NAMES_MAX: usize = 8;

/// What the CSV of bonnie++ lacks of a run, and how much of the CSV is empty; `None` where it has
/// every phase.
#[must_use]
pub fn bonnie_left_out(run: &RunRecord) -> Option<String> {
    let columns: Vec<&str> = bonnie::phase_names().collect();
    let [own, others] = split(run, |phase| columns.contains(&&*phase.name));
    let text = told(&others, "bonnie++")?;
    let (own, all) = (own.len(), columns.len());
    Some(format!("{text}; of its {all} phases the run has {own}"))
}

/// What Iozone's table and reports lack of a run.
#[must_use]
pub fn iozone_left_out(run: &RunRecord) -> Option<String> {
    let [_, others] = split(run, |phase| {
        let point = phase.swept.as_ref().map(|swept| &swept.point);
        point.is_some_and(|it| it.contains_key("file_size") && it.contains_key("record"))
    });
    told(&others, "Iozone")
}

/// The names of the phases that a form knows, and of the others; a sweep has one.
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

fn told(others: &[String], tool: &str) -> Option<String> {
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
        "{have} no place in the form of {tool} and {are} left out: {shown}{more}"
    ))
}
