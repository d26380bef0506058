//! Records a probe's operations, latencies, notes and figures, and reads the device's counters.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fslab_engine::{DataJob, Measured, RunContext, SyncPolicy, cpu_use, run_data};
use fslab_job::{Finished, RunError, SyntheticCost, measured, synthetic_result};
use fslab_model::{Facts, LatencyCounts, OperationLatency, ValueList};
use fslab_sys::{BlockCounters, DeviceNumber, ResourceUse, monotonic_ns};

use crate::failure::ConformanceFailure;

pub(crate) struct ProbeRecorder<'a> {
    context: &'a RunContext,
    device: Option<DeviceNumber>,
    began: (u64, ResourceUse),
    operations: u64,
    bytes: u64,
    latencies: BTreeMap<&'static str, LatencyCounts>,
    notes: Vec<String>,
    figures: BTreeMap<String, f64>,
    lists: Vec<ValueList>,
}

impl<'a> ProbeRecorder<'a> {
    pub(crate) fn new(context: &'a RunContext) -> Self {
        let root = context.outer_path(&context.root);
        Self {
            context,
            device: context.outside(|| fslab_sys::device_below(&root)),
            began: (monotonic_ns(), ResourceUse::of_process()),
            operations: 0,
            bytes: 0,
            latencies: BTreeMap::new(),
            notes: Vec::new(),
            figures: BTreeMap::new(),
            lists: Vec::new(),
        }
    }

    pub(crate) fn context(&self) -> &RunContext {
        self.context
    }

    /// Times `call` as `operation`. Returns its result and duration in nanoseconds.
    pub(crate) fn timed<T>(
        &mut self,
        operation: &'static str,
        path: &Path,
        call: impl FnOnce() -> io::Result<T>,
    ) -> Result<(T, u64), RunError> {
        self.check_stop()?;
        let began_ns = monotonic_ns();
        let outcome = call();
        let passed_ns = monotonic_ns() - began_ns;
        let counts = self.latencies.entry(operation).or_default();
        counts.record(passed_ns);
        self.operations += 1;
        Ok((must(operation, path, outcome)?, passed_ns))
    }

    /// Fails if a stop was requested.
    pub(crate) fn check_stop(&self) -> Result<(), RunError> {
        if self.context.stop.is_raised() {
            return Err(ConformanceFailure::interrupted().into());
        }
        Ok(())
    }

    /// Adds bytes read or written outside of [`ProbeRecorder::write_file`].
    pub(crate) fn add_bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Adds operations that were not timed here.
    pub(crate) fn add_operations(&mut self, operations: u64) {
        self.operations += operations;
    }

    /// Writes and syncs `file`, below the root.
    pub(crate) fn write_file(&mut self, file: &Path, bytes: u64) -> Result<(), RunError> {
        let mut job = DataJob::write(file.to_owned(), bytes, bytes.min(1 << 20));
        job.sync = SyncPolicy::CLOSING_FSYNC;
        run_data(self.context, &job)?;
        self.operations += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// The device's counters; `None` without a device.
    pub(crate) fn counters(&self) -> Option<BlockCounters> {
        let device = self.device?;
        self.context.outside(|| device.counters()).ok()
    }

    pub(crate) fn has_device(&self) -> bool {
        self.counters().is_some()
    }

    /// True if the device reports requests in flight.
    pub(crate) fn is_device_busy(&self) -> bool {
        let in_flight = |device| {
            self.context
                .outside(|| fslab_sys::requests_in_flight(device))
        };
        let in_flight = self.device.and_then(in_flight);
        in_flight.is_some_and(|requests| requests > 0)
    }

    /// Adds a note once.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    pub(crate) fn figure(&mut self, metric: &fslab_model::MetricDefinition, value: f64) {
        self.figures.insert(metric.name.to_owned(), value);
    }

    pub(crate) fn list(&mut self, list: ValueList) {
        self.lists.push(list);
    }

    /// The probe's result.
    pub(crate) fn finish(self) -> Finished {
        let (start_ns, used) = self.began;
        let elapsed_ns = monotonic_ns() - start_ns;
        let used = ResourceUse::of_process().since(used);
        let cpu = cpu_use(used);
        let latency = |(operation, counts): (&str, LatencyCounts)| OperationLatency {
            operation: operation.to_owned(),
            histogram: counts.histogram(),
        };
        Finished {
            measured: Measured {
                start_ns,
                latencies: self.latencies.into_iter().map(latency).collect(),
                cpu: Some(cpu),
                ..measured(elapsed_ns, self.operations, Some(self.bytes))
            },
            notes: self.notes,
            figures: self.figures,
            lists: self.lists,
            facts: Facts::new(),
        }
    }
}

/// Adds operation and path to an I/O error.
pub(crate) fn must<T>(operation: &str, path: &Path, outcome: io::Result<T>) -> Result<T, RunError> {
    outcome.map_err(|error| ConformanceFailure::io(operation, path, &error).into())
}

/// The result of the null engine.
pub(crate) fn synthetic_probe(operations: u64, bytes: u64) -> Finished {
    let cost = SyntheticCost {
        spread_ns: 0,
        ..SyntheticCost::CALL
    };
    synthetic_result(0, cost, operations, Some(bytes)).into()
}
