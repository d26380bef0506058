//! Personalities that repeat operations on whole files of a set: the job `personality`.

use std::collections::BTreeMap;

use fslab_model::{CachePolicy, Parameters};
use serde_json::{Value, json};

use super::reading::Phases;
use super::script::{Attributes, Given, Script, ThreadDefinition};
use super::words::number;
use crate::draft::{DraftPhase, plain_name, size_text};
use crate::problem::{Findings, JobFileProblem};

/// Iterations of a loop that keeps what it appends.
const KEEPING_LOOPS: u64 = 100_000;
/// Iterations of other loops that end by time.
const LOOPS: u64 = 10_000_000;

/// Operations on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    file: &'static str,
    operations: Vec<&'static str>,
    times: u64,
}

/// What the operations of a loop have in common.
#[derive(Default)]
struct Common {
    set: Option<String>,
    record: Option<u64>,
    append: Option<u64>,
    /// Operations after which the run ends.
    count: Option<u64>,
}

/// The phase of a loop.
#[expect(clippy::too_many_lines, reason = "the parameters of one job, in order")]
pub(super) fn phases(script: &Script, findings: &mut Findings) -> Result<Phases, JobFileProblem> {
    let [process] = script.processes.as_slice() else {
        let second = &script.processes[1];
        return Err(second
            .attributes
            .problem("several processes with loops over sets of files"));
    };
    let [thread] = process.threads.as_slice() else {
        let cause = "several threads with loops of their own";
        return Err(process.attributes.problem(cause));
    };
    let mut common = Common::default();
    let steps = steps(script, thread, &mut common)?;
    let Some(set) = common.set.as_ref().and_then(|name| script.files.get(name)) else {
        return Err(thread.attributes.problem("a loop without a set of files"));
    };
    let instances = process
        .attributes
        .number_or("instances", 1)?
        .saturating_mul(thread.attributes.number_or("instances", 1)?);
    if !(1..=4096).contains(&instances) {
        return Err(thread
            .attributes
            .problem(format!("{instances} threads; fslab has 1 to 4096")));
    }
    if process.attributes.number_or("instances", 1)? > 1 {
        findings.note("process: fslab has threads of one process".to_owned());
    }
    let (mean, law) = size(set)?;
    let files = set.number_or("entries", 1_024)?;
    let changes = |name: &str| steps.iter().any(|step| step.file == name);
    let (creates, removes) = (changes("new"), changes("removed"));
    let keeps = steps.iter().any(|step| step.operations.contains(&"append")) && !removes;
    let present_percent = set.present_percent()?;
    let missing = files - files * present_percent / 100;
    let timed = script.run_s.is_some() || !script.ends_with_first;
    let (operations, seconds) = match (creates, removes) {
        (true, false) => (missing.max(1), 0),
        (false, true) => (files - missing, 0),
        _ if timed && keeps => (KEEPING_LOOPS, script.seconds()),
        _ if timed => (LOOPS, script.seconds()),
        _ => (files, 0),
    };
    let operations = common
        .count
        .map_or(operations, |count| count.min(operations));
    if seconds > 0 {
        findings.note(format!(
            "run: it ends after {seconds} s or {operations} loops"
        ));
    } else {
        findings.note(format!(
            "run: it ends after {operations} loops, with the files of the set"
        ));
    }
    let name = common.set.clone().unwrap_or_default();
    let mut parameters = Parameters::new();
    let mut put = |name: &str, value: Value| {
        parameters.insert(name.to_owned(), value);
    };
    put("directory", json!(plain_name(&name)));
    put("files", json!(files));
    put("mean_size", json!(size_text(mean.max(1))));
    if law == "fixed" {
        put("sizes", json!(law));
    }
    put(
        "directory_width",
        json!(set.number_or("dirwidth", 0)?.max(1)),
    );
    put("present_percent", json!(present_percent));
    put("threads_max", json!(instances));
    put("operations", json!(operations.max(1)));
    put("seconds", json!(seconds));
    // A job without appends needs no room for them.
    put("append", json!(size_text(common.append.unwrap_or(1))));
    put("record", json!(size_text(common.record.unwrap_or(1 << 20))));
    let rows = steps.iter().map(|step| match step.times {
        1 => json!({ "file": step.file, "operations": step.operations }),
        times => json!({ "file": step.file, "operations": step.operations, "times": times }),
    });
    put("loop", Value::Array(rows.collect()));
    let kept = if keeps {
        operations.saturating_mul(common.append.unwrap_or(0)) / 2
    } else {
        0
    };
    let each = mean
        .saturating_add(common.append.unwrap_or(0))
        .saturating_add(8 << 10);
    let space = files.saturating_mul(each).saturating_mul(5) / 4 + kept;
    let phase = DraftPhase {
        name: plain_name(process.attributes.text("name").unwrap_or("loop")),
        workload: "personality",
        cache: CachePolicy::Keep,
        is_measured: true,
        parameters,
        seconds,
        bytes: space,
    };
    Ok(Phases {
        phases: vec![phase],
        space: BTreeMap::from([(name, space)]),
    })
}

/// The mean size of the files of a set, and fslab's word for the distribution.
fn size(set: &Attributes) -> Result<(u64, &'static str), JobFileProblem> {
    let Some(Some(Given::Random(random))) = set.values.get("size") else {
        return Ok((set.number_or("size", 1_024)?, "fixed"));
    };
    let kind = random
        .get("type")
        .map_or("", |kind| kind.trim_start_matches("cvar-"));
    let shape = random.get("gamma").map_or("", String::as_str);
    if kind != "gamma" || !["1.5", "1500"].contains(&shape) {
        return Err(
            set.problem("fslab's sizes are all the same, or of a gamma distribution of 1.5")
        );
    }
    let mean = random.get("mean").map_or("", String::as_str);
    let mean = number(mean).map_err(|cause| set.problem(format!("mean: {cause}")))?;
    Ok((mean, "gamma"))
}

