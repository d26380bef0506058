//! A run in the form of mdtest's summary: a launch for each subject and tree of files, a row for
//! each phase on names that mdtest has, too.
//!
//! A row gives largest, smallest, mean and deviation of the repeats, as mdtest does of its
//! iterations. A line `fslab` has the subject, and the phase of each row.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::calendar;
use super::ior_json::HOSTS_FACT;
use super::left_out::note;
use super::repeat_summary::Spread;
use crate::Format;
use crate::meet::{Activity, complete, content};
use crate::read::mdtest::ROWS;
use fslab_model::{Failure, definitions::OPERATION_RATE};
use fslab_model::{
    PhaseOutcome, PhaseRecord, PhaseSpec, RunRecord, Subject, TrialRecord, VenuePlan, phase_metrics,
};
use serde_json::{Map, Value, json};

/// What mdtest does to the files of one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tree {
    directory: String,
    tasks: u64,
    files: Option<u64>,
    is_own: bool,
}

/// One launch of mdtest.
struct Launch<'r> {
    trial: &'r TrialRecord,
    tree: Tree,
    rows: Vec<Row>,
    /// Bytes that creation writes and that reading reads.
    write_bytes: u64,
    read_bytes: u64,
    rank_shift: u64,
}

/// One row of the summary.
struct Row {
    title: &'static str,
    phase: String,
    rates: Vec<f64>,
}

/// The run in the form of mdtest's summary, and a list of what that form cannot hold.
pub fn mdtest_text(run: &RunRecord) -> Result<(String, Vec<String>), Failure> {
    let (mut launches, mut left_out) = (Vec::<Launch>::new(), Vec::<String>::new());
    for trial in &run.trials {
        for phase in &trial.phases {
            if matches!(phase.outcome, PhaseOutcome::Skipped { .. }) {
                continue;
            }
            match measured(run, phase) {
                Ok(measured) => add(&mut launches, trial, phase, measured),
                Err(reason) => note(&mut left_out, phase, &reason),
            }
        }
    }
    if launches.is_empty() {
        let needs = "mdtest's format needs phases on the names of files, with a rate of operations";
        return Err(Failure::bad_input(needs));
    }
    let mut text = String::new();
    for launch in &launches {
        launch.write(run, &mut text);
    }
    Ok((text, left_out))
}

/// A phase in mdtest's terms.
struct Measured {
    title: &'static str,
    rate: f64,
    tree: Tree,
    write_bytes: u64,
    read_bytes: u64,
    rank_shift: u64,
}

fn measured(run: &RunRecord, phase: &PhaseRecord) -> Result<Measured, String> {
    if let PhaseOutcome::Failed { .. } = phase.outcome {
        return Err("it failed".to_owned());
    }
    let spec = PhaseSpec::new(&phase.name, &phase.workload, phase.parameters.clone());
    let is_own_format = match Format::of_workload(&phase.workload) {
        Some(Format::Mdtest) => true,
        Some(other) => return Err(format!("it was measured by {}", other.name())),
        None => false,
    };
    let title = match is_own_format {
        true => ROWS
            .into_iter()
            .find(|title| crate::reading::plain_name(title) == phase.name),
        false => title_of(content(&run.header.plan, &spec).activity)?,
    };
    let title = title.ok_or("mdtest has no row for it")?;
    let metrics = phase_metrics(phase);
    let rate = metrics
        .iter()
        .find(|metric| metric.definition.name == OPERATION_RATE.name);
    let rate = rate.map(|metric| metric.value).filter(|rate| *rate > 0.0);
    let rate = rate.ok_or("it has no rate of operations, which mdtest's format needs")?;
    let parameters = complete(&spec);
    let number = |name: &str| parameters.get(name).and_then(Value::as_u64);
    let flag = |name: &str| parameters.get(name).and_then(Value::as_bool) == Some(true);
    if is_own_format {
        return Ok(Measured {
            title,
            rate,
            tree: Tree {
                directory: String::new(),
                tasks: number("tasks").unwrap_or(1),
                files: number("items"),
                is_own: flag("own_trees"),
            },
            rank_shift: number("rank_shift").unwrap_or(0),
            write_bytes: number("write_bytes").unwrap_or(0),
            read_bytes: number("read_bytes").unwrap_or(0),
        });
    }
    let ranks = u64::from(run.header.plan.ranks);
    let is_own = flag("base_per_worker");
    let tasks = number("threads").unwrap_or(1).saturating_mul(ranks);
    let trees = if is_own { tasks } else { ranks };
    let each = parameters.get("file_size");
    let each = each.and_then(|it| it.as_u64().or_else(|| it.get("fixed")?.as_u64()));
    let of = |wanted: &str| each.filter(|_| title == wanted).unwrap_or(0);
    let directory = parameters.get("directory").and_then(Value::as_str);
    let is_open = parameters.get("operation").and_then(Value::as_str) == Some("open");
    Ok(Measured {
        title,
        rate,
        tree: Tree {
            directory: directory.unwrap_or_default().to_owned(),
            tasks,
            // Fewer than its parameters say after a stonewall.
            files: (number("files").and_then(|files| files.checked_mul(trees)))
                .map(|files| phase.operations.map_or(files, |done| files.min(done))),
            is_own,
        },
        rank_shift: number("rank_shift").filter(|_| ranks > 1).unwrap_or(0),
        write_bytes: of("File creation"),
        read_bytes: if is_open { 0 } else { of("File read") },
    })
}

