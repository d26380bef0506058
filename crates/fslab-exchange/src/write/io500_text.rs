//! A run in the forms of IO500: `result.txt`, in sections, and `result_summary.txt`, a line for
//! each phase. Each trial with phases of IO500's names is an execution.
//!
//! A phase is invalid as IO500 says: without a score, or with less than 300 s where it writes; a
//! run is if a phase is, at another scale, or in virtual time. A comment names fslab and the
//! subject. fslab's two phases that find the files are one.

use std::fmt::Write;

use super::calendar;
use super::io500_score::{FIND_PARTS, Group, ROWS, Scored, Scores};
use super::ior_shape::Shape;
use super::left_out::note;
use crate::Format;
use crate::meet::complete;
use fslab_model::{
    Failure, Parameters, PhaseKind, PhaseRecord, PhaseSpec, RunRecord, TrialRecord, VenuePlan,
};
use serde_json::{Value, json};

/// The mark behind what does not count.
const INVALID: &str = " [INVALID]";
/// The phase that only writes down the time, behind the fourth.
const TIMESTAMP: (usize, &str) = (2, "timestamp");
/// Keys of `result.txt` that an import keeps as facts.
const RUN_FACTS: [(&str, &str); 2] = [
    ("config-hash", "io500 config hash"),
    ("result-dir", "io500 directory"),
];

/// The run in the form of IO500's `result.txt`, and a list of what that form cannot hold.
pub fn io500_result(run: &RunRecord) -> Result<(String, Vec<String>), Failure> {
    written(run, result)
}

/// The run in the form of IO500's `result_summary.txt`, as [`io500_result`].
pub fn io500_summary(run: &RunRecord) -> Result<(String, Vec<String>), Failure> {
    written(run, summary)
}

type Writer = fn(&RunRecord, &TrialRecord, &Scores) -> Vec<String>;

fn written(run: &RunRecord, write: Writer) -> Result<(String, Vec<String>), Failure> {
    let (mut text, mut left_out) = (String::new(), Vec::new());
    for trial in &run.trials {
        let Some(scores) = Scores::of(run, trial) else {
            continue;
        };
        for phase in &trial.phases {
            let mut names = ROWS.iter().map(|row| row.name).chain(FIND_PARTS);
            if !names.any(|name| name == phase.name) {
                note(
                    &mut left_out,
                    phase,
                    "IO500 has no such phase in its standard mode",
                );
            }
        }
        for line in write(run, trial, &scores) {
            writeln!(text, "{line}").expect("a string takes all");
        }
    }
    match text.is_empty() {
        true => Err(Failure::bad_input(
            "IO500's format needs phases with IO500's names, as in the study 'io500'",
        )),
        false => Ok((text, left_out)),
    }
}

fn version(run: &RunRecord) -> String {
    match &run.header.plan.venue {
        VenuePlan::Imported { tool } if tool.starts_with("io500 ") => {
            format!("io500-{}", &tool["io500 ".len()..])
        }
        _ => format!("fslab-{}", run.header.fslab),
    }
}

/// A comment, by which an import knows the subject.
fn origin(trial: &TrialRecord) -> String {
    format!(
        "; fslab: {}",
        json!({ "subject": trial.subject.to_string() })
    )
}

fn summary(run: &RunRecord, trial: &TrialRecord, scores: &Scores) -> Vec<String> {
    let mut lines = vec![
        format!("IO500 version {} (standard)", version(run)),
        origin(trial),
    ];
    for (at, row) in scores.rows.iter().enumerate() {
        if at == TIMESTAMP.0 {
            lines.push(line_of("[      ]", TIMESTAMP.1, "kIOPS", (0.0, 0.0)));
        }
        let unit = match row.row.group {
            Group::Bandwidth => "GiB/s",
            Group::Metadata => "kIOPS",
        };
        let figures = (row.score, row.seconds);
        let line = line_of("[RESULT]", row.row.name, unit, figures);
        let mark = if row.invalid.is_empty() { "" } else { INVALID };
        lines.push(line + mark);
    }
    let mark = if scores.is_valid() { "" } else { INVALID };
    lines.push(format!(
        "[SCORE ] Bandwidth {:.6} GiB/s : IOPS {:.6} kiops : TOTAL {:.6}{mark}",
        scores.bandwidth,
        scores.metadata,
        scores.total()
    ));
    lines
}

fn line_of(mark: &str, name: &str, unit: &str, (score, seconds): (f64, f64)) -> String {
    let score = format!("{score:.6}");
    format!("{mark} {name:>20} {score:>15} {unit} : time {seconds:.3} seconds")
}

