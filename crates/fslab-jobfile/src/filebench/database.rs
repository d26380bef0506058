//! The database of filebench, oltp.f: readers that let writers and a log go on, the job `oltp`.

use std::collections::BTreeMap;

use fslab_model::{CachePolicy, Parameters};
use serde_json::json;

use super::reading::Phases;
use super::script::{Attributes, ProcessDefinition, Script};
use crate::draft::{DraftPhase, size_text};
use crate::problem::{Findings, JobFileProblem};

/// The phase of a database; `None` for other personalities.
#[expect(clippy::too_many_lines, reason = "the parameters of one job, in order")]
pub(super) fn phases(
    script: &Script,
    findings: &mut Findings,
) -> Result<Option<Phases>, JobFileProblem> {
    let with = |wanted: &[&str]| {
        script
            .processes
            .iter()
            .find(|process| heads(process) == wanted)
    };
    let (Some(log), Some(writer), Some(reader)) = (
        with(&["aiowrite", "aiowait", "semblock"]),
        with(&["aiowrite", "hog", "semblock", "aiowait"]),
        with(&["read", "hog", "sempost", "sempost", "eventlimit"]),
    ) else {
        return Ok(None);
    };
    if script.processes.len() != 3 {
        return Ok(None);
    }
    let set_of = |operation: &Attributes| {
        let set = operation
            .text("filename")
            .and_then(|name| script.files.get(name));
        set.cloned()
            .ok_or_else(|| operation.problem("it names no set of files that is defined"))
    };
    let operation =
        |process: &ProcessDefinition, index: usize| process.threads[0].operations[index].clone();
    let (write, read, append) = (
        operation(writer, 0),
        operation(reader, 0),
        operation(log, 0),
    );
    let (data, log_set) = (set_of(&write)?, set_of(&append)?);
    if set_of(&read)? != data {
        return Err(read.problem("readers and writers of different files"));
    }
    for it in [&write, &read, &append] {
        if it.truth("directio")? || it.number_or("workingset", 0)? > 0 {
            return Err(it.problem("directio or workingset, which fslab's database does not have"));
        }
    }
    let record = write.number("iosize")?;
    if record.is_none() || record != read.number("iosize")? {
        return Err(read.problem("readers and writers with different iosize"));
    }
    let each = |process: &ProcessDefinition| -> Result<u64, JobFileProblem> {
        let threads = process.threads[0].attributes.number_or("instances", 1)?;
        Ok(process
            .attributes
            .number_or("instances", 1)?
            .saturating_mul(threads))
    };
    if each(log)? != 1 {
        return Err(log.attributes.problem("fslab's database has one log"));
    }
    let files = data.number_or("entries", 1)?;
    let (size, log_size) = (
        data.number_or("size", 1024)?,
        log_set.number_or("size", 1024)?,
    );
    let mut parameters = Parameters::new();
    let mut put = |name: &str, value| {
        parameters.insert(name.to_owned(), value);
    };
    put("data_files", json!(files));
    put("file_size", json!(size_text(size)));
    put("log_size", json!(size_text(log_size)));
    put("record", json!(size_text(record.unwrap_or(2048))));
    put(
        "log_record",
        json!(size_text(append.number_or("iosize", 256 << 10)?)),
    );
    put("readers", json!(each(reader)?));
    put("writers", json!(each(writer)?));
    put("batch", json!(write.number_or("iters", 1)?));
    put(
        "reads_per_batch",
        json!(operation(writer, 2).number_or("value", 1)?.max(1)),
    );
    put(
        "reads_per_log",
        json!(operation(log, 2).number_or("value", 1)?.max(1)),
    );
    findings.note("run: it ends after the reads of fslab's fb-oltp, not by time".to_owned());
    findings.note("aiowrite: writers write one record after the other".to_owned());
    findings.note("hog: fslab's readers and writers take no other time of processors".to_owned());
    let space = files.saturating_mul(size).saturating_add(log_size);
    let phase = DraftPhase {
        name: "database".to_owned(),
        workload: "fb-oltp",
        cache: CachePolicy::Keep,
        is_measured: true,
        parameters,
        seconds: 0,
        bytes: space,
    };
    Ok(Some(Phases {
        phases: vec![phase],
        space: BTreeMap::from([("oltp".to_owned(), space)]),
    }))
}

/// The operations of the only thread of `process`, by name.
fn heads(process: &ProcessDefinition) -> Vec<&str> {
    match process.threads.as_slice() {
        [thread] => thread
            .operations
            .iter()
            .map(|it| it.head.as_str())
            .collect(),
        _ => Vec::new(),
    }
}
