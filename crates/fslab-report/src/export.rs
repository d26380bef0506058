//! A run for other programs: everything as JSON, and every figure as one row of CSV.

use fslab_compare::{Analysis, DIMENSIONS, PLACES, observations};
use fslab_model::RunRecord;
use serde::Serialize;

use crate::ReportError;

/// The run as indented JSON with a line break at its end; reads back as the same record. Where
/// repeats are perturbed, the sensitivity of each figure stands beside it, which no record has.
///
/// # Errors
/// [`ReportError::Json`], should the record hold what JSON cannot.
pub fn json(run: &RunRecord) -> Result<String, ReportError> {
    let document = Document {
        run,
        sensitivity: sensitivities(run),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// A run, and what was computed of it.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    run: &'a RunRecord,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sensitivity: Vec<Sensitivity>,
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
    /// As a share of the figure; null where there are fewer than three runs.
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
/// Every metric of every phase has its row; what was not measured has an empty value. Values are in
/// the metric's unit and to their last digit.
///
/// # Errors
/// [`ReportError::Csv`], should a row not be written.
pub fn csv_long(run: &RunRecord) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let columns = DIMENSIONS.into_iter().chain(["metric", "value", "unit"]);
    writer.write_record(columns.chain(PLACES))?;
    for observation in observations(run) {
        let value = observation
            .value
            .map_or_else(String::new, |value| value.to_string());
        let (metric, unit) = (observation.metric.name, observation.metric.unit.symbol());
        let dimensions = observation.dimensions(run);
        let dimensions = dimensions.iter().map(String::as_str);
        let places = observation.places();
        let places = places.iter().map(String::as_str);
        writer.write_record(dimensions.chain([metric, &value, unit]).chain(places))?;
    }
    into_text(writer)
}

/// What a CSV writer wrote into memory.
pub(crate) fn into_text(writer: csv::Writer<Vec<u8>>) -> Result<String, ReportError> {
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8(bytes).expect("rows of strings are UTF-8"))
}