/// The row of a phase that does this.
fn title_of(activity: Option<Activity>) -> Result<Option<&'static str>, String> {
    Ok(Some(match activity {
        Some(Activity::MakeDirectories) => "Directory creation",
        Some(Activity::RemoveDirectories) => "Directory removal",
        Some(Activity::Create) => "File creation",
        Some(Activity::Stat) => "File stat",
        Some(Activity::OpenFiles | Activity::ReadFiles) => "File read",
        Some(Activity::Unlink) => "File removal",
        Some(other) => return Err(format!("mdtest has no {}", other.title())),
        None => return Err("mdtest works only on names, and has no such operation".to_owned()),
    }))
}

fn add<'r>(
    launches: &mut Vec<Launch<'r>>,
    trial: &'r TrialRecord,
    phase: &PhaseRecord,
    measured: Measured,
) {
    let Measured {
        title,
        rate,
        tree,
        write_bytes,
        read_bytes,
        rank_shift,
    } = measured;
    let is_free = |launch: &Launch| {
        let known = launch.rows.iter().find(|row| row.title == title);
        launch.trial.subject == trial.subject
            && launch.tree == tree
            && known.is_none_or(|row| row.phase == phase.name)
    };
    let at = launches.iter().position(is_free).unwrap_or(launches.len());
    if at == launches.len() {
        launches.push(Launch {
            trial,
            tree,
            rows: Vec::new(),
            write_bytes: 0,
            read_bytes: 0,
            rank_shift: 0,
        });
    }
    let launch = &mut launches[at];
    launch.write_bytes = launch.write_bytes.max(write_bytes);
    launch.read_bytes = launch.read_bytes.max(read_bytes);
    launch.rank_shift = launch.rank_shift.max(rank_shift);
    match launch.rows.iter_mut().find(|row| row.title == title) {
        Some(row) => row.rates.push(rate),
        None => launch.rows.push(Row {
            title,
            phase: phase.name.clone(),
            rates: vec![rate],
        }),
    }
}

impl Launch<'_> {
    fn write(&self, run: &RunRecord, text: &mut String) {
        let version = match &run.header.plan.venue {
            VenuePlan::Imported { tool } if tool.starts_with("mdtest ") => {
                tool["mdtest ".len()..].to_owned()
            }
            _ => format!("fslab-{}", run.header.fslab),
        };
        let start = calendar::of_mdtest(self.trial.started_unix_s);
        let tasks = self.tree.tasks;
        let nodes = nodes(self.trial);
        let iterations = self
            .rows
            .iter()
            .map(|row| row.rates.len())
            .max()
            .unwrap_or(1);
        let mut lines = vec![
            format!("-- started at {start} --"),
            String::new(),
            format!("mdtest-{version} was launched with {tasks} total task(s) on {nodes} node(s)"),
            format!("Command line used: mdtest {}", self.options(iterations)),
            format!("fslab: {}", self.origin(&self.trial.subject)),
        ];
        lines.extend(
            self.tree
                .files
                .map(|files| format!("{tasks} tasks, {files} files/directories")),
        );
        lines.push(String::new());
        lines.push(format!(
            "SUMMARY rate (in ops/sec): (of {iterations} iterations)"
        ));
        lines.push(HEAD.to_owned());
        lines.push(RULE.to_owned());
        for title in ROWS {
            let Some(row) = self.rows.iter().find(|row| row.title == title) else {
                continue;
            };
            let spread = Spread::of(&row.rates);
            lines.push(format!(
                "   {title:<18} {:>14.3} {:>14.3} {:>14.3} {:>14.3}",
                spread.max,
                spread.min,
                spread.mean,
                spread.of_sample(row.rates.len())
            ));
        }
        lines.push(format!("-- finished at {start} --"));
        lines.push(String::new());
        for line in lines {
            writeln!(text, "{line}").expect("a string takes all");
        }
    }

    /// The options of mdtest that do the same.
    fn options(&self, iterations: usize) -> String {
        let tree = &self.tree;
        let mut options = vec!["-i".to_owned(), iterations.to_string()];
        let files = tree.files.map(|files| files / tree.tasks.max(1));
        let numbers = [
            ("-n", files.unwrap_or(0)),
            ("-w", self.write_bytes),
            ("-e", self.read_bytes),
            ("-N", self.rank_shift),
        ];
        for (option, number) in numbers.into_iter().filter(|(_, number)| *number > 0) {
            options.extend([option.to_owned(), number.to_string()]);
        }
        if tree.is_own {
            options.push("-u".to_owned());
        }
        let quoted = options.iter().map(|option| format!("'{option}'"));
        quoted.collect::<Vec<String>>().join(" ")
    }

    fn origin(&self, subject: &Subject) -> Value {
        let phases = self
            .rows
            .iter()
            .map(|row| (row.title.to_owned(), row.phase.clone().into()));
        let phases: Map<String, Value> = phases.collect();
        json!({ "subject": subject.to_string(), "phases": phases })
    }
}

/// The number of machines, of which a run of one rank has one.
fn nodes(trial: &TrialRecord) -> usize {
    let hosts = trial.facts.get(HOSTS_FACT).map(String::as_str);
    let hosts: BTreeSet<&str> = hosts.unwrap_or_default().split_whitespace().collect();
    hosts.len().max(1)
}

const HEAD: &str =
    "   Operation                     Max            Min           Mean        Std Dev";
const RULE: &str =
    "   ---------                     ---            ---           ----        -------";
