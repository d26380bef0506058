//! The output of IOR, 3.x and 4.x: its text, and its JSON (`-O summaryFormat=JSON`).

use super::{ior_json, ior_text};
use crate::error::Fault;
use crate::reading::{Reading, push_new};

/// Keys at the beginning of a line that only IOR's JSON has.
const JSON_MARKS: [&str; 3] = ["\"bwMiB\"", "\"bwMaxMIB\"", "\"deadlineForStonewall\""];

/// True for a line that only IOR writes.
pub(crate) fn is_mark(line: &str) -> bool {
    let is_of_json = JSON_MARKS.iter().any(|mark| line.starts_with(mark));
    let is_one_line = line.starts_with('{') && line.contains("\"tests\"") && {
        JSON_MARKS.iter().any(|mark| line.contains(mark))
    };
    is_of_json || is_one_line || ior_text::version(line).is_some()
}

/// Reads every execution; several are repeats.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let is_text = text
        .lines()
        .any(|line| ior_text::version(line.trim()).is_some());
    let executions = match is_text {
        true => ior_text::executions(text)?,
        false => ior_json::executions(text)?,
    };
    let mut reading = Reading::default();
    let mut tools: Vec<String> = Vec::new();
    let mut engines: Vec<String> = Vec::new();
    for execution in executions {
        let tool = execution.tool();
        push_new(&mut tools, tool);
        let apis = execution
            .tests
            .iter()
            .filter_map(|test| test.parameters.get("api"));
        for api in apis.filter_map(|api| api.as_str()) {
            push_new(&mut engines, api.to_owned());
        }
        reading.notes.extend(execution.note());
        execution.close(&mut reading)?;
    }
    reading.tool = tools.join(", ");
    reading.engine = (!engines.is_empty()).then(|| engines.join(", "));
    Ok(reading)
}
