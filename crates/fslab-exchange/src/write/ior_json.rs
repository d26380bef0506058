//! A run in the form of IOR's JSON (`-O summaryFormat=JSON`): a test for each subject and phase, a
//! result for each repeat, and the summary.
//!
//! Keys are those of IOR 4. What IOR measures and fslab does not, the times to open, to transfer
//! and to close, is null. Each test has in addition an object `fslab` with subject, phase and
//! repeats.

use super::calendar;
use super::ior_shape::Shape;
use super::left_out::note;
use super::repeat_summary::Spread;
use fslab_model::definitions::{ELAPSED, OPERATION_RATE, THROUGHPUT};
use fslab_model::{
    Failure, MetricDefinition, PhaseOutcome, PhaseRecord, RunRecord, TrialRecord, VenuePlan,
    phase_metrics,
};
use serde_json::{Map, Value, json};

const MIB: f64 = 1_048_576.0;
/// The fact with the machine of each rank.
pub(super) const HOSTS_FACT: &str = "ranks.hosts";

/// One test: the repeats of a phase of one subject.
struct Test<'r> {
    id: usize,
    trial: &'r TrialRecord,
    phase: &'r PhaseRecord,
    shape: Shape,
    results: Vec<Repeat>,
}

/// One result.
struct Repeat {
    number: u32,
    bandwidth: f64,
    elapsed_s: f64,
    operations: Option<f64>,
    latency_s: Option<f64>,
}

/// The run in the form of IOR's JSON, and a list of what that form cannot hold.
pub fn ior_json(run: &RunRecord) -> Result<(String, Vec<String>), Failure> {
    let (mut tests, mut left_out) = (Vec::<Test>::new(), Vec::<String>::new());
    for trial in &run.trials {
        for phase in &trial.phases {
            if matches!(phase.outcome, PhaseOutcome::Skipped { .. }) {
                continue;
            }
            let found = Shape::of(&run.header.plan, phase)
                .and_then(|shape| Ok((shape, repeat(run, trial, phase)?)));
            match found {
                Ok((shape, repeat)) => add(&mut tests, trial, phase, shape, repeat),
                Err(reason) => note(&mut left_out, phase, &reason),
            }
        }
    }
    if tests.is_empty() {
        let needs =
            "IOR's format needs phases that write or read files, with bandwidth and duration";
        return Err(Failure::bad_input(needs));
    }
    let version = match &run.header.plan.venue {
        VenuePlan::Imported { tool } if tool.starts_with("ior ") => tool["ior ".len()..].to_owned(),
        _ => format!("fslab-{}", run.header.fslab),
    };
    let kernel = run.header.machine.kernel.clone().unwrap_or_default();
    let document = json!({
        "Version": version,
        "Began": calendar::of_ior(run.header.started_unix_s),
        "Command line": run.header.command.join(" "),
        "Machine": kernel,
        "tests": tests.iter().map(Test::value).collect::<Vec<Value>>(),
        "summary": tests.iter().map(Test::summary).collect::<Vec<Value>>(),
    });
    Ok((super::left_out::json_text(&document)? + "\n", left_out))
}

fn add<'r>(
    tests: &mut Vec<Test<'r>>,
    trial: &'r TrialRecord,
    phase: &'r PhaseRecord,
    shape: Shape,
    repeat: Repeat,
) {
    let is_same = |test: &&mut Test| {
        test.trial.subject == trial.subject && test.phase.name == phase.name && test.shape == shape
    };
    if let Some(test) = tests.iter_mut().find(is_same) {
        test.results.push(repeat);
        return;
    }
    let id = tests.len();
    tests.push(Test {
        id,
        trial,
        phase,
        shape,
        results: vec![repeat],
    });
}

