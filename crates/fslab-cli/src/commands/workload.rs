//! `fslab workload`: the built-in workloads and their parameters.

use std::fmt::Write;

use clap::{Args, Subcommand};
use fslab_model::{Bytes, Failure, FailureKind, Parameters};
use fslab_report::{Column, Table, TableCell};
use fslab_workload::Workload;
use serde_json::{Value, json};

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
            TableCell::new(word(&kind(workload))),
            TableCell::new(word(&json!(workload.headline()))),
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
        return screen::print_json(&document(workload));
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
    writeln!(text, "kind      {}", word(&kind(workload)))?;
    writeln!(text, "headline  {}", word(&json!(workload.headline())))?;
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

/// The kind with default parameters, as in JSON.
fn kind(workload: &Workload) -> Value {
    json!(workload.kind(&Parameters::new()))
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn summary(workload: &Workload) -> Value {
    json!({
        "name": workload.name(),
        "title": workload.title(),
        "job": workload.definition().job,
        "kind": kind(workload),
        "headline": workload.headline(),
    })
}

fn document(workload: &Workload) -> Value {
    let mut document = summary(workload);
    document["about"] = json!(workload.definition().about.trim_end());
    let parameters = workload.parameters(SIZE);
    let parameters = parameters.iter().map(|parameter| {
        json!({
            "name": parameter.name,
            "meaning": parameter.meaning,
            "default": parameter.default,
        })
    });
    document["parameters"] = parameters.collect();
    document
}
