//! Missing figures and the reasons.

use fslab_model::{CellId, Failure, PhaseOutcome, Subject, TrialOutcome};

use super::cells::subject_cell;
use crate::{Column, Table, TableCell, Tone, wording};
use fslab_compare::{Analysis, RepeatState};

/// Every trial and phase that failed, was skipped or has no record, with its reason; `None` if
/// there is none.
///
/// Repeats and phases of a subject with the same result share a row.
pub fn failures(analysis: &Analysis) -> Option<Table> {
    let mut found: Vec<MissingFigure> = Vec::new();
    for (index, subject) in analysis.subjects().enumerate() {
        let of_subject = missing_of(analysis, index, subject);
        let by_place = merge(of_subject, |known, item| {
            let same = known.places == item.places;
            same.then(|| known.repeats.extend(&item.repeats)).is_some()
        });
        found.extend(merge(by_place, |known, item| {
            let same = known.repeats == item.repeats;
            same.then(|| known.places.extend(item.places.iter().cloned()))
                .is_some()
        }));
    }
    let columns = vec![
        Column::left("Subject"),
        Column::left("Repeat"),
        Column::left("Where"),
        Column::left("What"),
        Column::left("Reason"),
        Column::left("Hint"),
    ];
    (!found.is_empty()).then(|| Table {
        caption: "What has no figure, and why".to_owned(),
        columns,
        rows: found.into_iter().map(MissingFigure::row).collect(),
        notes: Vec::new(),
    })
}

struct MissingFigure<'a> {
    index: usize,
    subject: &'a Subject,
    repeats: Vec<u32>,
    places: Vec<Place>,
    what: &'static str,
    tone: Tone,
    reason: String,
    hint: String,
}

/// A trial, a phase, or a point of a phase.
#[derive(Clone, PartialEq, Eq)]
struct Place {
    name: String,
    /// Its name as a point of a sweep.
    point: Option<String>,
}

/// Most points of a phase listed one by one, and most phases listed with their points.
const POINTS_MAX: usize = 4;
const SWEEPS_MAX: usize = 3;

/// `write, read at 3 points (read 64 KiB to read 2 GiB)`.
fn in_words(places: &[Place]) -> String {
    let mut texts: Vec<String> = Vec::new();
    let swept: Vec<&Place> = places
        .iter()
        .filter(|place| place.point.is_some())
        .collect();
    let sweeps = swept.chunk_by(|a, b| a.name == b.name).count();
    if sweeps > SWEEPS_MAX && swept.len() > POINTS_MAX {
        texts.extend(
            places
                .iter()
                .filter(|p| p.point.is_none())
                .map(|p| p.name.clone()),
        );
        let ends = swept.first().zip(swept.last());
        let ends = ends.map(|(first, last)| (first.point.as_deref(), last.point.as_deref()));
        let (first, last) = ends.unwrap_or_default();
        texts.push(format!(
            "{} points of {sweeps} phases, from {} to {}",
            swept.len(),
            first.unwrap_or_default(),
            last.unwrap_or_default()
        ));
        return texts.join(", ");
    }
    for group in places.chunk_by(|a, b| a.name == b.name && a.point.is_some()) {
        let points: Vec<&str> = group.iter().filter_map(|p| p.point.as_deref()).collect();
        match points.as_slice() {
            [] => texts.push(group[0].name.clone()),
            few if few.len() <= POINTS_MAX => texts.extend(few.iter().map(|p| (*p).to_owned())),
            [first, .., last] => texts.push(format!(
                "{} at {} points, from {first} to {last}",
                group[0].name,
                points.len()
            )),
            [only] => texts.push((*only).to_owned()),
        }
    }
    texts.join(", ")
}