/// The steps of the loop of `thread`.
#[expect(clippy::too_many_lines, reason = "one arm for each operation")]
fn steps(
    script: &Script,
    thread: &ThreadDefinition,
    common: &mut Common,
) -> Result<Vec<Step>, JobFileProblem> {
    let mut steps: Vec<Step> = Vec::new();
    let mut open: Option<String> = None;
    for operation in &thread.operations {
        let head = operation.head.as_str();
        if operation.number_or("iters", 1)? != 1 {
            return Err(operation.problem("iters; fslab repeats steps, not operations"));
        }
        if let Some(odd) = ["indexed", "random", "directio", "dsync", "opennext"]
            .into_iter()
            .find(|name| operation.has(name) && operation.truth(name).unwrap_or(true))
        {
            return Err(operation.problem(format!("{odd}, which fslab's loops do not have")));
        }
        let descriptor = operation.text("fd").unwrap_or("").to_owned();
        let word = match head {
            "createfile" | "openfile" => {
                if open.is_some() {
                    return Err(operation.problem("two files are open at the same time"));
                }
                in_set(operation, common)?;
                open = Some(descriptor);
                let (file, word) = match head {
                    "createfile" => ("new", "create"),
                    _ => ("any", "open"),
                };
                steps.push(Step {
                    file,
                    operations: vec![word],
                    times: 1,
                });
                continue;
            }
            "deletefile" | "statfile" => {
                in_set(operation, common)?;
                let (file, word) = match head {
                    "deletefile" => ("removed", "unlink"),
                    _ => ("any", "stat"),
                };
                if open.is_some() {
                    return Err(operation.problem("another file is open"));
                }
                steps.push(Step {
                    file,
                    operations: vec![word],
                    times: 1,
                });
                continue;
            }
            "appendfilerand" if open.as_ref() != Some(&descriptor) => {
                log(script, operation, common)?;
                steps.push(Step {
                    file: "log",
                    operations: vec!["append"],
                    times: 1,
                });
                continue;
            }
            "writewholefile" => "write",
            "readwholefile" => "read",
            "appendfilerand" => "append",
            "fsync" => "fsync",
            "closefile" => "close",
            // There is no rate of events.
            "opslimit" | "eventlimit" | "iopslimit" | "bwlimit" => continue,
            "finishoncount" => {
                let counted = steps
                    .iter()
                    .map(|step| step.operations.len())
                    .sum::<usize>();
                if counted != 1 || operation.has("target") {
                    let cause = "fslab counts loops, of which this one has several operations";
                    return Err(operation.problem(cause));
                }
                common.count = operation.number("value")?;
                continue;
            }
            _ => return Err(operation.problem("no operation that fslab's loops have")),
        };
        if open.as_ref() != Some(&descriptor) {
            return Err(operation.problem("no file is open with its fd"));
        }
        let size = operation.number("iosize")?;
        let slot = match word {
            "read" | "write" => Some(&mut common.record),
            "append" => Some(&mut common.append),
            _ => None,
        };
        if let (Some(slot), Some(size)) = (slot, size) {
            if slot.is_some_and(|known| known != size) {
                return Err(operation.problem("another iosize than an operation before it"));
            }
            *slot = Some(size);
        }
        if let Some(step) = steps.last_mut() {
            step.operations.push(word);
        }
        if word == "close" {
            open = None;
        }
    }
    if open.is_some() {
        return Err(thread.attributes.problem("its loop leaves a file open"));
    }
    let is_fixed = steps
        .iter()
        .all(|step| !["new", "removed"].contains(&step.file));
    for step in &mut steps {
        if is_fixed && step.file == "any" {
            step.file = "shared";
        }
    }
    Ok(together(steps))
}

/// Equal steps that follow each other, as one.
fn together(steps: Vec<Step>) -> Vec<Step> {
    let mut joined: Vec<Step> = Vec::new();
    for step in steps {
        match joined.last_mut() {
            Some(last) if (last.file, &last.operations) == (step.file, &step.operations) => {
                last.times += 1;
            }
            _ => joined.push(step),
        }
    }
    joined
}

/// Takes the set of files of an operation.
fn in_set(operation: &Attributes, common: &mut Common) -> Result<(), JobFileProblem> {
    let Some(name) = operation.text("filename") else {
        return Err(operation.problem("it names no set of files"));
    };
    match &common.set {
        Some(known) if known != name => Err(operation.problem("a second set of files in a loop")),
        _ => {
            common.set = Some(name.to_owned());
            Ok(())
        }
    }
}

/// An append to the only file of a second set, which all threads share.
fn log(script: &Script, operation: &Attributes, common: &mut Common) -> Result<(), JobFileProblem> {
    let set = operation
        .text("filename")
        .and_then(|name| script.files.get(name));
    let Some(set) = set else {
        return Err(operation.problem("no file is open with its fd, and it names none"));
    };
    if set.number_or("entries", 1)? != 1 {
        return Err(operation.problem("fslab's log is one file"));
    }
    let size = operation.number("iosize")?;
    if common.append.is_some() && common.append != size {
        return Err(operation.problem("another iosize than an append before it"));
    }
    common.append = size;
    Ok(())
}
