//! One direction of a fio job, all its processes joined.

use fslab_model::definitions::{CPU_SHARE, CPU_SYSTEM, CPU_USER, OPERATION_RATE, THROUGHPUT};
use fslab_model::{OperationLatency, PhaseKind, PhaseRecord, ThreadRecord};
use serde_json::Value;

use super::fio::PLACES;
use super::fio_latency::Latency;
use super::json_documents::Fields;
use crate::error::Fault;

/// Largest relative difference of fio's bandwidth from bytes per time that rounding explains.
const DIFFERENCE_MAX: f64 = 0.02;

/// One direction of a job.
pub(super) struct Side {
    pub(super) direction: &'static str,
    pub(super) kind: PhaseKind,
    processes: Vec<Done>,
    notes: Vec<String>,
}

/// One direction of one process.
struct Done {
    bytes: u64,
    /// Versions before 2.1.14 do not count them.
    operations: Option<u64>,
    /// Operations a second, as fio gives it.
    operation_rate: Option<f64>,
    runtime_ms: u64,
    latency: Option<Latency>,
}

impl Side {
    /// `None` if no process did anything.
    pub(super) fn of(
        job: &Job,
        direction: &'static str,
        kind: PhaseKind,
    ) -> Result<Option<Self>, Fault> {
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

    /// The mean size of an operation; `None` if no data was moved.
    pub(super) fn record_bytes(&self) -> Option<u64> {
        let bytes: u64 = self.processes.iter().map(|done| done.bytes).sum();
        let operations = self.processes.iter().filter_map(Done::operations_about);
        bytes.checked_div(operations.sum())
    }

    /// Stores the figures in a phase.
    pub(super) fn put(&self, record: &mut PhaseRecord) {
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
        let rates = self.processes.iter().map(|done| done.operation_rate);
        let rate: Option<f64> = rates.sum();
        if let Some(rate) = rate.filter(|rate| record.operations.is_none() && *rate > 0.0) {
            record.figures.insert(OPERATION_RATE.name.to_owned(), rate);
            let note = "This output of fio has no number of operations: their rate is as fio gives \
                        it.";
            record.notes.push(note.to_owned());
        }
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
        // With io_kbytes and bw_bytes, io_bytes is in bytes; in versions without them, in KiB.
        let is_in_bytes = ["io_kbytes", "bw_bytes"]
            .iter()
            .any(|key| fields.get(key).is_some());
        let unit = if is_in_bytes { 1 } else { 1024 };
        let wrong = || Fault::value(fields.path("io_bytes"), io_bytes.to_string(), "a size");
        let bytes = io_bytes
            .checked_mul(unit)
            .filter(|bytes| i64::try_from(*bytes).is_ok());
        let bytes = bytes.ok_or_else(wrong)?;
        let runtime_ms = fields.count("runtime")?;
        let runtime_ms = runtime_ms.ok_or_else(|| Fault::missing(&*fields.place, "runtime"))?;
        let given = match fields.number("bw_bytes")? {
            Some(bytes) => Some(bytes),
            None => fields.number("bw")?.map(|kib| kib * 1024.0),
        };
        let computed = (runtime_ms > 100).then(|| bytes as f64 * 1e3 / runtime_ms as f64);
        if let Some((given, computed)) = given.zip(computed)
            && (given - computed).abs() > DIFFERENCE_MAX * computed
        {
            notes.push(format!(
                "fio gives {given} bytes a second, and {computed:.0} are its bytes in its time; \
                 {} here is the latter.",
                THROUGHPUT.name
            ));
        }
        Ok(Self {
            bytes,
            operations: fields.count("total_ios")?,
            operation_rate: fields.number("iops")?,
            runtime_ms,
            latency: Latency::of(fields)?,
        })
    }

    /// The number of operations, computed of their rate if fio does not count them.
    fn operations_about(&self) -> Option<u64> {
        let computed = || {
            let rate = self.operation_rate?;
            Some((rate * self.runtime_ms as f64 / 1e3).round() as u64)
        };
        self.operations.or_else(computed)
    }

    fn thread(&self, operation: &str) -> ThreadRecord {
        let histogram = self
            .latency
            .as_ref()
            .and_then(|latency| latency.histogram.clone());
        let latency = histogram.map(|histogram| OperationLatency {
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

/// fio gives the processor's share over the time of all processes of a job.
pub(super) fn processor(job: &Job, is_mixed: bool, record: &mut PhaseRecord) -> Result<(), Fault> {
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
        let note = "Its share of the processor is that of the entire job, all directions.";
        record.notes.push(note.to_owned());
    }
    Ok(())
}

/// Latencies of fsync(2) and similar calls, if JSON+ has their bins.
pub(super) fn syncs(job: &Job, record: &mut PhaseRecord) -> Result<(), Fault> {
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
        record.latencies.push(OperationLatency {
            operation: "fsync".to_owned(),
            histogram,
        });
    }
    Ok(())
}

/// The processes of one job.
pub(super) struct Job<'d> {
    /// The client, or fslab's own fields: the subject and its repeat.
    pub(super) host: Option<&'d str>,
    pub(super) repeat: Option<u64>,
    pub(super) group: Option<u64>,
    pub(super) name: &'d str,
    pub(super) processes: Vec<Fields<'d>>,
}

impl Job<'_> {
    /// True if the jobs have the same options, but for paths and logs.
    pub(super) fn has_options_of(&self, other: &Job) -> bool {
        let options = |job: &Job| {
            let options = job.processes[0].get("job options");
            let options = options.and_then(Value::as_object).cloned();
            let mut options = options.unwrap_or_default();
            options.retain(|name, _| !PLACES.contains(&name.as_str()));
            options
        };
        options(self) == options(other)
    }
}