/// Merges figures of one kind and reason where `join` accepts it.
fn merge<'a>(
    found: Vec<MissingFigure<'a>>,
    join: impl Fn(&mut MissingFigure<'a>, &MissingFigure<'a>) -> bool,
) -> Vec<MissingFigure<'a>> {
    let mut merged: Vec<MissingFigure> = Vec::new();
    for item in found {
        let mut alike = merged.iter_mut().filter(|known| known.is_like(&item));
        if !alike.any(|known| join(known, &item)) {
            merged.push(item);
        }
    }
    merged
}

fn missing_of<'a>(
    analysis: &Analysis,
    index: usize,
    subject: &'a Subject,
) -> Vec<MissingFigure<'a>> {
    let item = |repeat, place: &str, what, tone| MissingFigure {
        index,
        subject,
        repeats: vec![repeat],
        places: vec![Place {
            name: place.to_owned(),
            point: None,
        }],
        what,
        tone,
        reason: String::new(),
        hint: String::new(),
    };
    let cell = CellId::at(index);
    let mut found = Vec::new();
    for repeat in 0..analysis.run.repeats(cell) {
        let Some(trial) = analysis.run.cell(cell).find(|t| t.trial.repeat == repeat) else {
            found.push(item(repeat, "trial", "not run", Tone::Weak).because("there is no record"));
            continue;
        };
        let in_phase = |failure: &Failure| {
            trial.phases.iter().any(|phase| match &phase.outcome {
                PhaseOutcome::Failed { failure: found } => found == failure,
                PhaseOutcome::Done | PhaseOutcome::Skipped { .. } => false,
            })
        };
        if let TrialOutcome::Failed { failure } = &trial.outcome
            && !in_phase(failure)
        {
            found.push(item(repeat, "trial", "failed", Tone::Bad).failed(failure));
        }
    }
    let runs = analysis.phases.iter().flat_map(|phase| {
        let points = phase.points().iter();
        points.map(move |point| (phase.name, point))
    });
    for (name, point) in runs {
        let of_subject = point.cells.get(index);
        for repeat in of_subject.into_iter().flat_map(|cell| &cell.repeats) {
            let at = |what, tone| MissingFigure {
                places: vec![Place {
                    name: wording::phase(name),
                    point: point.point.map(|_| point.name.to_owned()),
                }],
                ..item(repeat.repeat, name, what, tone)
            };
            match repeat.state {
                RepeatState::Done(_) => {}
                RepeatState::Buffered(_) => {
                    let reason = repeat.state.reason().unwrap_or_default();
                    found.push(at("buffered", Tone::Weak).because(&reason));
                }
                RepeatState::Skipped(reason) => {
                    found.push(at("skipped", Tone::Weak).because(reason));
                }
                RepeatState::Failed(failure) => found.push(at("failed", Tone::Bad).failed(failure)),
                RepeatState::Lost(_) => {
                    found.push(at("not run", Tone::Weak).because("its trial failed before it"));
                }
                RepeatState::NotRun if repeat.trial.is_some() => {
                    found.push(at("not run", Tone::Weak).because("its trial did not report it"));
                }
                RepeatState::NotRun | RepeatState::Points { .. } => {}
            }
        }
    }
    found
}

impl MissingFigure<'_> {
    fn because(mut self, reason: &str) -> Self {
        self.reason = reason.to_owned();
        self
    }

    fn failed(mut self, failure: &Failure) -> Self {
        self.reason = format!("{failure} [{}]", failure.kind.as_str());
        self.hint = failure.hint.clone().unwrap_or_default();
        self
    }

    fn is_like(&self, other: &Self) -> bool {
        self.what == other.what && self.reason == other.reason && self.hint == other.hint
    }

    fn row(self) -> Vec<TableCell> {
        let repeats: Vec<String> = self.repeats.iter().map(|r| (r + 1).to_string()).collect();
        vec![
            subject_cell(self.index, self.subject),
            TableCell::new(repeats.join(", ")),
            TableCell::new(in_words(&self.places)),
            TableCell::new(self.what).tone(self.tone),
            TableCell::new(self.reason),
            TableCell::new(self.hint),
        ]
    }
}
