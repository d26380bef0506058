//! A run for other programs: everything as JSON, and every figure as a row of CSV.

use std::collections::BTreeMap;

use fslab_compare::{
    Analysis, DIMENSIONS, Entry, FIGURE, Observation, PLACES, PhaseAnalysis, observations,
};
use fslab_model::{RunRecord, Subject};
use fslab_stats::Estimate;
use serde::Serialize;

use super::table::into_text;
use crate::{AnswerDocument, Cells, ReportError, tables};

/// The run as indented JSON with a final newline; reads back as the same record. Four things are
/// added that no record has: if repeats are perturbed, the sensitivity of each figure; the phases
/// in which a subject does not flush; the scores, if the study has one; and the answer.
///
/// # Errors
/// [`ReportError::Json`] if the record has a value that JSON cannot represent.
pub fn json(run: &RunRecord) -> Result<String, ReportError> {
    let document = Document {
        run,
        sensitivity: sensitivities(run),
        does_not_flush: unflushed(run),
        scores: scores(run),
        answer: AnswerDocument::of(&Analysis::of(run)),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// A run with derived figures.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    run: &'a RunRecord,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sensitivity: Vec<Sensitivity>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    does_not_flush: Vec<Unflushed>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scores: Vec<Scored>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<AnswerDocument>,
}

/// The score of a subject.
#[derive(Serialize)]
struct Scored {
    subject: String,
    name: String,
    /// Of each repeat.
    values: Vec<f64>,
    /// The geometric mean of each part over the repeats; null without its figures.
    parts: BTreeMap<String, Option<f64>>,
    /// Null if the score is that of the benchmark.
    not_comparable: Option<String>,
}

fn scores(run: &RunRecord) -> Vec<Scored> {
    let analysis = Analysis::uncorrected(run);
    let Some(score) = &analysis.score else {
        return Vec::new();
    };
    let entries = score.comparison.entries.iter().enumerate();
    let scored = |((place, entry), subject): ((usize, &Entry), &Subject)| {
        let parts = score.spec.parts.iter().zip(&score.parts);
        let value = |of: &Vec<Option<Estimate>>| of[place].map(|it| it.value);
        Scored {
            subject: subject.to_string(),
            name: score.spec.name.clone(),
            values: entry.values.clone(),
            parts: parts
                .map(|(part, of)| (part.name.clone(), value(of)))
                .collect(),
            not_comparable: tables::not_comparable(&analysis, score),
        }
    };
    entries.zip(analysis.subjects()).map(scored).collect()
}

/// A phase that makes data durable without a flush of the disk, whose cache is volatile.
#[derive(Serialize)]
struct Unflushed {
    subject: String,
    phase: String,
    /// Records of the phase without a flush, and all.
    records: [usize; 2],
}

fn unflushed(run: &RunRecord) -> Vec<Unflushed> {
    let analysis = Analysis::uncorrected(run);
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let of_phase = |phase: &PhaseAnalysis| {
        let of_subject = |subject: usize| {
            let cell = &phase.cells[subject];
            Unflushed {
                subject: names[subject].clone(),
                phase: phase.name.to_owned(),
                records: [cell.unflushed(), cell.records().count()],
            }
        };
        phase.not_flushing().map(of_subject).collect::<Vec<_>>()
    };
    analysis.runs().flat_map(of_phase).collect()
}

/// The sensitivity of one figure.
#[derive(Serialize)]
struct Sensitivity {
    subject: String,
    phase: String,
    /// The headline metric.
    metric: &'static str,
    /// Perturbed runs with the figure, the unperturbed one included.
    runs: usize,
    /// As a share of the figure; null for fewer than three runs.
    share: Option<f64>,
}

fn sensitivities(run: &RunRecord) -> Vec<Sensitivity> {
    if !run.header.plan.perturb {
        return Vec::new();
    }
    let analysis = Analysis::uncorrected(run);
    let mut found = Vec::new();
    for phase in analysis.runs() {
        let Some(comparison) = &phase.comparison else {
            continue;
        };
        let entries = comparison.entries.iter().enumerate();
        for ((place, entry), subject) in entries.zip(analysis.subjects()) {
            found.push(Sensitivity {
                subject: subject.to_string(),
                phase: phase.name.to_owned(),
                metric: comparison.metric.name,
                runs: entry.values.len(),
                share: phase.sensitivity(place),
            });
        }
    }
    found
}

/// One row for each trial, round, phase and metric, with all dimensions of the result.
///
/// Every metric of every phase has its row; if not measured, the value is empty. Values are in the
/// metric's unit with all digits.
///
/// # Errors
/// [`ReportError::Csv`] if a row cannot be written.
pub fn csv_long(run: &RunRecord, cells: Cells) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(DIMENSIONS.into_iter().chain(FIGURE).chain(PLACES))?;
    let observations = observations(run);
    for row in observations.chunk_by(Observation::is_of_same_row) {
        let Some(first) = row.first() else { continue };
        let (dimensions, places) = (first.dimensions(run), first.places());
        for figure in row.iter().map(Observation::figure) {
            let fields = dimensions.iter().chain(&figure).chain(&places);
            writer.write_record(cells.row(fields))?;
        }
    }
    into_text(writer)
}