/// The figures of one repeat, each round as one more; or what it lacks.
fn repeat(run: &RunRecord, trial: &TrialRecord, phase: &PhaseRecord) -> Result<Repeat, String> {
    if let PhaseOutcome::Failed { .. } = phase.outcome {
        return Err("it failed".to_owned());
    }
    let metrics = phase_metrics(phase);
    let figure = |definition: &MetricDefinition| {
        let found = metrics
            .iter()
            .find(|metric| metric.definition.name == definition.name);
        found
            .map(|metric| metric.value)
            .filter(|value| *value > 0.0)
    };
    let needed = |definition: &MetricDefinition, what: &str| {
        figure(definition).ok_or_else(|| format!("it has no {what}, which IOR's format needs"))
    };
    let rounds = run.header.plan.rounds;
    let of_one = rounds.mounts.saturating_mul(rounds.iterations);
    let round = phase.round.map_or(0, |round| {
        round
            .mount
            .saturating_mul(rounds.iterations)
            .saturating_add(round.iteration)
    });
    let latency = phase.latency().and_then(|latency| latency.mean_ns());
    Ok(Repeat {
        number: trial
            .trial
            .repeat
            .saturating_mul(of_one)
            .saturating_add(round),
        bandwidth: needed(&THROUGHPUT, "bandwidth")?,
        elapsed_s: needed(&ELAPSED, "duration")? / 1e9,
        operations: figure(&OPERATION_RATE),
        latency_s: latency.map(|ns| ns / 1e9),
    })
}

