//! fio's JSON and JSON+, versions 2 and 3, its terse output, and its output for people: each job is
//! a phase; a job that reads and writes is one phase per direction.
//!
//! Jobs of one name, one group and the same options are the processes of one job (`numjobs` without
//! `group_reporting`): they are joined, with merged histograms. With other options they are other
//! jobs, which their options tell apart. Documents with the same start time are snapshots of one
//! execution (`--status-interval`), of which the last counts; others are other executions. With
//! `--client` each host is a subject.

use std::collections::BTreeMap;

use fslab_model::{
    Facts, Failure, FailureKind, Headline, Parameters, PhaseKind, PhaseOutcome, PhaseRecord,
};
use serde_json::Value;

use super::fio_side::{Job, Side, processor, syncs};
use super::json_documents::{Document, Fields, documents};
use super::{fio_terse, fio_text};
use crate::apart::distinguish_phases;
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading};

/// The directions of a job, with fslab's kinds.
pub(super) const DIRECTIONS: [(&str, PhaseKind); 4] = [
    ("read", PhaseKind::Read),
    ("write", PhaseKind::Write),
    ("trim", PhaseKind::Mixed),
    (ALL, PhaseKind::Mixed),
];
/// All directions in one (`unified_rw_reporting=mixed`); with `both`, the others are reported, too,
/// and this is their sum.
const ALL: &str = "mixed";
/// Options for paths and logs, in which subjects and repeats may differ.
pub(super) const PLACES: [&str; 12] = [
    "directory",
    "filename",
    "filename_format",
    "opendir",
    "name",
    "description",
    "hostname",
    "unique_filename",
    "nrfiles_path",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
];
/// Operations of at least this mean size have the headline throughput. Between the usual 32 and 64
/// KiB, because the mean of a snapshot is a little less than the size.
const THROUGHPUT_BYTES_MIN: u64 = 48 << 10;
/// How fio writes JSON.
const HINT: &str = "run fio with --output-format=json or json+";
/// Largest difference of the start times of one execution's documents.
const SAME_START_S: f64 = 2.0;

/// True for a line that only fio writes: the first field of a document of JSON, which may be in a
/// list, or a job of the terse output or of the one for people.
pub(crate) fn is_mark(line: &str) -> bool {
    let field = line.trim_start_matches(['[', '{', ' ']);
    field.starts_with("\"fio version\"") || fio_terse::is_mark(line) || fio_text::is_mark(line)
}

/// Reads every execution.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading::default();
    let has_json = text
        .lines()
        .any(|line| line.trim_start().starts_with(['{', '[']));
    let terse = match has_json {
        true => None,
        false => fio_terse::document(text)?,
    };
    let documents = match terse {
        Some(document) => {
            let note = "the terse output has no options of the jobs and no times: what is not in \
                        their names is not known";
            reading.notes.push(note.to_owned());
            vec![document]
        }
        None if !has_json && text.lines().any(|line| fio_text::is_mark(line.trim())) => {
            let note = "this output of fio has rounded figures, and of the options only rw, bs, \
                        ioengine and iodepth";
            reading.notes.push(note.to_owned());
            fio_text::documents(text)?
        }
        None => documents(text, HINT)?,
    };
    let is_fio = |document: &&Document| document.value.get("fio version").is_some();
    let documents: Vec<&Document> = documents.iter().filter(is_fio).collect();
    let mut executions: Vec<&Document> = Vec::new();
    for document in &documents {
        let goes_on = executions
            .last()
            .is_some_and(|last| is_later(last, document));
        if goes_on {
            executions.pop();
        }
        executions.push(document);
    }
    let snapshots = documents.len() - executions.len();
    if snapshots > 0 {
        let text = format!("{snapshots} earlier snapshots of the same execution were left out");
        reading.notes.push(text);
    }
    let mut tools: Vec<String> = Vec::new();
    let mut engines: Vec<String> = Vec::new();
    for document in executions {
        let execution = Execution::of(document)?;
        if !tools.contains(&execution.tool) {
            tools.push(execution.tool.clone());
        }
        execution.measure(&mut reading, &mut engines)?;
    }
    reading.tool = tools.join(", ");
    reading.engine = (!engines.is_empty()).then(|| engines.join(", "));
    Ok(reading)
}

/// True if `after` is a later snapshot of the execution of `before`.
fn is_later(before: &Document, after: &Document) -> bool {
    let (before, after) = (Start::of(&before.value), Start::of(&after.value));
    if before.names != after.names || before.operations > after.operations {
        return false;
    }
    match (before.jobs_ms, after.jobs_ms) {
        (Some(before), Some(after)) => return before == after,
        (None, None) => {}
        _ => return false,
    }
    let starts = before.began_s.zip(after.began_s);
    starts.is_some_and(|(before, after)| (before - after).abs() <= SAME_START_S)
}

/// The start of an execution, and its progress.
struct Start {
    names: Vec<String>,
    jobs_ms: Option<u64>,
    began_s: Option<f64>,
    operations: u64,
}

