//! The overview: phases by subjects.

use fslab_model::{Headline, MetricDefinition};

use super::cells::{absence_word, against_best, mean};
use super::disturbances::{mark_note, marked};
use super::fastest::fastest;
use super::flushing::{flush_marked, flush_note};
use crate::wording::{self, NOTHING};
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::{Analysis, PhaseAnalysis, PhaseCell, Standing};

/// Most phases named in the note on correction; more are counted.
const LOST_MAX: usize = 6;

/// The median of the headline figure for each phase and subject, with its ratio to the best of the
/// phase as detail and heat, and the winner if there is one.
pub fn overview(analysis: &Analysis) -> Table {
    let mut columns = vec![Column::left("Phase")];
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let of_subject = |(index, name): (usize, &String)| Column::right(name).about(index);
    columns.extend(names.iter().enumerate().map(of_subject));
    let compare = names.len() > 1;
    if compare {
        columns.push(Column::left("Fastest"));
    }
    let rows = analysis
        .phases
        .iter()
        .map(|phase| {
            let mut row = vec![head(phase)];
            row.extend((0..names.len()).map(|subject| figure(phase, subject)));
            if compare {
                row.push(fastest(phase, &names));
            }
            row
        })
        .collect();
    Table {
        caption: caption(analysis).to_owned(),
        columns,
        rows,
        notes: notes(analysis, compare),
    }
}

/// The overview with a row per subject, for many subjects, in tables of `phases_max` phases each.
/// Ratios are left out; the best of a phase has the strong tone.
///
/// # Panics
/// If `phases_max` is 0.
pub fn overview_by_subject(analysis: &Analysis, phases_max: usize) -> Vec<Table> {
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let parts = analysis.phases.chunks(phases_max);
    let count = parts.len();
    let tables = parts.enumerate().map(|(part, phases)| {
        let mut columns = vec![Column::left("Subject")];
        columns.extend(phases.iter().map(|phase| {
            let column = Column::right(wording::heading(phase.name));
            match phase.cache {
                fslab_model::CachePolicy::Cold => column.in_group("cold"),
                fslab_model::CachePolicy::Warm => column.in_group("warm"),
                fslab_model::CachePolicy::Keep => column,
            }
        }));
        let row = |(subject, name): (usize, &String)| {
            let figures = phases.iter().map(|phase| TableCell {
                detail: None,
                ..figure(phase, subject)
            });
            let head = TableCell::new(name).about(subject);
            std::iter::once(head).chain(figures).collect()
        };
        Table {
            caption: caption(analysis).to_owned(),
            columns,
            rows: names.iter().enumerate().map(row).collect(),
            notes: if part + 1 == count {
                notes(analysis, names.len() > 1)
                    .into_iter()
                    .skip(1)
                    .collect()
            } else {
                Vec::new()
            },
        }
    });
    tables.collect()
}

fn caption(analysis: &Analysis) -> &'static str {
    let is_rate = |metric: &MetricDefinition| {
        let headline = Headline::of(metric);
        headline == Some(Headline::Throughput) || headline == Some(Headline::OperationRate)
    };
    let compared = analysis
        .phases
        .iter()
        .filter_map(|phase| phase.comparison.as_ref());
    let all_rates = compared.map(|comparison| comparison.metric).all(is_rate);
    match (all_rates, analysis.is_exact()) {
        (true, true) => "Each phase's rate",
        (true, false) => "Each phase's rate: the geometric mean of the repeats",
        (false, true) => "Each phase's headline figure",
        (false, false) => "Each phase's headline figure: the geometric mean of the repeats",
    }
}

/// The id of a phase's part of the page, `place` being its name.
pub(crate) fn phase_target(place: &str) -> String {
    format!("phase-{place}")
}

fn head(phase: &PhaseAnalysis) -> TableCell {
    let cell = TableCell::new(wording::heading(phase.name)).leads_to(phase_target(phase.name));
    let mut details = Vec::new();
    details.extend(match phase.cache {
        fslab_model::CachePolicy::Cold => Some("cold".to_owned()),
        fslab_model::CachePolicy::Warm => Some("warm".to_owned()),
        fslab_model::CachePolicy::Keep => None,
    });
    details.extend(phase.sweep.as_ref().map(|sweep| {
        let (shared, all) = (sweep.shared, sweep.points.len());
        format!("{shared} of {all} points")
    }));
    match details.is_empty() {
        true => cell,
        false => cell.detail(details.join(", ")),
    }
}

