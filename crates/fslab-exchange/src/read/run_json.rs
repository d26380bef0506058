//! Runs of fslab as JSON, from `fslab export --format json`, taken unchanged.

use fslab_model::{FORMAT_VERSION, PhaseRecord, RunRecord, phase_metrics};
use serde_json::Value;

use crate::error::Fault;

/// True if a text is JSON with a field of a run, or of the trials of one.
pub(crate) fn is_mark(text: &str) -> bool {
    let has = |field: &&str| text.contains(*field);
    text.trim_start().starts_with(['{', '['])
        && ["\"trials\"", "\"trial\"", "\"plan\""].iter().any(has)
}

/// Reads a run, and lists the fields that this fslab does not know and drops.
pub(crate) fn read(text: &str) -> Result<(RunRecord, Vec<String>), Fault> {
    let value: Value = serde_json::from_str(text).map_err(|error| syntax(&error))?;
    if value.is_array() {
        let wanted = "a run";
        return Err(Fault::value("", "a list", wanted).hint(
            "`fslab export --format exact` leaves out what identifies a run; use --format json",
        ));
    }
    let format = value["plan"]["format"].as_u64();
    if format.is_some_and(|format| format > u64::from(FORMAT_VERSION)) {
        let found = format.unwrap_or_default();
        let text = format!("it has the version {found}, but this fslab reads {FORMAT_VERSION}");
        return Err(Fault::new("plan.format", text).hint("import it with a later fslab"));
    }
    if value.get("run").is_none() || value.get("trials").is_none() {
        let hint = "import the JSON of `fslab export` or of fio";
        return Err(Fault::missing("", "run, plan or trials").hint(hint));
    }
    let record: RunRecord = serde_json::from_str(text)
        .map_err(|error| Fault::value(place(&error), error.to_string(), "a run of fslab"))?;
    ensure_sense(&record)?;
    let again = serde_json::to_value(&record)
        .map_err(|error| Fault::value("", error.to_string(), "a run of fslab"))?;
    let mut value = value;
    if let Some(fields) = value.as_object_mut() {
        for computed in COMPUTED {
            fields.remove(computed);
        }
    }
    let mut lost = Vec::new();
    missing(&value, &again, "", &mut lost);
    lost.truncate(LOST_MAX);
    Ok((record, lost))
}

/// Fields that the export adds to the record; derived, so they are computed again.
const COMPUTED: [&str; 4] = ["sensitivity", "does_not_flush", "scores", "answer"];

/// Most fields listed.
const LOST_MAX: usize = 5;

fn place(error: &serde_json::Error) -> String {
    format!("line {}, column {}", error.line(), error.column())
}

fn syntax(error: &serde_json::Error) -> Fault {
    if error.is_eof() {
        return Fault::truncated(place(error), "the JSON document ends before its last brace");
    }
    Fault::value(place(error), error.to_string(), "JSON")
}

/// Checks what the types do not: trials belong to existing cells, each once.
fn ensure_sense(record: &RunRecord) -> Result<(), Fault> {
    let plan = &record.header.plan;
    let mut seen = std::collections::BTreeSet::new();
    for (index, trial) in record.trials.iter().enumerate() {
        let place = format!("trials[{index}]");
        let Some(planned) = plan.subject(trial.trial.cell) else {
            let wanted = format!("one of the {} subjects of the plan", plan.subjects.len());
            return Err(Fault::value(
                place,
                format!("cell {}", trial.trial.cell.0),
                wanted,
            ));
        };
        if planned.subject != trial.subject {
            let wanted = format!("the plan's subject of its cell, {}", planned.subject);
            return Err(Fault::value(place, trial.subject.to_string(), wanted));
        }
        if !seen.insert(trial.trial) {
            let wanted = "a trial that occurs once";
            return Err(Fault::value(place, trial.trial.to_string(), wanted));
        }
        for phase in &trial.phases {
            ensure_sense_of_figures(phase, &format!("{place}, phase {}", phase.name))?;
        }
    }
    if record.trials.is_empty() {
        return Err(Fault::no_figure("the run has no trial"));
    }
    Ok(())
}

/// Checks that the figures of the workload are numbers, and do not repeat metrics derived from the
/// rest of the phase.
fn ensure_sense_of_figures(phase: &PhaseRecord, place: &str) -> Result<(), Fault> {
    let figures = &phase.figures;
    if let Some((name, value)) = figures.iter().find(|(_, value)| !value.is_finite()) {
        let place = format!("{place}, {name}");
        return Err(Fault::value(place, value.to_string(), "a number"));
    }
    let mut seen = std::collections::BTreeSet::new();
    let metrics = phase_metrics(phase);
    let mut names = metrics.iter().map(|metric| metric.definition.name);
    match names.find(|name| !seen.insert(*name)) {
        Some(name) => Err(Fault::value(
            format!("{place}, figures.{name}"),
            figures.get(name).map_or_else(String::new, f64::to_string),
            "no such figure, since it follows from bytes, operations and times of the phase",
        )),
        None => Ok(()),
    }
}

/// The paths of fields that are in `before` but not in `after`.
fn missing(before: &Value, after: &Value, path: &str, lost: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before {
                let path = format!("{path}.{name}");
                match after.get(name) {
                    Some(after) => missing(value, after, &path, lost),
                    None if is_nothing(value) => {}
                    None => lost.push(path.trim_start_matches('.').to_owned()),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                missing(before, after, &format!("{path}[{index}]"), lost);
            }
        }
        _ => {}
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
