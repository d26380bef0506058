//! Personalities whose threads read or write one file each: jobs of `parallel`.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{CachePolicy, Parameters};
use serde_json::{Value, json};

use super::reading::Phases;
use super::script::{Attributes, Script, ThreadDefinition};
use crate::draft::{DraftPhase, plain_name, size_text};
use crate::problem::{Findings, JobFileProblem};

/// Jobs that run at the same time, as the job `parallel` allows.
const JOBS_MAX: u64 = 64;

/// A thread as a job.
struct Stream {
    parameters: Parameters,
    reads: bool,
    is_cached: bool,
    bytes: u64,
}

/// The phase of all threads, and one before it that writes files.
pub(super) fn phases(script: &Script, findings: &mut Findings) -> Result<Phases, JobFileProblem> {
    let mut streams = Vec::new();
    let mut space = BTreeMap::new();
    let mut laid_out: BTreeMap<String, Parameters> = BTreeMap::new();
    for process in &script.processes {
        let processes = process.attributes.number_or("instances", 1)?;
        if processes > 1 {
            findings.note("process: fslab has threads of one process".to_owned());
        }
        for thread in &process.threads {
            let instances = thread.attributes.number_or("instances", 1)?;
            let copies = instances.saturating_mul(processes);
            if copies == 0 || copies.saturating_add(streams.len() as u64) > JOBS_MAX {
                let cause =
                    format!("fslab has 1 to {JOBS_MAX} threads with operations of their own");
                return Err(thread.attributes.problem(cause));
            }
            for _ in 0..copies {
                let stream = stream(script, thread, (&mut space, &mut laid_out))?;
                streams.push(stream);
            }
        }
    }
    number_streams(&mut streams);
    let timed = streams.iter().any(|stream| stream.bytes == 0);
    let seconds = if timed { script.seconds() } else { 0 };
    let is_cold = streams
        .iter()
        .any(|stream| stream.reads && !stream.is_cached);
    let names: BTreeSet<_> = script
        .processes
        .iter()
        .filter_map(|it| it.attributes.text("name"))
        .collect();
    let name = names.iter().next().map_or("streams", |name| name);
    let bytes = streams.iter().map(|stream| stream.bytes).sum();
    let mut phases: Vec<_> = laid_out
        .into_iter()
        .map(|(file, parameters)| laid_out_phase(&file, parameters, &space))
        .collect();
    let mut jobs: Vec<_> = streams
        .into_iter()
        .map(|stream| stream.parameters)
        .collect();
    let (workload, parameters) = match jobs.len() {
        1 => ("io", jobs.remove(0)),
        _ => (
            "parallel",
            Parameters::from_iter([("jobs".to_owned(), json!(jobs))]),
        ),
    };
    phases.push(DraftPhase {
        name: plain_name(name),
        workload,
        cache: if is_cold {
            CachePolicy::Cold
        } else {
            CachePolicy::Keep
        },
        is_measured: true,
        parameters,
        seconds,
        bytes,
    });
    Ok(Phases { phases, space })
}

/// The phase that writes a file before it is written again.
fn laid_out_phase(file: &str, parameters: Parameters, space: &BTreeMap<String, u64>) -> DraftPhase {
    DraftPhase {
        name: format!("lay out {file}"),
        workload: "io",
        cache: CachePolicy::Keep,
        is_measured: false,
        parameters,
        seconds: 0,
        bytes: space.get(file).copied().unwrap_or(0),
    }
}

/// Numbers the streams of each file, so that their random offsets differ.
fn number_streams(streams: &mut [Stream]) {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for stream in streams {
        let file = stream.parameters.get("file").map(Value::to_string);
        let count = counts.entry(file.unwrap_or_default()).or_default();
        if *count > 0 {
            stream.parameters.insert("stream".into(), json!(count));
        }
        *count += 1;
    }
}

/// The operations of a thread that fslab has as one job.
struct Operations<'a> {
    io: &'a Attributes,
    sync: Option<&'a str>,
    /// Value of finishoncount, and of finishonbytes.
    count: Option<u64>,
    bytes: Option<u64>,
}

