//! The tables of `fslab crash judge`.

use fslab_crash::FailingState;
use fslab_model::{KindCount, StateKind, Survival};
use fslab_report::{Table, tables};

use crate::commands::crash::judge::LogResult;
use crate::terminal::screen;

/// Failing states of a log that are listed if not all are asked for.
const LISTED_MAX: usize = 5;

/// A column for each log.
pub(crate) fn survival(results: &[LogResult]) -> Table {
    let mut table = tables::survival(&disks(results));
    table.notes = results.iter().map(kinds_note).collect();
    table
}

/// The properties that scripts ask for; `None` if they ask for none.
pub(crate) fn properties(results: &[LogResult]) -> Option<Table> {
    tables::survival_properties(&disks(results))
}

fn disks(results: &[LogResult]) -> Vec<(&str, &Survival)> {
    let disks = results.iter();
    disks
        .map(|it| (it.subject.as_str(), &it.survival))
        .collect()
}

fn kinds_note(result: &LogResult) -> String {
    let kind = |(kind, count): (&StateKind, &KindCount)| {
        format!("{} {} of {}", kind.as_str(), count.tried, count.possible)
    };
    let kinds: Vec<String> = result.survival.kinds.iter().map(kind).collect();
    let seconds = result.elapsed.as_secs_f64().max(0.001);
    let hourly = result.survival.states as f64 / seconds * 3600.0;
    format!(
        "{}: {}; judged in {seconds:.0} s, {hourly:.0} states per hour.",
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
                screen::plain(&failing.state.what_is_wrong())
            );
        }
        if states.len() > shown {
            let more = states.len() - shown;
            text += &format!("and {more} more of {}; --list shows all\n", result.subject);
        }
    }
    text
}
