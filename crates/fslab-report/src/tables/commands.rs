//! The exact commands: as planned and as executed.

use fslab_model::{StepRecord, SubjectPlan, format_ns};
use fslab_stats::quantile;

use super::cells::subject_cell;
use crate::wording::{command_line, count};
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::Analysis;

/// For each subject the planned commands, and every distinct command that its trials executed, with
/// count, median duration and exit codes.
pub fn commands(analysis: &Analysis) -> Table {
    let mut rows = Vec::new();
    for (index, planned) in analysis.run.header.plan.subjects.iter().enumerate() {
        let head = || subject_cell(index, &planned.subject);
        for (step, command) in planned_steps(planned) {
            let cell = TableCell::new(command_line(command)).code();
            rows.push(vec![
                head(),
                TableCell::new(step),
                cell,
                TableCell::new("as planned").tone(Tone::Weak),
                TableCell::nothing(),
                TableCell::nothing(),
            ]);
        }
        let steps = analysis.trials_of(index).flat_map(|trial| &trial.steps);
        rows.extend(
            distinct(steps)
                .into_iter()
                .map(|executed| executed.row(head())),
        );
    }
    Table {
        caption: "Commands as planned and as executed".to_owned(),
        columns: vec![
            Column::left("Subject"),
            Column::left("Step"),
            Column::left("Command"),
            Column::left("Executed"),
            Column::right("Median time"),
            Column::right("Exit"),
        ],
        rows,
        notes: Vec::new(),
    }
}

fn planned_steps(plan: &SubjectPlan) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
    [
        ("mkfs", &plan.mkfs),
        ("mount", &plan.mount),
        ("check", &plan.check),
    ]
    .into_iter()
    .filter_map(|(step, command)| Some((step, command.as_ref()?)))
}

struct Executed<'a> {
    step: &'a str,
    command: &'a [String],
    elapsed_ns: Vec<f64>,
    exit_codes: Vec<i32>,
}

fn distinct<'a>(steps: impl Iterator<Item = &'a StepRecord>) -> Vec<Executed<'a>> {
    let mut found: Vec<Executed> = Vec::new();
    for step in steps {
        let place = found
            .iter()
            .position(|known| known.step == step.step && known.command == step.command);
        let place = place.unwrap_or_else(|| {
            found.push(Executed {
                step: &step.step,
                command: &step.command,
                elapsed_ns: Vec::new(),
                exit_codes: Vec::new(),
            });
            found.len() - 1
        });
        found[place].elapsed_ns.push(step.elapsed_ns as f64);
        found[place].exit_codes.extend(step.exit_code);
    }
    found
}

impl Executed<'_> {
    fn row(mut self, head: TableCell) -> Vec<TableCell> {
        self.exit_codes.sort_unstable();
        self.exit_codes.dedup();
        let codes: Vec<String> = self.exit_codes.iter().map(ToString::to_string).collect();
        let median = quantile(&self.elapsed_ns, 0.5).map_or_else(String::new, format_ns);
        vec![
            head,
            TableCell::new(self.step),
            TableCell::new(command_line(self.command)).code(),
            TableCell::new(count(self.elapsed_ns.len(), "time")),
            TableCell::new(median),
            if codes.is_empty() {
                TableCell::nothing()
            } else {
                TableCell::new(codes.join(", "))
            },
        ]
    }
}
