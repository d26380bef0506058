//! smallfile's JSON (`--output-json`): each file is one operation on a set of small files.
//!
//! The rates are the sums of the threads' rates. smallfile stops all threads when the first has
//! finished, so the files done can be fewer than asked for.

use fslab_model::definitions::{BYTES, ELAPSED, OPERATION_RATE, OPERATIONS, THROUGHPUT};
use fslab_model::{
    Failure, FailureKind, Headline, Parameters, PhaseKind, PhaseOutcome, ThreadRecord,
};
use serde_json::Value;

use super::json_documents::{Fields, documents};
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, plain_name, push_new, put};

const HINT: &str = "import the file that smallfile writes with --output-json=FILE";
const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;
/// What a completed operation has as its status: strerror(3) of 0.
const SUCCESS: &str = "Success";
/// Parameters that are places or times, in which repeats may differ.
const PLACES: [&str; 7] = [
    "top",
    "network_sync_dir",
    "host_set",
    "version",
    "launch_by_daemon",
    "startup_timeout",
    "host_timeout",
];
/// The operations, with what they access.
pub(crate) const OPERATIONS_KNOWN: [(&str, PhaseKind); 20] = [
    ("cleanup", PhaseKind::Metadata),
    ("symlink", PhaseKind::Metadata),
    ("create", PhaseKind::Write),
    ("mkdir", PhaseKind::Metadata),
    ("rmdir", PhaseKind::Metadata),
    ("rename", PhaseKind::Metadata),
    ("delete-renamed", PhaseKind::Metadata),
    ("delete", PhaseKind::Metadata),
    ("await-create", PhaseKind::Metadata),
    ("read", PhaseKind::Read),
    ("readdir", PhaseKind::Metadata),
    ("append", PhaseKind::Write),
    ("overwrite", PhaseKind::Write),
    ("truncate-overwrite", PhaseKind::Write),
    ("swift-put", PhaseKind::Write),
    ("swift-get", PhaseKind::Read),
    ("ls-l", PhaseKind::Metadata),
    ("stat", PhaseKind::Metadata),
    ("chmod", PhaseKind::Metadata),
    ("setxattr", PhaseKind::Metadata),
];

/// True for a line that only smallfile writes.
pub(crate) fn is_mark(line: &str) -> bool {
    line.contains("\"filesPerSec\":")
}

/// Reads every document.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading::default();
    let mut tools: Vec<String> = Vec::new();
    for document in documents(text, HINT)? {
        let place = format!("document at line {}", document.line);
        let fields = Fields::of(place, &document.value)?;
        let Some(params) = fields.object("params")? else {
            return Err(Fault::missing(&*fields.place, "params").hint(HINT));
        };
        let version = params.text("version")?.unwrap_or_default();
        push_new(
            &mut tools,
            format!("smallfile {version}").trim_end().to_owned(),
        );
        reading.trials.push(trial(&fields, &params)?);
    }
    reading.tool = tools.join(", ");
    Ok(reading)
}

fn trial(fields: &Fields, params: &Fields) -> Result<Measured, Fault> {
    let results = fields.object("results")?;
    let results = results.ok_or_else(|| Fault::missing(&*fields.place, "results").hint(HINT))?;
    let operation = params.text("operation")?;
    let operation = operation.ok_or_else(|| Fault::missing(&*params.place, "operation"))?;
    let known = OPERATIONS_KNOWN.iter().find(|(name, _)| *name == operation);
    let mut parameters = Parameters::new();
    for (name, value) in params.iter() {
        if !PLACES.contains(&name.as_str()) {
            parameters.insert(name.clone(), value.clone());
        }
    }
    let moves_data = results.get("MiBps").is_some();
    let mut record = Draft {
        name: plain_name(operation),
        workload: "smallfile".to_owned(),
        kind: known.map_or(PhaseKind::Mixed, |(_, kind)| *kind),
        headline: Headline::OperationRate,
        parameters,
        swept: None,
    }
    .record();
    let figure = |name: &str| -> Result<f64, Fault> {
        let value = results.number(name)?;
        value.ok_or_else(|| Fault::missing(&*results.place, name).hint(HINT))
    };
    let status = results.text("status")?.unwrap_or_default();
    if status != SUCCESS {
        let text = format!("smallfile's operation '{operation}' ended with: {status}");
        record.outcome = PhaseOutcome::Failed {
            failure: Failure::new(FailureKind::Io, text),
        };
        // Its times are 100,000,000 s where a thread did not finish.
        return Ok(Measured {
            phases: vec![record],
            stamp: results.get("startTime").map(Value::to_string),
            ..Measured::default()
        });
    }
    put(&mut record, &ELAPSED, (figure("elapsed")? * 1e9).round());
    put(&mut record, &OPERATIONS, figure("files")?);
    put(&mut record, &OPERATION_RATE, figure("filesPerSec")?);
    if moves_data {
        put(&mut record, &THROUGHPUT, figure("MiBps")? * MIB);
        put(&mut record, &BYTES, figure("totalDataGB")? * GIB);
    }
    let done = figure("pctFilesDone")?;
    if done < 100.0 {
        record.notes.push(format!(
            "{done:.1} % of the files asked for were processed before the first thread finished."
        ));
    }
    record.threads = threads(&results)?;
    let started = results.number("startTime")?.filter(|time| *time < 1e11);
    Ok(Measured {
        phases: vec![record],
        began_unix_s: started.map(|time| time as u64),
        stamp: results.get("startTime").map(Value::to_string),
        ..Measured::default()
    })
}

/// The threads, of one host or of each.
fn threads(results: &Fields) -> Result<Vec<ThreadRecord>, Fault> {
    let mut lists: Vec<Fields> = results.object("thread")?.into_iter().collect();
    if let Some(hosts) = results.object("host")? {
        for (name, _) in hosts.iter() {
            let host = hosts.object(name)?;
            let threads = host.map(|host| host.object("thread")).transpose()?;
            lists.extend(threads.flatten());
        }
    }
    let mut threads = Vec::new();
    for list in &lists {
        for (name, _) in list.iter() {
            let Some(thread) = list.object(name)? else {
                continue;
            };
            let elapsed = thread.number("elapsed")?.unwrap_or_default();
            threads.push(ThreadRecord {
                elapsed_ns: (elapsed * 1e9).min(1e18) as u64,
                operations: thread.count("files")?.unwrap_or_default(),
                bytes: 0,
                latencies: Vec::new(),
                cpu: None,
            });
        }
    }
    if threads.len() < 2 {
        threads.clear();
    }
    Ok(threads)
}