impl Start {
    fn of(document: &Value) -> Self {
        let jobs = document["jobs"].as_array().map_or(&[][..], Vec::as_slice);
        let operations = |job: &Value| {
            let of = |(name, _): &(&str, PhaseKind)| job[*name]["total_ios"].as_u64();
            DIRECTIONS.iter().filter_map(of).sum::<u64>()
        };
        let longest = jobs
            .iter()
            .filter_map(|job| job["elapsed"].as_f64())
            .reduce(f64::max);
        let written_s = document["timestamp_ms"]
            .as_f64()
            .map(|ms| ms / 1e3)
            .or(document["timestamp"].as_f64());
        Self {
            names: jobs.iter().map(|job| job["jobname"].to_string()).collect(),
            jobs_ms: jobs
                .iter()
                .filter_map(|job| job["job_start"].as_u64())
                .min(),
            began_s: written_s
                .zip(longest)
                .map(|(written, elapsed)| written - elapsed),
            operations: jobs.iter().map(operations).sum(),
        }
    }
}

/// One execution of fio.
struct Execution<'d> {
    tool: String,
    document: Fields<'d>,
    options: Option<Fields<'d>>,
}

impl<'d> Execution<'d> {
    fn of(document: &'d Document) -> Result<Self, Fault> {
        let place = format!("document at line {}", document.line);
        let fields = Fields::of(place, &document.value)?;
        let version = fields.text("fio version")?.unwrap_or_default();
        let tool = match version.split_once('-') {
            Some((tool, version)) => format!("{tool} {version}"),
            None => format!("fio {version}"),
        };
        Ok(Self {
            tool: tool.trim_end().to_owned(),
            options: fields.object("global options")?,
            document: fields,
        })
    }

    fn measure(&self, reading: &mut Reading, engines: &mut Vec<String>) -> Result<(), Fault> {
        let jobs = self.jobs()?;
        if jobs.is_empty() {
            let fault = match self.document.list("jobs")? {
                Some(_) => Fault::new(self.document.path("jobs"), "it is empty: fio ran no job"),
                None => Fault::missing(&*self.document.place, "jobs"),
            };
            return Err(fault.hint("import the output of an execution with jobs"));
        }
        let mut trials: Vec<(Option<&str>, Option<u64>)> = Vec::new();
        for job in &jobs {
            if !trials.contains(&(job.host, job.repeat)) {
                trials.push((job.host, job.repeat));
            }
        }
        for (host, repeat) in trials {
            let is_of = |job: &&Job| job.host == host && job.repeat == repeat;
            let mut measured = Measured {
                subject: host.map(str::to_owned),
                repeat: repeat.and_then(|repeat| u32::try_from(repeat).ok()),
                facts: self.facts()?,
                began_unix_s: self.document.count("timestamp")?,
                stamp: self.document.count("timestamp")?.map(|it| it.to_string()),
                ..Measured::default()
            };
            let mut by_name: BTreeMap<&str, Vec<&Job>> = BTreeMap::new();
            for job in jobs.iter().filter(is_of) {
                by_name.entry(job.name).or_default().push(job);
            }
            for job in jobs.iter().filter(is_of) {
                let is_twin = |other: &&&Job| other.has_options_of(job);
                let has_twin = by_name[job.name].iter().filter(is_twin).count() > 1;
                self.job(job, has_twin, &mut measured)?;
                let engine = self.option(&job.processes[0], "ioengine")?;
                if let Some(engine) = engine.filter(|engine| !engines.contains(engine)) {
                    engines.push(engine);
                }
            }
            distinguish_phases(measured.phases.iter_mut());
            number_same_names(&mut measured.phases);
            reading.trials.push(measured);
        }
        Ok(())
    }

    fn facts(&self) -> Result<Facts, Fault> {
        let mut facts = Facts::from([("fio".to_owned(), self.tool.clone())]);
        if let Some(time) = self.document.text("time")? {
            facts.insert("fio time".into(), time.to_owned());
        }
        Ok(facts)
    }