impl Test<'_> {
    fn value(&self) -> Value {
        let shape = &self.shape;
        let (nodes, tasks_per_node) = self.nodes();
        let results = self.results.iter().map(|repeat| {
            json!({
                "access": shape.access(),
                "bwMiB": repeat.bandwidth / MIB,
                "blockKiB": shape.block as f64 / 1024.0,
                "xferKiB": shape.transfer as f64 / 1024.0,
                "iops": repeat.operations,
                "latency": repeat.latency_s,
                "openTime": null,
                "wrRdTime": null,
                "closeTime": null,
                "totalTime": repeat.elapsed_s,
            })
        });
        let ordering = match shape.task_offset {
            0 => "no tasks offsets",
            _ => "constant task offset",
        };
        let mut options = object(json!({
            "api": shape.api,
            "apiVersion": "",
            "test filename": self.phase.parameters.get("file").and_then(Value::as_str),
            "access": shape.file_access(),
            "type": "independent",
            "segments": shape.segments,
            "ordering in a file": if shape.random > 0 { "random" } else { "sequential" },
            "ordering inter file": ordering,
            "task offset": shape.task_offset,
            "nodes": nodes,
            "tasks": shape.tasks,
            "clients per node": tasks_per_node,
            "repetitions": self.results.len(),
            "xfersize": size(shape.transfer),
            "blocksize": size(shape.block),
            "aggregate filesize": size(shape.bytes()),
        }));
        if shape.stonewall_s > 0 {
            options.insert("stonewallingTime".into(), shape.stonewall_s.into());
            options.insert(
                "stoneWallingWearOut".into(),
                u64::from(shape.is_worn_out).into(),
            );
        }
        let repeats: Vec<u32> = self.results.iter().map(|repeat| repeat.number).collect();
        json!({
            "TestID": self.id,
            "StartTime": calendar::of_ior(self.trial.started_unix_s),
            "Parameters": self.parameters(),
            "Options": options,
            "Results": results.collect::<Vec<Value>>(),
            "fslab": {
                "subject": self.trial.subject.to_string(),
                "phase": self.phase.name,
                "repeats": repeats,
            },
        })
    }

    fn parameters(&self) -> Map<String, Value> {
        let shape = &self.shape;
        let (nodes, tasks_per_node) = self.nodes();
        let mut parameters = object(json!({
            "testID": self.id,
            "api": shape.api,
            "deadlineForStonewall": shape.stonewall_s,
            "stoneWallingWearOut": u64::from(shape.is_worn_out),
            "maxTimeDuration": 0,
            "nodes": nodes,
            "tasksPerNode": tasks_per_node,
            "repetitions": self.results.len(),
            "fsyncperwrite": u64::from(shape.is_synced_per_write),
            "useExistingTestFile": u64::from(shape.is_over_existing),
            "readFile": u64::from(!shape.is_write),
            "writeFile": u64::from(shape.is_write),
            "filePerProc": u64::from(shape.is_file_each),
            "reorderTasks": u64::from(shape.task_offset > 0),
            "randomOffset": shape.random,
            "collective": 0,
            "segmentCount": shape.segments,
            "transferSize": shape.transfer,
            "blockSize": shape.block,
        }));
        if let Some(fsync) = shape.fsync {
            parameters.insert("fsync".into(), u64::from(fsync).into());
        }
        parameters
    }

    fn summary(&self) -> Value {
        let shape = &self.shape;
        let bandwidth = self.results.iter().map(|repeat| repeat.bandwidth / MIB);
        let bandwidth = Spread::of(&bandwidth.collect::<Vec<f64>>());
        let operations = self.results.iter().filter_map(|repeat| repeat.operations);
        let operations: Vec<f64> = operations.collect();
        let is_complete = operations.len() == self.results.len();
        let operations = is_complete.then(|| Spread::of(&operations));
        let times: Vec<f64> = self.results.iter().map(|repeat| repeat.elapsed_s).collect();
        json!({
            "operation": shape.access(),
            "API": shape.api,
            "TestID": self.id,
            "ReferenceNumber": 0,
            "segmentCount": shape.segments,
            "blockSize": shape.block,
            "transferSize": shape.transfer,
            "numTasks": shape.tasks,
            "tasksPerNode": self.nodes().1,
            "repetitions": self.results.len(),
            "filePerProc": u64::from(shape.is_file_each),
            "reorderTasks": u64::from(shape.task_offset > 0),
            "taskPerNodeOffset": shape.task_offset.max(1),
            "reorderTasksRandom": 0,
            "reorderTasksRandomSeed": 0,
            "bwMaxMIB": bandwidth.max,
            "bwMinMIB": bandwidth.min,
            "bwMeanMIB": bandwidth.mean,
            "bwStdMIB": bandwidth.deviation,
            "OPsMax": operations.map(|it| it.max),
            "OPsMin": operations.map(|it| it.min),
            "OPsMean": operations.map(|it| it.mean),
            "OPsSD": operations.map(|it| it.deviation),
            "MeanTime": Spread::of(&times).mean,
            "xsizeMiB": self.moved(),
        })
    }

    /// The bytes of the first result in MiB, as IOR gives them.
    fn moved(&self) -> Option<f64> {
        let first = self.results.first()?;
        Some((first.bandwidth * first.elapsed_s).round() / MIB)
    }

    /// The machines, and the tasks of each, if they are known and as many on each.
    fn nodes(&self) -> (Option<u64>, Option<u64>) {
        let given = |name: &str| self.phase.parameters.get(name).and_then(Value::as_u64);
        if self.phase.workload == "ior" {
            return (given("nodes"), given("clients_per_node"));
        }
        let hosts = self.trial.facts.get(HOSTS_FACT).map(String::as_str);
        let mut hosts: Vec<&str> = hosts.unwrap_or("here").split_whitespace().collect();
        hosts.sort_unstable();
        hosts.dedup();
        let nodes = hosts.len().max(1) as u64;
        let is_even = self.shape.tasks.is_multiple_of(nodes);
        (Some(nodes), is_even.then_some(self.shape.tasks / nodes))
    }
}

/// A size as IOR shows it; it rounds what is no multiple.
fn size(bytes: u64) -> String {
    for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB")] {
        let one = 1_u64 << shift;
        if bytes >= one {
            return match bytes.is_multiple_of(one) {
                true => format!("{} {unit}", bytes / one),
                false => format!("{:.2} {unit}", bytes as f64 / one as f64),
            };
        }
    }
    format!("{bytes} bytes")
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_as_ior_shows_them() {
        assert_eq!(size(65536), "65536 bytes");
        assert_eq!(size(64 << 20), "64 MiB");
        assert_eq!(size(18_803_200), "17.93 MiB");
        assert_eq!(size(3 << 40), "3 TiB");
    }
}