fn operations(thread: &ThreadDefinition) -> Result<Operations<'_>, JobFileProblem> {
    let mut found: Option<Operations<'_>> = None;
    for operation in &thread.operations {
        match (operation.head.as_str(), &mut found) {
            ("read" | "write" | "appendfile", None) => {
                found = Some(Operations {
                    io: operation,
                    sync: None,
                    count: None,
                    bytes: None,
                });
            }
            ("fsync", Some(found)) if found.sync.is_none() => {
                found.sync = Some(operation.text("name").unwrap_or(""));
            }
            ("finishoncount", Some(found)) => {
                let target = operation.text("target");
                if target.is_some() && target != found.sync {
                    return Err(operation.problem("fslab counts the operations of a thread"));
                }
                found.count = operation.number("value")?;
            }
            ("finishonbytes", Some(found)) => found.bytes = operation.number("value")?,
            // There is no rate of events.
            ("opslimit" | "eventlimit" | "iopslimit" | "bwlimit", _) => {}
            _ => {
                return Err(
                    operation.problem("fslab's thread of a stream reads or writes one file")
                );
            }
        }
    }
    found.ok_or_else(|| thread.attributes.problem("it neither reads nor writes"))
}

#[expect(clippy::too_many_lines, reason = "the parameters of one job, in order")]
fn stream(
    script: &Script,
    thread: &ThreadDefinition,
    (space, laid_out): (
        &mut BTreeMap<String, u64>,
        &mut BTreeMap<String, Parameters>,
    ),
) -> Result<Stream, JobFileProblem> {
    let Operations {
        io,
        sync,
        count,
        bytes,
    } = operations(thread)?;
    let reads = io.head == "read";
    let Some((name, set)) = io
        .text("filename")
        .and_then(|name| script.files.get_key_value(name))
    else {
        return Err(io.problem("it names no file that is defined"));
    };
    if set.number_or("entries", 1)? != 1 {
        return Err(io.problem("a set of several files; fslab's thread of a stream has one"));
    }
    let Some(record) = io
        .number("iosize")?
        .filter(|record| (1..=128 << 20).contains(record))
    else {
        return Err(io.problem("it has no iosize of 1 byte to 128 MiB"));
    };
    if io.number_or("workingset", 0)? > 0 {
        return Err(io.problem("workingset; fslab's accesses go to the whole file"));
    }
    let iterations = io.number_or("iters", 1)?.max(1);
    // A thread ends after so many rounds: an iteration, its operations, and their sync.
    let rounds = match (count, bytes) {
        (Some(count), _) if sync.is_none() => Some(count.saturating_mul(record).max(1)),
        (Some(count), _) => Some(
            count
                .saturating_mul(iterations)
                .saturating_mul(record)
                .max(1),
        ),
        (None, Some(bytes)) => Some(bytes.max(record)),
        (None, None) => None,
    };
    let rounds = match (rounds, sync) {
        // The count is reached within the first iteration, which is done to its end.
        (Some(bytes), None) => Some(bytes.max(iterations.saturating_mul(record))),
        (rounds, _) => rounds,
    };
    let appends = io.head == "appendfile";
    let file_bytes = match (appends, rounds, set.number_or("size", 0)?) {
        (true, Some(bytes), _) => bytes,
        (true, None, _) => {
            return Err(io
                .problem("an append without an end")
                .hint("add finishoncount"));
        }
        (false, _, 0) => return Err(set.problem("it has no size")),
        (false, _, size) => size,
    };
    let file = plain_name(name);
    space.insert(file.clone(), file_bytes);
    let mut parameters = Parameters::new();
    let mut put = |name: &str, value: Value| {
        parameters.insert(name.to_owned(), value);
    };
    put("file", json!(file));
    put("file_size", json!(size_text(file_bytes)));
    put("record", json!(size_text(record)));
    put("direction", json!(if reads { "read" } else { "write" }));
    put(
        "access",
        json!(if io.truth("random")? {
            "random-uniform"
        } else {
            "sequential"
        }),
    );
    match (appends, rounds) {
        (true, _) => put("open", json!("replace")),
        (false, Some(bytes)) => put("amount", json!({ "bytes": bytes })),
        (false, None) => put(
            "amount",
            json!({ "time": format!("{}s", script.seconds()) }),
        ),
    }
    if io.truth("directio")? {
        put("direct", json!(true));
    }
    if io.truth("dsync")? && !reads {
        put("open_sync", json!("data"));
    }
    if sync.is_some() && !reads {
        put(
            "sync",
            json!({ "every": { "operations": iterations, "call": "fsync" } }),
        );
    }
    if !reads && !appends && set.present_percent()? > 0 {
        let whole = json!({
            "file": file, "file_size": size_text(file_bytes), "record": "1MiB",
            "direction": "write", "sync": { "closing": "fsync" },
        });
        if let Value::Object(whole) = whole {
            laid_out.insert(file, whole);
        }
    }
    Ok(Stream {
        parameters,
        reads,
        is_cached: set.truth("cached")?,
        bytes: rounds.unwrap_or(0),
    })
}