    /// The jobs, each with its processes, without the sum over all clients.
    fn jobs(&self) -> Result<Vec<Job<'d>>, Fault> {
        let list = match self.document.list("jobs")? {
            Some(list) => list,
            None => self.document.list("client_stats")?.unwrap_or_default(),
        };
        let mut jobs: Vec<Job> = Vec::new();
        let mut places: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, value) in (1..).zip(list) {
            let place = format!("{}, job {number}", self.document.place);
            let mut fields = Fields::of(place, value)?;
            let name = fields.text("jobname")?;
            let name = name.ok_or_else(|| Fault::missing(&*fields.place, "jobname"))?;
            fields.place = format!("{} ({name})", fields.place);
            let own = fields.object("fslab")?;
            let (host, repeat) = match &own {
                Some(own) => (own.text("subject")?, own.count("repeat")?),
                None => (fields.text("hostname")?, None),
            };
            let host = host.filter(|host| !host.is_empty());
            if name == "All clients" && list.len() > 1 {
                continue;
            }
            let group = fields.count("groupid")?;
            let places = places.entry((host, repeat, group, name)).or_default();
            let new = Job {
                host,
                repeat,
                group,
                name,
                processes: vec![fields],
            };
            match places
                .iter()
                .find(|place| jobs[**place].has_options_of(&new))
            {
                Some(place) => jobs[*place].processes.extend(new.processes),
                None => {
                    places.push(jobs.len());
                    jobs.push(new);
                }
            }
        }
        Ok(jobs)
    }

    /// An option of the job, else the global one.
    fn option(&self, job: &Fields<'d>, name: &str) -> Result<Option<String>, Fault> {
        let own = job
            .object("job options")?
            .and_then(|options| options.get(name).cloned());
        let global = || self.options.as_ref()?.get(name).cloned();
        let value = own.or_else(global);
        Ok(value.map(|value| value.as_str().map_or(value.to_string(), str::to_owned)))
    }

    fn job(&self, job: &Job<'d>, has_twin: bool, measured: &mut Measured) -> Result<(), Fault> {
        let first = &job.processes[0];
        let mut parameters = Parameters::new();
        let options = first.object("job options")?;
        for options in self.options.iter().chain(&options) {
            for (name, value) in options.iter() {
                if PLACES.contains(&name.as_str()) {
                    measured
                        .facts
                        .insert(format!("fio {}, {name}", job.name), plain(value));
                } else {
                    parameters.insert(name.clone(), value.clone());
                }
            }
        }
        parameters.insert("jobname".into(), job.name.into());
        if job.processes.len() > 1 {
            parameters.insert("processes".into(), job.processes.len().into());
        }
        let mut sides: Vec<Side> = Vec::new();
        for (direction, kind) in DIRECTIONS {
            let is_sum = direction == ALL && !sides.is_empty();
            if let Some(side) = Side::of(job, direction, kind)?.filter(|_| !is_sum) {
                sides.push(side);
            }
        }
        let base = match (has_twin, job.group) {
            (true, Some(group)) => format!("{}-group-{group}", job.name),
            _ => job.name.to_owned(),
        };
        let failure = failure(job)?;
        if sides.is_empty() || failure.is_some() {
            let side = sides.first();
            let kind = side.map_or(kind_of(&parameters), |side| side.kind);
            let mut record = draft(base, kind, parameters, None).record();
            record.outcome = match failure {
                Some(failure) => PhaseOutcome::Failed { failure },
                None => PhaseOutcome::Skipped {
                    reason: "fio read, wrote and trimmed nothing in it".to_owned(),
                },
            };
            measured.phases.push(record);
            return Ok(());
        }
        let is_mixed = sides.len() > 1;
        for side in &sides {
            let mut parameters = parameters.clone();
            parameters.insert("direction".into(), side.direction.into());
            let name = match is_mixed {
                true => format!("{base}-{}", side.direction),
                false => base.clone(),
            };
            let mut record = draft(name, side.kind, parameters, side.record_bytes()).record();
            side.put(&mut record);
            processor(job, is_mixed, &mut record)?;
            if side.direction == "write" {
                syncs(job, &mut record)?;
            }
            measured.phases.push(record);
        }
        Ok(())
    }
}

/// An option as text.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn draft(
    name: String,
    kind: PhaseKind,
    parameters: Parameters,
    record_bytes: Option<u64>,
) -> Draft {
    Draft {
        name,
        workload: "fio".to_owned(),
        kind,
        headline: headline(record_bytes),
        parameters,
        swept: None,
    }
}

/// Small operations and those without data have the headline operation rate.
fn headline(record_bytes: Option<u64>) -> Headline {
    if record_bytes.is_some_and(|bytes| bytes >= THROUGHPUT_BYTES_MIN) {
        Headline::Throughput
    } else {
        Headline::OperationRate
    }
}

/// The kind of a job that did nothing, by its options.
fn kind_of(parameters: &Parameters) -> PhaseKind {
    let option = ["rw", "readwrite"]
        .iter()
        .find_map(|name| parameters.get(*name));
    match option.and_then(Value::as_str).unwrap_or("read") {
        "read" | "randread" => PhaseKind::Read,
        "write" | "randwrite" => PhaseKind::Write,
        _ => PhaseKind::Mixed,
    }
}

/// Numbers phases of the same name.
fn number_same_names(phases: &mut [PhaseRecord]) {
    for index in 1..phases.len() {
        let name = phases[index].name.clone();
        let twins = phases[..index]
            .iter()
            .filter(|phase| phase.name == name)
            .count();
        if twins > 0 {
            phases[index].name = format!("{name}-{}", twins + 1);
        }
    }
}

/// The first process that failed.
fn failure(job: &Job) -> Result<Option<Failure>, Fault> {
    for process in &job.processes {
        let code = process
            .get("error")
            .and_then(Value::as_i64)
            .unwrap_or_default();
        if code != 0 {
            let text = format!("the job '{}' of fio ended with the error {code}", job.name);
            let mut failure = Failure::new(FailureKind::Io, text);
            failure.errno = i32::try_from(code).ok();
            return Ok(Some(failure));
        }
    }
    Ok(None)
}
