//! The summary of mdtest, 1.9 to 4.x: rates and, with `-P` or `-Z`, times.
//!
//! mdtest gives only mean, largest, smallest and deviation of its iterations: the mean is the value
//! of one trial, the others are noted. It prints 0.000 for what it did not run.
//!
//! The command line gives the parameters of the phases. There is no other source of options, so
//! that what is not on it is off.

use fslab_model::{
    Facts, Headline, Parameters, PhaseKind, PhaseOutcome, PhaseRecord, PointValue, Swept,
};

use super::command_line::CommandLine;
use super::mdtest_iterations::Iterations;
use super::mdtest_row::{Columns, Figures, Table};
use super::origin::Origin;
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, number, plain_name};

/// The rows of its summary that are exported.
pub(crate) const ROWS: [&str; 10] = [
    "Directory creation",
    "Directory stat",
    "Directory rename",
    "Directory removal",
    "File creation",
    "File stat",
    "File read",
    "File removal",
    "Tree creation",
    "Tree removal",
];

/// The line before a launch.
const STARTED: &str = "-- started at";

/// True for a line that only mdtest writes.
pub(crate) fn is_mark(line: &str) -> bool {
    is_banner(line) || Table::of(line).is_some()
}

fn is_banner(line: &str) -> bool {
    line.starts_with("mdtest-") && line.contains("was launched")
}

/// Reads every summary; several are repeats.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading::default();
    let mut launch = Launch::default();
    let mut started: Option<String> = None;
    let mut lines = (1..).zip(text.lines()).peekable();
    while let Some((number, line)) = lines.next() {
        let line = line.trim();
        if let Some(time) = line.strip_prefix(STARTED) {
            started = Some(time.trim_end_matches("--").trim().to_owned());
        } else if is_banner(line) {
            launch.close(&mut reading)?;
            launch = Launch::of(line);
            launch.started = started.take();
        } else if let Some(table) = Table::of(line) {
            launch.summaries += 1;
            launch.iterations(line);
            let mut rows = Vec::new();
            while let Some((number, row)) = lines.next_if(|(_, line)| is_row(line)) {
                rows.push((number, row.trim()));
            }
            launch.table(table, &rows, number)?;
        } else {
            launch.line(number, line)?;
        }
    }
    launch.close(&mut reading)?;
    let count = |mark: &str| {
        let lines = text.lines().filter(|line| line.trim().starts_with(mark));
        lines.count()
    };
    if count(STARTED) > count("-- finished at") {
        return Err(Fault::truncated(
            "",
            "the line '-- finished at' is not there",
        ));
    }
    if reading.trials.is_empty() {
        return Err(Fault::truncated(
            "",
            "there is no summary after mdtest's first lines",
        ));
    }
    Ok(reading)
}

/// True for a line of a table: head, rule, or row.
fn is_row(line: &str) -> bool {
    let line = line.trim();
    let is_end = line.starts_with("-- ") || line.starts_with("SUMMARY") || is_banner(line);
    !line.is_empty() && !is_end && tasks(line).is_none()
}

/// `2 tasks, 100 files/directories`.
fn tasks(line: &str) -> Option<(u64, u64)> {
    let (tasks, items) = line.trim().split_once(" tasks, ")?;
    let items = items.split_whitespace().next()?;
    Some((tasks.parse().ok()?, items.parse().ok()?))
}

/// One execution of mdtest.
#[derive(Default)]
struct Launch {
    tool: String,
    started: Option<String>,
    parameters: Parameters,
    facts: Facts,
    iterations: Option<u64>,
    phases: Vec<PhaseRecord>,
    /// The phases of smaller numbers of tasks, if it ran with several (`-f`, `-l`).
    sections: Vec<Vec<PhaseRecord>>,
    summaries: usize,
    /// The rows of the table of rates, by the names of their phases.
    rates: Vec<(String, Figures)>,
    /// What `-v` prints of each iteration.
    each: Iterations,
    /// What an export of fslab says of it.
    origin: Option<Origin>,
}

