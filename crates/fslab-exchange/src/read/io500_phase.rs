//! A phase of IO500: its score is a bandwidth in GiB/s if IOR measured it, otherwise a rate in
//! thousands a second.

use fslab_model::definitions::{ELAPSED, OPERATION_RATE, THROUGHPUT};
use fslab_model::{Headline, MetricDefinition, Parameters, PhaseKind, PhaseOutcome, PhaseRecord};
use serde_json::Value;

use super::command_line::CommandLine;
use super::ior_options::{FILE_EACH, ONE_FILE};
use super::mdtest_options;
use crate::reading::{Draft, plain_name};

/// The phase that only writes down the time.
pub(super) const TIMESTAMP: &str = "timestamp";

/// Bytes of a GiB.
const GIB: f64 = 1_073_741_824.0;

/// What IO500 gives of a phase.
pub(super) struct Scored<'t> {
    pub(super) name: &'t str,
    pub(super) score: f64,
    /// With preparation and end.
    pub(super) time_s: Option<f64>,
    /// Why the phase is not valid.
    pub(super) invalid: Vec<String>,
    pub(super) parameters: Parameters,
}

/// True if IOR measures the phase.
pub(super) fn is_of_data(name: &str) -> bool {
    name.starts_with("ior")
}

impl Scored<'_> {
    pub(super) fn record(self) -> PhaseRecord {
        // The scripts of 2019 and before have names like `ior_easy_write`.
        let name = plain_name(self.name).replace('_', "-");
        let is_of_data = is_of_data(&name);
        let (metric, headline, value): (&MetricDefinition, _, f64) = match is_of_data {
            true => (&THROUGHPUT, Headline::Throughput, self.score * GIB),
            // It is printed with six decimals, which the product keeps.
            false => (
                &OPERATION_RATE,
                Headline::OperationRate,
                (self.score * 1e9).round() / 1e6,
            ),
        };
        let kind = match (is_of_data, name.ends_with("-write")) {
            (true, true) => PhaseKind::Write,
            (true, false) => PhaseKind::Read,
            (false, _) => PhaseKind::Metadata,
        };
        let draft = Draft {
            name,
            workload: "io500".to_owned(),
            kind,
            headline,
            parameters: self.parameters,
            swept: None,
        };
        let mut record = draft.record();
        let invalid = self.invalid.iter();
        record.notes = invalid
            .map(|mark| format!("IO500: invalid: {mark}"))
            .collect();
        if self.score == 0.0 {
            record.outcome = PhaseOutcome::Skipped {
                reason: "IO500 gives it a score of 0".to_owned(),
            };
            return record;
        }
        record.figures.insert(metric.name.to_owned(), value);
        if let Some(seconds) = self.time_s.filter(|seconds| *seconds > 0.0) {
            record
                .figures
                .insert(ELAPSED.name.to_owned(), (seconds * 1e9).round());
            let note = "Its time is that of the entire phase, with preparation and end; the score \
                        is of the time that IOR, mdtest or find measured.";
            record.notes.push(note.to_owned());
        }
        record
    }
}

/// The parameters of a phase, of the command that IO500 gives it.
pub(super) fn parameters(name: &str, command: &str, tasks: Option<u64>) -> Parameters {
    let mut parameters = Parameters::new();
    let mut set = |name: &str, value: Option<Value>| {
        value.map(|value| parameters.insert(name.to_owned(), value))
    };
    set("tasks", tasks.map(Value::from));
    let line = CommandLine::of(command);
    if is_of_data(name) && !command.is_empty() {
        set("api", line.value("-a").map(Value::from));
        let access = if line.has("-F") { FILE_EACH } else { ONE_FILE };
        set("access", Some(access.into()));
        let order = if line.has("-z") {
            "random"
        } else {
            "sequential"
        };
        set("order", Some(order.into()));
        set("segments", line.count("-s").or(Some(1)).map(Value::from));
        set("transfer_size", line.bytes("-t").map(Value::from));
        set("block_size", line.bytes("-b").map(Value::from));
        let offset = if line.has("-C") {
            line.count("-Q").or(Some(1))
        } else {
            Some(0)
        };
        set("task_offset", offset.map(Value::from));
        set("fsync", Some(line.has("-e").into()));
        set("stonewall_s", line.count("-D").map(Value::from));
        let wears_out = line
            .directive("stoneWallingWearOut")
            .map(|value| value != "0");
        set("wear_out", wears_out.map(Value::from));
    }
    if name.starts_with("mdtest") && !command.is_empty() {
        let items = line.count("-n").zip(tasks);
        let items = items.and_then(|(items, tasks)| items.checked_mul(tasks));
        set("items", items.map(Value::from));
        mdtest_options::put(command, &mut parameters);
    }
    parameters
}
