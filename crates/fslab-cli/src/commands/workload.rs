//! `fslab workload`: the built-in workloads and their parameters.

use std::fmt::Write;

use clap::{Args, Subcommand};
use fslab_model::{Bytes, Failure, FailureKind, Headline, Parameters, PhaseKind};
use fslab_report::{Column, Table, TableCell};
use fslab_workload::{ParameterInfo, Workload};
use schemars::JsonSchema;
use serde::Serialize;

use crate::exit::{CommandError, CommandResult, Exit};
use crate::paragraph::write_paragraph;
use crate::screen;

/// The file system size for which defaults are shown.
const SIZE: Bytes = Bytes::gib(1);

/// Arguments of `fslab workload`.
#[derive(Debug, Args)]
pub(crate) struct WorkloadArgs {
    #[command(subcommand)]
    command: WorkloadCommand,
}

#[derive(Debug, Subcommand)]
enum WorkloadCommand {
    /// List the built-in workloads
    List {
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
    /// Show one workload: what it does, and the meaning and default of each parameter
    Show {
        /// The workload's name
        name: String,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
}

impl WorkloadArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            WorkloadCommand::List { json } => list(*json)?,
            WorkloadCommand::Show { name, json } => show(name, *json)?,
        }
        Ok(Exit::Done)
    }
}

fn list(json: bool) -> Result<(), CommandError> {
    let workloads = fslab_workload::all();
    if json {
        let all: Vec<_> = workloads.iter().map(summary).collect();
        return screen::print_json(&all);
    }
    let rows = workloads.iter().map(|workload| {
        vec![
            TableCell::new(workload.name()),
            TableCell::new(kind(workload).as_str()),
            TableCell::new(workload.headline().word()),
            TableCell::new(workload.title()),
        ]
    });
    let table = Table {
        caption: "Workloads".into(),
        columns: vec![
            Column::left("Name"),
            Column::left("Kind"),
            Column::left("Headline"),
            Column::left("Title"),
        ],
        rows: rows.collect(),
        notes: vec!["`fslab workload show NAME` shows the parameters.".into()],
    };
    screen::print_styled(&screen::render(&table))
}

fn show(name: &str, json: bool) -> Result<(), CommandError> {
    let workload = fslab_workload::find(name).map_err(|error| {
        Failure::new(FailureKind::BadInput, error.to_string()).with_hint(error.hint())
    })?;
    if json {
        return screen::print_json(&details(workload));
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_workload(&mut text, workload);
    screen::print(&text)
}

fn write_workload(text: &mut String, workload: &Workload) -> std::fmt::Result {
    let definition = workload.definition();
    writeln!(text, "{}\n{}\n", workload.name(), workload.title())?;
    write_paragraph(text, "", &definition.about)?;
    writeln!(text, "\njob       {}", definition.job)?;
    writeln!(text, "kind      {}", kind(workload).as_str())?;
    writeln!(text, "headline  {}", workload.headline().word())?;
    writeln!(text, "\nparameters, with defaults for {SIZE}")?;
    for parameter in workload.parameters(SIZE) {
        let default = parameter
            .default
            .as_ref()
            .map(|value| format!(" = {value}"));
        writeln!(text, "  {}{}", parameter.name, default.unwrap_or_default())?;
        write_paragraph(text, "      ", &parameter.meaning)?;
    }
    Ok(())
}

/// A workload in the output of `fslab workload list --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct WorkloadSummary {
    name: String,
    title: String,
    job: String,
    /// The kind with default parameters.
    kind: PhaseKind,
    headline: Headline,
}

/// The output of `fslab workload show --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct WorkloadDetails {
    #[serde(flatten)]
    summary: WorkloadSummary,
    about: String,
    /// The parameters that a study may set, with defaults for 1 GiB.
    parameters: Vec<ParameterInfo>,
}

fn summary(workload: &Workload) -> WorkloadSummary {
    WorkloadSummary {
        name: workload.name().to_owned(),
        title: workload.title().to_owned(),
        job: workload.definition().job.clone(),
        kind: kind(workload),
        headline: workload.headline(),
    }
}

fn details(workload: &Workload) -> WorkloadDetails {
    WorkloadDetails {
        summary: summary(workload),
        about: workload.definition().about.trim_end().to_owned(),
        parameters: workload.parameters(SIZE),
    }
}

fn kind(workload: &Workload) -> PhaseKind {
    workload.kind(&Parameters::new())
}