fn result(run: &RunRecord, trial: &TrialRecord, scores: &Scores) -> Vec<String> {
    let plan = &run.header.plan;
    let version = version(run);
    let mut lines = vec!["[run]".to_owned(), pair("procs", plan.ranks)];
    lines.push(pair("version", &version));
    for (key, fact) in RUN_FACTS {
        lines.extend(trial.facts.get(fact).map(|value| pair(key, value)));
    }
    lines.push(pair("mode", "standard"));
    lines.push(origin(trial));
    let start = calendar::of_io500(trial.started_unix_s);
    lines.push(format!("; START {start}"));
    lines.extend(scores.invalid.iter().map(|reason| invalid(reason)));
    lines.push(String::new());
    for (at, row) in scores.rows.iter().enumerate() {
        if at == TIMESTAMP.0 {
            lines.extend([
                String::new(),
                format!("[{}]", TIMESTAMP.1),
                pair("t_delta", "0.0000"),
            ]);
        }
        section(run, row, &mut lines);
    }
    let mark = if scores.is_valid() { "" } else { INVALID };
    lines.extend([
        String::new(),
        "[SCORE]".to_owned(),
        pair("MD", format!("{:.6}", scores.metadata)),
        pair("BW", format!("{:.6}", scores.bandwidth)),
        pair("SCORE", format!("{:.6}{mark}", scores.total())),
        pair("hash", format!("{:X}", scores.checksum(&version))),
    ]);
    let ended_s = trial
        .started_unix_s
        .saturating_add(trial.elapsed_ns / 1_000_000_000);
    lines.push(format!("; END {}", calendar::of_io500(ended_s)));
    lines
}

fn pair(key: &str, value: impl std::fmt::Display) -> String {
    format!("{key:<15} = {value}")
}

fn invalid(reason: &str) -> String {
    format!("; ERROR INVALID {reason}")
}

fn section(run: &RunRecord, row: &Scored, lines: &mut Vec<String>) {
    lines.extend([String::new(), format!("[{}]", row.row.name)]);
    if let Some(command) = row.phase.and_then(|phase| command(run, phase)) {
        lines.push(pair("exe", command));
    }
    lines.extend(row.invalid.iter().map(|reason| invalid(reason)));
    lines.push(pair("score", format!("{:.6}", row.score)));
    lines.push(pair("t_delta", format!("{:.4}", row.seconds)));
}

/// The options of IOR or mdtest that do the same; `None` if they are not known.
fn command(run: &RunRecord, phase: &PhaseRecord) -> Option<String> {
    if phase.name.starts_with("ior") {
        let shape = match Format::of_workload(&phase.workload) {
            Some(Format::Io500) => Shape::of_io500(phase),
            _ => Shape::of(&run.header.plan, phase),
        };
        return shape.ok().map(|shape| ior(&shape));
    }
    phase
        .name
        .starts_with("mdtest")
        .then(|| mdtest(run, phase))
        .flatten()
}

fn ior(shape: &Shape) -> String {
    let mut words = vec!["./ior -k -e".to_owned()];
    if shape.fsync != Some(true) {
        words[0] = "./ior -k".to_owned();
    }
    if shape.task_offset > 0 {
        words.push(format!("-C -Q {}", shape.task_offset));
    }
    words.push(format!("-t {} -b {}", shape.transfer, shape.block));
    words.push(format!("-s {}", shape.segments));
    words.extend(shape.is_file_each.then(|| "-F".to_owned()));
    words.extend((shape.random > 0).then(|| "-z".to_owned()));
    words.push(if shape.is_write { "-w" } else { "-r" }.to_owned());
    if shape.stonewall_s > 0 {
        let wear_out = u8::from(shape.is_worn_out);
        let stonewall = format!("-D {} -O stoneWallingWearOut={wear_out}", shape.stonewall_s);
        words.push(stonewall);
    }
    words.push(format!("-a {}", shape.api));
    words.join(" ")
}

fn mdtest(run: &RunRecord, phase: &PhaseRecord) -> Option<String> {
    let is_own_format = Format::of_workload(&phase.workload) == Some(Format::Io500);
    let parameters: Parameters = match is_own_format {
        true => phase.parameters.clone(),
        false => complete(&PhaseSpec::new(
            &phase.name,
            &phase.workload,
            phase.parameters.clone(),
        )),
    };
    let number = |name: &str| parameters.get(name).and_then(Value::as_u64);
    let flag = |name: &str| parameters.get(name).and_then(Value::as_bool) == Some(true);
    let size = parameters.get("file_size");
    let size = size.and_then(|it| it.as_u64().or_else(|| it.get("fixed")?.as_u64()));
    let is_write = phase.name.ends_with("-write");
    let is_read = phase.name.ends_with("-read");
    let (files, is_own, write, read, stonewall) = match is_own_format {
        true => (
            number("items")? / u64::from(run.header.plan.ranks.max(1)),
            flag("own_trees"),
            number("write_bytes"),
            number("read_bytes"),
            number("stonewall_s"),
        ),
        false => (
            number("files")?,
            flag("base_per_worker"),
            size.filter(|_| is_write),
            size.filter(|_| is_read),
            number("stonewall_ns").map(|ns| ns / 1_000_000_000),
        ),
    };
    let mut words = vec![format!("./mdtest -F -n {files}")];
    words.extend(is_own.then(|| "-u".to_owned()));
    for (option, value) in [
        ("-w", write),
        ("-e", read),
        ("-N", number("rank_shift")),
        ("-W", stonewall),
    ] {
        let value = value.filter(|value| *value > 0);
        words.extend(value.map(|value| format!("{option} {value}")));
    }
    let what = match phase.kind {
        _ if is_write => "-C",
        _ if is_read => "-E",
        PhaseKind::Metadata if phase.name.ends_with("-delete") => "-r",
        _ => "-T",
    };
    words.push(what.to_owned());
    Some(words.join(" "))
}
