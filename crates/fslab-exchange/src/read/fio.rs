//! fio's JSON and JSON+, versions 2 and 3: each job a phase, of a job that reads and writes each
//! direction one.
//!
//! Jobs of one name and one group are the processes of one job (`numjobs` without
//! `group_reporting`): they are put together, their histograms merged. Several documents are
//! snapshots of one execution where they began at the same time (`--status-interval`), of which the
//! last counts; else they are repeats. With `--client` each host is a subject.

use fslab_model::definitions::{CPU_SHARE, CPU_SYSTEM, CPU_USER, THROUGHPUT};
use fslab_model::{
    Facts, Failure, FailureKind, Headline, Parameters, PhaseKind, PhaseOutcome, PhaseRecord,
    ThreadRecord,
};
use serde_json::Value;

use super::fio_documents::{Document, documents};
use super::fio_fields::Fields;
use super::fio_latency::Latency;
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading};

/// What a job may do, and what of fslab's that is.
const DIRECTIONS: [(&str, PhaseKind); 3] = [
    ("read", PhaseKind::Read),
    ("write", PhaseKind::Write),
    ("trim", PhaseKind::Mixed),
];
/// Options that say where a job works or what it logs: subjects differ in them, and repeats may.
const PLACES: [&str; 12] = [
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
/// A difference of fio's own bandwidth from bytes per time that rounding does not explain.
const DIFFERENCE_MAX: f64 = 0.02;
/// Documents of one execution agree on when it began to within this.
const SAME_START_S: f64 = 2.0;

/// Reads every execution.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading::default();
    let documents = documents(text)?;
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

/// Whether `after` is a later snapshot of the execution that `before` is of.
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

/// When an execution began, and how far it had come.
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

/// The processes of one job.
struct Job<'d> {
    /// The client, or what fslab says itself: the subject and its repeat.
    host: Option<&'d str>,
    repeat: Option<u64>,
    group: Option<u64>,
    name: &'d str,
    processes: Vec<Fields<'d>>,
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
            return Err(Fault::missing(self.document.path("jobs"), "jobs"));
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
                ..Measured::default()
            };
            for job in jobs.iter().filter(is_of) {
                let is_twin = |other: &&Job| other.name == job.name && is_of(other);
                let has_twin = jobs.iter().filter(is_twin).count() > 1;
                self.job(job, has_twin, &mut measured)?;
                let engine = self.option(&job.processes[0], "ioengine")?;
                if let Some(engine) = engine.filter(|engine| !engines.contains(engine)) {
                    engines.push(engine);
                }
            }
            tell_twins_apart(&mut measured.phases);
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

    /// The jobs, each with its processes. The sum over all clients is no job.
    fn jobs(&self) -> Result<Vec<Job<'d>>, Fault> {
        let list = match self.document.list("jobs")? {
            Some(list) => list,
            None => self.document.list("client_stats")?.unwrap_or_default(),
        };
        let mut jobs: Vec<Job> = Vec::new();
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
            let key = (host, repeat, group, name);
            let is_same = |job: &&mut Job| (job.host, job.repeat, job.group, job.name) == key;
            match jobs.iter_mut().find(is_same) {
                Some(job) => job.processes.push(fields),
                None => jobs.push(Job {
                    host,
                    repeat,
                    group,
                    name,
                    processes: vec![fields],
                }),
            }
        }
        Ok(jobs)
    }

    /// An option of the job, else of all.
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
            if let Some(side) = Side::of(job, direction, kind)? {
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
            let mut record = draft(base, kind, parameters).record();
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
            let mut record = draft(name, side.kind, parameters).record();
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

fn draft(name: String, kind: PhaseKind, parameters: Parameters) -> Draft {
    let block = parameters.get("bs").map_or_else(String::new, plain);
    Draft {
        name,
        workload: "fio".to_owned(),
        kind,
        headline: headline(&block),
        parameters,
        swept: None,
    }
}

/// What is small and many is known by its operations; fio's default block is 4 KiB.
fn headline(block: &str) -> Headline {
    let digits: String = block.chars().take_while(char::is_ascii_digit).collect();
    let suffix = block[digits.len()..].to_ascii_lowercase();
    let unit = match suffix.chars().next() {
        Some('k') => 1 << 10,
        Some('m') => 1 << 20,
        Some('g') => 1 << 30,
        _ => 1_u64,
    };
    let bytes = digits
        .parse::<u64>()
        .map_or(4096, |number| number.saturating_mul(unit));
    if bytes < 64 << 10 {
        Headline::OperationRate
    } else {
        Headline::Throughput
    }
}

/// What a job was to do, for one that did nothing.
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

/// Phases of one name are numbered.
fn tell_twins_apart(phases: &mut [PhaseRecord]) {
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

/// What a job did in one direction.
struct Side {
    direction: &'static str,
    kind: PhaseKind,
    processes: Vec<Done>,
    notes: Vec<String>,
}

/// What one process did in one direction.
struct Done {
    bytes: u64,
    operations: Option<u64>,
    runtime_ms: u64,
    latency: Option<Latency>,
}

impl Side {
    /// `None` where no process did anything.
    fn of(job: &Job, direction: &'static str, kind: PhaseKind) -> Result<Option<Self>, Fault> {
        let (mut processes, mut notes) = (Vec::new(), Vec::new());
        for process in &job.processes {
            let Some(fields) = process.object(direction)? else {
                continue;
            };
            let done = Done::of(&fields, &mut notes)?;
            if done.bytes > 0 || done.operations.unwrap_or(0) > 0 {
                processes.push(done);
            }
        }
        Ok((!processes.is_empty()).then_some(Self {
            direction,
            kind,
            processes,
            notes,
        }))
    }

    fn put(&self, record: &mut PhaseRecord) {
        let runtime_ms = self.processes.iter().map(|done| done.runtime_ms).max();
        let runtime_ns = runtime_ms
            .filter(|ms| *ms > 0)
            .map(|ms| ms.saturating_mul(1_000_000));
        record.elapsed_ns = runtime_ns;
        if runtime_ns.is_none() {
            let note = "It took less than a millisecond, and fio gives no time of that.";
            record.notes.push(note.to_owned());
        }
        record.bytes = Some(self.processes.iter().map(|done| done.bytes).sum());
        let operations = self.processes.iter().map(|done| done.operations);
        record.operations = operations.sum();
        record.notes.extend(self.notes.iter().cloned());
        let mut latencies = self.processes.iter().map(|done| done.latency.as_ref());
        if let Some(Some(first)) = latencies.next() {
            let mut merged = first.clone();
            let others: Option<Vec<&Latency>> = latencies.collect();
            let others = others.unwrap_or_default();
            others.iter().for_each(|other| merged.merge(other));
            if self.processes.len() > 1 && merged.histogram.is_none() {
                let note = "Percentiles of several processes cannot be put together without their \
                            bins; fio's JSON+ has them.";
                record.notes.push(note.to_owned());
            }
            merged.put(record, self.direction);
        }
        if self.processes.len() > 1 {
            let threads = self
                .processes
                .iter()
                .map(|done| done.thread(self.direction));
            record.threads = threads.collect();
        }
    }
}

impl Done {
    fn of(fields: &Fields, notes: &mut Vec<String>) -> Result<Self, Fault> {
        let io_bytes = fields.count("io_bytes")?;
        let io_bytes = io_bytes.ok_or_else(|| Fault::missing(&*fields.place, "io_bytes"))?;
        // Since io_kbytes is there, io_bytes is in bytes; before, it was in KiB.
        let unit = if fields.get("io_kbytes").is_some() {
            1
        } else {
            1024
        };
        let wrong = || Fault::value(fields.path("io_bytes"), io_bytes.to_string(), "a size");
        let bytes = io_bytes
            .checked_mul(unit)
            .filter(|bytes| i64::try_from(*bytes).is_ok());
        let bytes = bytes.ok_or_else(wrong)?;
        let runtime_ms = fields.count("runtime")?;
        let runtime_ms = runtime_ms.ok_or_else(|| Fault::missing(&*fields.place, "runtime"))?;
        let told = match fields.number("bw_bytes")? {
            Some(bytes) => Some(bytes),
            None => fields.number("bw")?.map(|kib| kib * 1024.0),
        };
        fields.number("iops")?;
        let computed = (runtime_ms > 100).then(|| bytes as f64 * 1e3 / runtime_ms as f64);
        if let Some((told, computed)) = told.zip(computed)
            && (told - computed).abs() > DIFFERENCE_MAX * computed
        {
            notes.push(format!(
                "fio gives {told} bytes a second, and {computed:.0} are its bytes in its time; \
                 {} here is the latter.",
                THROUGHPUT.name
            ));
        }
        Ok(Self {
            bytes,
            operations: fields.count("total_ios")?,
            runtime_ms,
            latency: Latency::of(fields)?,
        })
    }

    fn thread(&self, operation: &str) -> ThreadRecord {
        let histogram = self
            .latency
            .as_ref()
            .and_then(|latency| latency.histogram.clone());
        let latency = histogram.map(|histogram| fslab_model::OperationLatency {
            operation: operation.to_owned(),
            histogram,
        });
        ThreadRecord {
            elapsed_ns: self.runtime_ms.saturating_mul(1_000_000),
            operations: self.operations.unwrap_or_default(),
            bytes: self.bytes,
            latencies: latency.into_iter().collect(),
            cpu: None,
        }
    }
}

/// fio gives the share of the processor over the time of all processes of a job.
fn processor(job: &Job, is_mixed: bool, record: &mut PhaseRecord) -> Result<(), Fault> {
    let mut times: Option<[f64; 2]> = Some([0.0; 2]);
    let mut shares = 0.0;
    for process in &job.processes {
        let (user, system) = (process.number("usr_cpu")?, process.number("sys_cpu")?);
        let Some((user, system)) = user.zip(system) else {
            return Ok(());
        };
        shares += (user + system) / 100.0;
        let runtime_ns = process.count("job_runtime")?.map(|ms| ms as f64 * 1e6);
        times = times.zip(runtime_ns).map(|([all_user, all_system], ns)| {
            [
                all_user + user / 100.0 * ns,
                all_system + system / 100.0 * ns,
            ]
        });
    }
    let mut set = |name: &str, value: f64| record.figures.insert(name.to_owned(), value);
    let elapsed_ns = record.elapsed_ns.filter(|_| !is_mixed);
    match times.zip(elapsed_ns) {
        Some(([user, system], elapsed_ns)) => {
            set(CPU_USER.name, user);
            set(CPU_SYSTEM.name, system);
            set(CPU_SHARE.name, (user + system) / elapsed_ns as f64);
        }
        None => {
            set(CPU_SHARE.name, shares);
        }
    }
    if is_mixed {
        let note = "Its share of the processor is that of the whole job, all directions.";
        record.notes.push(note.to_owned());
    }
    Ok(())
}

/// Latencies of fsync(2) and its like, where JSON+ has their bins.
fn syncs(job: &Job, record: &mut PhaseRecord) -> Result<(), Fault> {
    let mut merged: Option<Latency> = None;
    for process in &job.processes {
        let Some(fields) = process.object("sync")? else {
            continue;
        };
        if let Some(latency) = Latency::of(&fields)? {
            match &mut merged {
                Some(merged) => merged.merge(&latency),
                None => merged = Some(latency),
            }
        }
    }
    if let Some(histogram) = merged.and_then(|merged| merged.histogram) {
        record.latencies.push(fslab_model::OperationLatency {
            operation: "fsync".to_owned(),
            histogram,
        });
    }
    Ok(())
}
