//! The cell that names the fastest subject of a phase, for all tables that have one.

use super::flushing::DOES_NOT_FLUSH;
use crate::wording::{self, NOTHING};
use crate::{TableCell, Tone};
use fslab_compare::{Comparison, FirstPlace, PhaseAnalysis};

/// Most subjects named; more are counted.
const NAMES_MAX: usize = 4;

/// A lead below this has no two digits as a ratio, and is given in percent.
const SMALL_LEAD: f64 = 1.02;

/// The winner of a phase, with its lead; or the subjects that are the same, or undecided. For a
/// phase that is not disk-bound it says which subject needs least disk time.
pub(super) fn fastest(phase: &PhaseAnalysis, names: &[String]) -> TableCell {
    let Some(comparison) = &phase.comparison else {
        return TableCell::nothing();
    };
    if !phase.is_disk_bound() {
        return match phase.disk_time().first_place() {
            FirstPlace::Winner(least) => {
                let cell = TableCell::new(&names[least]).about(least);
                cell.detail("needs least disk time").tone(Tone::Weak)
            }
            _ => TableCell::new("not disk-bound").tone(Tone::Weak),
        };
    }
    match comparison.first_place() {
        FirstPlace::Winner(winner) => {
            let cell = TableCell::new(&names[winner])
                .about(winner)
                .tone(Tone::Strong);
            let unflushed = phase
                .does_not_flush(winner)
                .then(|| DOES_NOT_FLUSH.to_owned());
            let details: Vec<String> = lead(comparison, winner)
                .into_iter()
                .chain(unflushed)
                .collect();
            match details.is_empty() {
                false => cell.detail(details.join(", ")),
                true => cell,
            }
        }
        FirstPlace::Same(subjects) => several("the same", &subjects, names),
        FirstPlace::Undecided(subjects) => several("undecided", &subjects, names),
        FirstPlace::TooFew => TableCell::new("too few repeats").tone(Tone::Weak),
        FirstPlace::Nothing => TableCell::new(NOTHING).tone(Tone::Weak),
    }
}

/// By how much the winner is faster than the next.
fn lead(comparison: &Comparison, winner: usize) -> Option<String> {
    let second = comparison.order().get(1).copied()?;
    let speed = comparison.speed(winner, second)?;
    if speed.value < SMALL_LEAD {
        let percent = (speed.value - 1.0) * 100.0;
        return Some(format!("{percent:.2} % faster than the next"));
    }
    let ahead = match speed.interval {
        Some(interval) => wording::ratio_interval(interval),
        None if comparison.exact => wording::ratio(speed.value),
        None => return None,
    };
    Some(format!("{ahead} × the next"))
}

fn several(word: &str, subjects: &[usize], names: &[String]) -> TableCell {
    let text = if subjects.len() > NAMES_MAX {
        format!("{word}: {} subjects", subjects.len())
    } else {
        let named: Vec<String> = subjects.iter().map(|it| names[*it].clone()).collect();
        format!("{word}: {}", wording::list(&named))
    };
    TableCell::new(text).tone(Tone::Weak)
}
