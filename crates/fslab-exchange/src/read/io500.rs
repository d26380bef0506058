//! The results of IO500: `result.txt`, in sections, and `result_summary.txt`, a line for each
//! phase, which it prints, too.
//!
//! A run that IO500 marks as invalid is read with its marks. One without a score did not end.

use super::{io500_result, io500_summary};
use crate::error::Fault;
use crate::reading::{Reading, push_new};

/// True for a line that only IO500 writes.
pub(crate) fn is_mark(line: &str) -> bool {
    io500_summary::is_mark(line) || io500_result::is_mark(line)
}

/// Reads every execution; several are repeats.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let has_sections = text.lines().any(|line| io500_result::is_mark(line.trim()));
    let executions = match has_sections {
        true => io500_result::executions(text)?,
        false => io500_summary::executions(text)?,
    };
    let mut reading = Reading::default();
    let mut tools: Vec<String> = Vec::new();
    for execution in executions {
        let version = execution.version.as_deref().unwrap_or_default();
        let version = version.strip_prefix("io500-").unwrap_or(version);
        let tool = format!("io500 {version}").trim_end().to_owned();
        let mut measured = execution.measured;
        measured.facts.insert("io500".to_owned(), tool.clone());
        push_new(&mut tools, tool);
        if !execution.invalid.is_empty() {
            let marks = execution.invalid.join("; ");
            reading
                .notes
                .push(format!("IO500 marks its run as invalid: {marks}"));
        }
        reading.trials.push(measured);
    }
    reading.tool = tools.join(", ");
    reading.engine = Some("io500".to_owned());
    Ok(reading)
}
