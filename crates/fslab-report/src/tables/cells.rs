//! Cells shared by several tables.

use fslab_model::Subject;

use crate::{TableCell, Tone, wording};
use fslab_compare::{Comparison, Entry, Standing};

/// The note below a table of exact figures.
pub(super) const EXACT: &str = "Figures of virtual time are exact.";

/// The title of a column of geometric means; "value" for a single repeat in virtual time.
pub(super) fn mean_title(exact: bool) -> &'static str {
    if exact { "value" } else { "geo. mean" }
}

/// The geometric mean of a subject's repeats; strong for a certain winner.
pub(super) fn mean(comparison: &Comparison, entry: &Entry) -> TableCell {
    let Some(mean) = entry.mean() else {
        return TableCell::nothing();
    };
    let text = wording::figure(comparison.metric, mean);
    TableCell::new(text).tone(match entry.standing {
        Standing::Winner => Tone::Strong,
        _ => Tone::Plain,
    })
}

/// The interval of a subject's repeats.
pub(super) fn interval(comparison: &Comparison, entry: &Entry) -> TableCell {
    if comparison.exact && entry.location.is_some() {
        return TableCell::new("exact").tone(Tone::Weak);
    }
    let interval = entry.location.and_then(|location| location.interval);
    let repeats = entry.values.len();
    TableCell::optional(interval.map(|it| match wording::is_known(it) {
        true => wording::figure_interval(comparison.metric, it),
        false => format!("unknown ({})", wording::count(repeats, "repeat")),
    }))
}

/// The speed relative to the best, with `≈` if it is the same within the tolerance, and `?` if the
/// difference is undecided.
pub(super) fn against_best(entry: &Entry) -> Option<String> {
    let speed = wording::ratio(entry.to_best?.value);
    Some(match entry.standing {
        Standing::Same => format!("≈ {speed}"),
        Standing::Undecided => format!("{speed} ?"),
        _ => speed,
    })
}

/// The reason of [`fslab_compare::PhaseCell::absence`] in a word.
pub(crate) fn absence_word(reason: &str) -> &'static str {
    if reason.starts_with("skipped") {
        "skipped"
    } else if reason.starts_with("buffered") {
        "buffered"
    } else if reason.starts_with("few points") {
        "few points"
    } else if reason == "not run" {
        "not run"
    } else {
        "failed"
    }
}

/// The first cell of a subject's row.
pub(super) fn subject_cell(index: usize, subject: &Subject) -> TableCell {
    TableCell::new(subject.to_string()).about(index)
}