fn figure(phase: &PhaseAnalysis, subject: usize) -> TableCell {
    let found = phase.comparison.as_ref().and_then(|comparison| {
        let entry = comparison.entries.get(subject)?;
        entry.summary.is_some().then_some((comparison, entry))
    });
    let Some((comparison, entry)) = found else {
        let absence = phase.cells.get(subject).and_then(PhaseCell::absence);
        let word = absence.as_deref().map_or(NOTHING, absence_word);
        let tone = if word == "failed" {
            Tone::Bad
        } else {
            Tone::Weak
        };
        return TableCell::new(word).tone(tone);
    };
    let mut cell = marked(mean(comparison, entry), phase.disturbed(subject));
    cell = flush_marked(cell, phase, subject);
    if !phase.is_disk_bound() {
        cell = cell.tone(Tone::Plain);
    }
    match (against_best(entry), entry.to_best) {
        (Some(text), Some(speed)) if entry.standing != Standing::Alone => {
            let cell = cell.detail(text).heat(speed.value);
            cell.ratio(speed.value)
        }
        _ => cell,
    }
}

fn notes(analysis: &Analysis, compare: bool) -> Vec<String> {
    let mut notes = ratio_notes(analysis, compare);
    if analysis.phases.iter().any(|phase| phase.sweep.is_some()) {
        notes.push(
            "Of a sweep the figure is the geometric mean over the points that all subjects have."
                .to_owned(),
        );
    }
    if compare && analysis.phases.iter().any(|phase| !phase.is_disk_bound()) {
        notes.push(
            "Not disk-bound: the disk worked for less than half of the phase, and the rest is \
             waiting for timers. Such a phase counts for no winner."
                .to_owned(),
        );
    }
    notes.extend(mark_note(&analysis.phases));
    notes.extend(flush_note(&analysis.phases));
    notes
}

/// Subjects that differ from the best only without correction.
fn lost(analysis: &Analysis) -> Option<String> {
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let of_phase = |phase: &PhaseAnalysis| {
        let comparison = phase.comparison.as_ref()?;
        let lost = (0..names.len()).filter(|subject| comparison.is_lost_in_correction(*subject));
        let lost: Vec<String> = lost.map(|subject| names[subject].clone()).collect();
        let text = format!("{} in {}", wording::list(&lost), wording::phase(phase.name));
        (!lost.is_empty()).then_some(text)
    };
    let mut lost: Vec<String> = analysis.phases.iter().filter_map(of_phase).collect();
    if lost.len() > LOST_MAX {
        let more = wording::count(lost.len() - LOST_MAX, "further phase");
        lost.truncate(LOST_MAX);
        lost.push(more);
    }
    (!lost.is_empty()).then(|| {
        let family = wording::count(analysis.family, "pair");
        format!(
            "Not after correction for {family} of subjects, though the interval excludes 1: {}.",
            lost.join("; ")
        )
    })
}

/// Why no winner can be named: repeats were not asked for, or gave no second value.
fn without_intervals(analysis: &Analysis) -> &'static str {
    let has_repeats = |phase: &PhaseAnalysis| phase.cells.iter().any(|it| it.repeats.len() > 1);
    match analysis.phases.iter().any(has_repeats) {
        true => {
            "No winner can be named: no subject has two repeats with a figure of the same phase."
        }
        false => "With a single repeat no winner can be named.",
    }
}

fn ratio_notes(analysis: &Analysis, compare: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if compare {
        notes.push(
            "The ratio is the speed relative to the best of the phase; 1.00 is the best."
                .to_owned(),
        );
        // A phase without any figure is not exact.
        let is_exact = |phase: &PhaseAnalysis| {
            let comparison = phase.comparison.as_ref();
            comparison.is_some_and(|it| it.exact && !it.is_empty())
        };
        if analysis.phases.iter().any(is_exact) {
            notes.push(
                "Figures of virtual time are exact; by convention those that differ by less than 1 % \
                 are the same, ≈."
                .to_owned(),
            );
        } else if analysis.has_intervals() {
            notes.push(
                "A winner is named only where the 95 % interval of its ratio to every other \
                 subject excludes 1, and the test does so too, corrected for all pairs of \
                 subjects in this table. ≈ is the same as the best: the interval lies within \
                 5 %. ? is undecided: more repeats may decide it."
                    .to_owned(),
            );
            notes.extend(lost(analysis));
        } else {
            notes.push(without_intervals(analysis).to_owned());
        }
    }
    notes
}
