//! A run for other programs: everything as JSON, and every figure as one row of CSV.

use fslab_model::{CachePolicy, METRICS, Metric, RunRecord, TrialOutcome, TrialRecord};
use fslab_model::{MetricDefinition, trial_metrics};

use crate::analysis::STEP_METRICS;
use crate::{Analysis, RepeatState, ReportError};

/// The run as indented JSON with a line break at its end; reads back as the same record.
///
/// # Errors
/// [`ReportError::Json`], should the record hold what JSON cannot.
pub fn json(run: &RunRecord) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(run)? + "\n")
}

const HEADER: [&str; 21] = [
    "run",
    "plan_hash",
    "fslab",
    "kernel",
    "study",
    "venue",
    "size_bytes",
    "cold",
    "engine",
    "seed",
    "subject",
    "cell",
    "repeat",
    "position",
    "outcome",
    "phase",
    "workload",
    "cache",
    "metric",
    "value",
    "unit",
];

/// One row for each trial, phase and metric, with all dimensions of the result.
///
/// Every metric of every phase has its row; what was not measured has an empty value. Values are in
/// the metric's unit and to their last digit. Figures of a trial as a whole (mkfs, mount, unmount,
/// check) have an empty phase. Trials without a record are not there.
///
/// # Errors
/// [`ReportError::Csv`], should a row not be written.
pub fn csv_long(run: &RunRecord) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER)?;
    let analysis = Analysis::of(run);
    let run_columns = run_columns(run);
    for trial in &run.trials {
        let trial_columns = trial_columns(trial);
        let outcome = match trial.outcome {
            TrialOutcome::Done => "done",
            TrialOutcome::Failed { .. } => "failed",
        };
        let figures = trial_metrics(trial);
        for metric in STEP_METRICS {
            let row = [outcome, "", "", ""].map(str::to_owned);
            let value = value_columns(metric, &figures);
            writer.write_record(
                run_columns
                    .iter()
                    .chain(&trial_columns)
                    .chain(&row)
                    .chain(&value),
            )?;
        }
        for phase in analysis.runs() {
            let cell = phase.cells.get(trial.trial.cell.0 as usize);
            let Some(repeat) =
                cell.and_then(|cell| cell.repeats.iter().find(|r| r.repeat == trial.trial.repeat))
            else {
                continue;
            };
            let row = [
                state(&repeat.state),
                phase.name,
                phase.workload,
                cache(phase.cache),
            ]
            .map(str::to_owned);
            for metric in METRICS.iter().filter(|m| !STEP_METRICS.contains(m)) {
                let value = value_columns(metric, &repeat.metrics);
                writer.write_record(
                    run_columns
                        .iter()
                        .chain(&trial_columns)
                        .chain(&row)
                        .chain(&value),
                )?;
            }
        }
    }
    into_text(writer)
}

fn run_columns(run: &RunRecord) -> [String; 10] {
    let header = &run.header;
    [
        header.run.to_string(),
        header.plan_hash.to_string(),
        header.fslab.clone(),
        header.machine.kernel.clone().unwrap_or_default(),
        header.plan.study.clone(),
        header.plan.venue.kind().as_str().to_owned(),
        header.plan.size_bytes.0.to_string(),
        header.plan.cold.as_str().to_owned(),
        header.plan.engine.clone(),
        header.plan.seed.to_string(),
    ]
}

fn trial_columns(trial: &TrialRecord) -> [String; 4] {
    [
        trial.subject.to_string(),
        trial.trial.cell.0.to_string(),
        trial.trial.repeat.to_string(),
        trial.position.to_string(),
    ]
}

fn value_columns(metric: &MetricDefinition, figures: &[Metric]) -> [String; 3] {
    let found = figures.iter().find(|figure| figure.definition == metric);
    [
        metric.name.to_owned(),
        found.map_or_else(String::new, |figure| figure.value.to_string()),
        metric.unit.symbol().to_owned(),
    ]
}

fn state(state: &RepeatState) -> &'static str {
    match state {
        RepeatState::Done(_) => "done",
        RepeatState::Skipped(_) => "skipped",
        RepeatState::Failed(_) => "failed",
        RepeatState::Lost(_) => "trial-failed",
        RepeatState::NotRun => "not-run",
        RepeatState::Points { .. } => "swept",
    }
}

fn cache(policy: CachePolicy) -> &'static str {
    match policy {
        CachePolicy::Keep => "keep",
        CachePolicy::Cold => "cold",
        CachePolicy::Warm => "warm",
    }
}

/// What a CSV writer wrote into memory.
pub(crate) fn into_text(writer: csv::Writer<Vec<u8>>) -> Result<String, ReportError> {
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8(bytes).expect("rows of strings are UTF-8"))
}