impl Launch {
    /// `mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)`.
    fn of(line: &str) -> Self {
        let mut launch = Self::default();
        let mut words = line.split_whitespace();
        let version = words.next().and_then(|word| word.strip_prefix("mdtest-"));
        launch.tool = format!("mdtest {}", version.unwrap_or_default());
        let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
        for (name, count) in ["tasks", "nodes"].into_iter().zip(numbers) {
            launch.parameters.insert(name.into(), count.into());
        }
        launch
    }

    /// Reads a line outside tables.
    fn line(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        if let Some(text) = line.strip_prefix(Origin::MARK) {
            self.origin = Some(Origin::of(format!("line {number}"), text)?);
        } else if let Some(command) = line.strip_prefix("Command line used:") {
            put_parameters(command, &mut self.parameters);
            self.facts
                .insert("mdtest command".into(), command.trim().to_owned());
        } else if let Some((_, path)) = line.split_once(':').filter(|_| line.starts_with("Path")) {
            self.facts
                .insert("mdtest path".into(), path.trim().to_owned());
        } else if let Some((tasks, items)) = tasks(line) {
            if !self.phases.is_empty() {
                self.sections.push(std::mem::take(&mut self.phases));
            }
            self.parameters.insert("tasks".into(), tasks.into());
            self.parameters.insert("items".into(), items.into());
        } else {
            self.each.line(line);
        }
        Ok(())
    }

    /// `SUMMARY rate: (of 3 iterations)`.
    fn iterations(&mut self, line: &str) {
        let number = line
            .split_once("(of ")
            .and_then(|(_, rest)| rest.split_whitespace().next());
        self.iterations = number.and_then(|number| number.parse().ok());
    }

    fn table(&mut self, table: Table, rows: &[(usize, &str)], at: usize) -> Result<(), Fault> {
        let mut columns: Option<Columns> = None;
        let mut count = 0;
        for (line, row) in rows {
            if row.starts_with("Operation") {
                columns = Some(Columns::of(row));
            } else if row.starts_with("---") || row.starts_with("V-") {
                // The rule below the head, and progress messages.
            } else {
                let place = format!("line {line}");
                let columns = columns
                    .as_ref()
                    .ok_or_else(|| Fault::missing(&*place, "Operation  Max  Min  Mean  Std Dev"))?;
                if self.row(table, columns, row, &place)? {
                    count += 1;
                }
            }
        }
        if count == 0 {
            return Err(Fault::truncated(
                format!("line {at}"),
                "the summary has no row",
            ));
        }
        Ok(())
    }

    /// Reads a row; false if the line is not one.
    fn row(
        &mut self,
        table: Table,
        columns: &Columns,
        row: &str,
        place: &str,
    ) -> Result<bool, Fault> {
        let Some((title, values)) = columns.split(row) else {
            // An interleaved warning.
            let is_warning = ["WARNING", "ERROR", "ior "]
                .iter()
                .any(|w| row.starts_with(w));
            let wanted = format!("an operation and its {} values", columns.values.len());
            return match is_warning {
                true => Ok(false),
                false => Err(Fault::value(place, row, wanted)),
            };
        };
        let mut read = Vec::new();
        for (name, text) in columns.values.iter().zip(&values) {
            let wrong = || Fault::value(format!("{place}, {title}, {name}"), *text, "a rate");
            // The deviation of one iteration is 0/0 in some versions, and "NA" means none.
            let is_none = *text == "NA" || name.starts_with("Std");
            read.push(match number(text) {
                None if is_none => None,
                value => Some(value.ok_or_else(wrong)?),
            });
        }
        let index = self.phase(title);
        let figures = Figures::of(columns, &read);
        let items = self
            .parameters
            .get("items")
            .and_then(serde_json::Value::as_u64);
        // A stonewall may leave items out.
        let is_whole = !self.parameters.contains_key("stonewall_s");
        let items = items.filter(|_| is_whole && !title.starts_with("Tree"));
        let record = &mut self.phases[index];
        match table {
            Table::Rate => {
                figures.rate(record, self.iterations);
                self.rates.push((record.name.clone(), figures));
            }
            Table::Time => figures.time(record, items, self.iterations),
        }
        Ok(true)
    }

    /// The index of the phase of a row's title, inserted if missing.
    fn phase(&mut self, title: &str) -> usize {
        let origin = self.origin.as_ref();
        let name = origin.and_then(|origin| origin.phases.get(title).cloned());
        let name = name.unwrap_or_else(|| plain_name(title));
        if let Some(index) = self.phases.iter().position(|phase| phase.name == name) {
            return index;
        }
        let draft = Draft {
            name,
            workload: "mdtest".to_owned(),
            kind: PhaseKind::Metadata,
            headline: Headline::OperationRate,
            parameters: self.parameters.clone(),
            swept: None,
        };
        let mut record = draft.record();
        // Unless a table has a figure.
        record.outcome = PhaseOutcome::Skipped {
            reason: "mdtest gives no rate of it".to_owned(),
        };
        self.phases.push(record);
        self.phases.len() - 1
    }

    fn close(&mut self, reading: &mut Reading) -> Result<(), Fault> {
        let mut launch = std::mem::take(self);
        if launch.summaries == 0 {
            return match launch.tool.is_empty() {
                true => Ok(()),
                false => Err(Fault::truncated(
                    "",
                    format!("{} was launched, and no summary follows", launch.tool),
                )),
            };
        }
        let tool = match launch.tool.is_empty() {
            true => "mdtest".to_owned(),
            false => launch.tool,
        };
        let is_single = launch.sections.is_empty() && launch.origin.is_none();
        if !launch.sections.is_empty() {
            launch.sections.push(std::mem::take(&mut launch.phases));
            let phases = launch.sections.into_iter().flatten();
            launch.phases = phases.map(over_tasks).collect();
        }
        let mut facts = launch.facts;
        facts.insert("mdtest".into(), tool.clone());
        reading.tool = tool;
        reading.engine = Some("mdtest".to_owned());
        let tasks = launch
            .parameters
            .get("tasks")
            .and_then(serde_json::Value::as_u64);
        let count = launch.iterations.filter(|count| is_single && *count > 1);
        if let Some(count) = count.filter(|count| launch.each.count() == *count) {
            match launch.each.agreeing(&launch.rates, tasks.unwrap_or(1)) {
                Ok(factors) => {
                    let trials = launch.each.trials(&launch.phases, &factors);
                    reading
                        .trials
                        .extend((0..).zip(trials).map(|(iteration, phases)| {
                            Measured {
                                phases,
                                facts: facts.clone(),
                                stamp: launch
                                    .started
                                    .as_ref()
                                    .map(|it| format!("{it}, {iteration}")),
                                ..Measured::default()
                            }
                        }));
                    return Ok(());
                }
                Err(name) => reading.notes.push(format!(
                    "mdtest -v prints {count} iterations as the first task measured them, and \
                     those of '{name}' are not the ones of its summary: the means of the summary \
                     count"
                )),
            }
        }
        let subject = launch.origin.map(|origin| origin.subject);
        // Launches of an export may have equal figures.
        let is_export = subject.is_some();
        reading.trials.push(Measured {
            subject,
            phases: launch.phases,
            facts,
            stamp: launch.started.filter(|_| !is_export),
            ..Measured::default()
        });
        Ok(())
    }
}

/// The phase as a point of a sweep over the number of tasks.
fn over_tasks(mut phase: PhaseRecord) -> PhaseRecord {
    let tasks = phase
        .parameters
        .get("tasks")
        .and_then(serde_json::Value::as_u64);
    let tasks = tasks.unwrap_or_default();
    let name = std::mem::take(&mut phase.name);
    phase.name = format!("{name} {tasks}");
    phase.swept = Some(Swept {
        phase: name,
        point: [("tasks".to_owned(), PointValue::Count(tasks))].into(),
    });
    phase
}

/// Sets what a command line of mdtest says.
pub(super) fn put_parameters(line: &str, parameters: &mut Parameters) {
    let line = CommandLine::of(line);
    let mut set = |name: &str, value: serde_json::Value| parameters.insert(name.to_owned(), value);
    set("own_trees", line.has("-u").into());
    // Without a size files are created empty, and are only opened and closed to be read.
    for (name, option) in [("write_bytes", "-w"), ("read_bytes", "-e")] {
        match (line.value(option), line.bytes(option)) {
            (None, _) => set(name, 0.into()),
            (Some(_), Some(bytes)) => set(name, bytes.into()),
            (Some(_), None) => None,
        };
    }
    for (name, option) in [("rank_shift", "-N"), ("stonewall_s", "-W")] {
        if let Some(count) = line.count(option).filter(|count| *count > 0) {
            set(name, count.into());
        }
    }
    if line.has("-y") {
        set("sync_file", true.into());
    }
    if line.has("-R") || line.value("-R").is_some() {
        set("random_order", true.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "   Operation                     Max            Min           Mean        \
                        Std Dev\n   ---------                     ---            ---           \
                        ----        -------\n";

    fn summary(rows: &str) -> String {
        format!("SUMMARY rate (in ops/sec): (of 2 iterations)\n{HEAD}{rows}-- finished at x --\n")
    }

    #[test]
    fn the_mean_is_the_value_and_what_was_not_run_has_none() {
        let text = summary(
            "   File creation    300.5   100.5   200.5  50.0\n   File stat 0.000 0.000 0.000 0.000\n",
        );
        let reading = read(&text).expect("a summary");
        let phases = &reading.trials[0].phases;
        assert_eq!(phases[0].name, "file-creation");
        assert_eq!(phases[0].figures["operation_rate"], 200.5);
        assert!(phases[0].notes[0].contains("smallest 100.5, largest 300.5"));
        assert!(matches!(phases[1].outcome, PhaseOutcome::Skipped { .. }));
    }

    #[test]
    fn times_of_phases_are_rates_where_nothing_else_is() {
        let text = format!(
            "2 tasks, 1000 files\nSUMMARY time (in ms/op): (of 1 iterations)\n{HEAD}   File read  \
             0.5 0.5 0.5 0.0\n   Tree creation  0.5 0.5 0.5 0.0\n"
        );
        let phases = |text: &str| read(text).expect("a summary").trials.remove(0).phases;
        let read = &phases(&text)[..];
        assert_eq!(read[0].figures["operation_rate"], 2000.0);
        assert_eq!(read[0].figures["elapsed_ns"], 5e8);
        assert!(!read[1].figures.contains_key("operation_rate"));
        let ended_early = format!("Command line used: mdtest -W 1\n{text}");
        let write = &phases(&ended_early)[0];
        assert!(!write.figures.contains_key("operation_rate"));
        assert_eq!(write.figures["elapsed_ns"], 5e8);
        let fast = text.replacen("0.5 0.5 0.5", "0.004 0.004 0.004", 1);
        let fast = &phases(&fast)[0];
        assert!(
            fast.notes[0].contains("between 222222 and 285714 op/s"),
            "{:?}",
            fast.notes
        );
    }

    #[test]
    fn a_summary_that_is_cut_off_or_has_a_negative_rate_is_refused_by_its_place() {
        let cut = "mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)\nPath: /x\n";
        let fault = read(cut).expect_err("no summary");
        assert!(fault.to_string().contains("it is cut off: "), "{fault}");
        let rows = summary("");
        assert!(
            read(&rows)
                .expect_err("no row")
                .to_string()
                .contains("it is cut off: ")
        );
        let negative = summary("   File creation    300.5   100.5   -200.5  50.0\n");
        let fault = read(&negative).expect_err("negative").to_string();
        assert!(
            fault.starts_with("line 4, File creation, Mean: \"-200.5\""),
            "{fault}"
        );
        let short = summary("   File creation    300.5   100.5\n");
        let fault = read(&short).expect_err("short").to_string();
        assert!(fault.contains("4 values"), "{fault}");
    }

    #[test]
    fn what_does_not_stand_on_the_command_line_is_off() {
        let mut parameters = Parameters::new();
        put_parameters(
            "./mdtest '-n' '10' '-F' '-u' '-N' '1' '-e=3901' '-W' '2'",
            &mut parameters,
        );
        let expected = serde_json::json!({
            "own_trees": true, "write_bytes": 0, "read_bytes": 3901, "rank_shift": 1,
            "stonewall_s": 2,
        });
        assert_eq!(serde_json::to_value(&parameters).expect("JSON"), expected);
        let mut parameters = Parameters::new();
        put_parameters("mdtest -F -y -w many -R", &mut parameters);
        let expected = serde_json::json!({
            "own_trees": false, "read_bytes": 0, "sync_file": true, "random_order": true,
        });
        assert_eq!(serde_json::to_value(&parameters).expect("JSON"), expected);
    }
}
