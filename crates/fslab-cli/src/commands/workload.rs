//! `fslab workload`: the built-in workloads, the kinds of jobs, and their parameters.

use std::fmt::Write;

use clap::{Args, Subcommand};
use fslab_model::{
    Bytes, Failure, FailureKind, Headline, Parameters, PhaseKind, did_you_mean, nearest_name,
};
use fslab_report::{Column, Table, TableCell};
use fslab_workload::{JobInfo, ParameterInfo, WordInfo, Workload};
use schemars::JsonSchema;
use serde::Serialize;

use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::paragraph::write_paragraph;
use crate::terminal::{screen, table};

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
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the kinds of job that workloads use, or show the parameters of one
    Jobs {
        /// Job name
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one workload: what it does, and the meaning and default of each parameter
    Show {
        /// Workload name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print the workload as TOML, as a template for your own
        #[arg(long, conflicts_with = "json")]
        toml: bool,
    },
}

impl WorkloadArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            WorkloadCommand::List { json } => list(*json)?,
            WorkloadCommand::Jobs { name, json } => jobs(name.as_deref(), *json)?,
            WorkloadCommand::Show { name, json, toml } => show(name, *json, *toml)?,
        }
        Ok(Exit::Done)
    }
}

fn list(json: bool) -> Result<(), CommandError> {
    let workloads = fslab_workload::all();
    if json {
        let all: Vec<_> = workloads.map(summary).collect();
        return screen::print_json(&all);
    }
    let rows = workloads.map(|workload| {
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
    screen::print_styled(&table::render(&table))
}

fn show(name: &str, json: bool, toml: bool) -> Result<(), CommandError> {
    let workload = fslab_workload::find(name).map_err(|error| {
        Failure::new(FailureKind::BadInput, error.to_string()).with_hint(error.hint())
    })?;
    if json {
        return screen::print_json(&details(workload));
    }
    if toml {
        return screen::print(&workload.definition().to_toml());
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
    write_parameters(text, &workload.parameters(SIZE))?;
    let fixed = workload.fixed();
    if !fixed.is_empty() {
        writeln!(text, "\nparameters of the job that the workload fixes")?;
        write_parameters(text, &fixed)?;
    }
    Ok(())
}

fn write_parameters(text: &mut String, parameters: &[ParameterInfo]) -> std::fmt::Result {
    for parameter in parameters {
        let default = parameter
            .default
            .as_ref()
            .map(|value| format!(" = {value}"));
        writeln!(text, "  {}{}", parameter.name, default.unwrap_or_default())?;
        write_paragraph(text, "      ", &parameter.kind.replace('`', ""))?;
        write_paragraph(text, "      ", &parameter.meaning)?;
        for WordInfo { word, meaning } in &parameter.words {
            write_paragraph(text, "        ", &format!("{word}: {meaning}"))?;
        }
    }
    Ok(())
}

fn jobs(name: Option<&str>, json: bool) -> Result<(), CommandError> {
    let mut infos = fslab_workload::job_infos();
    if let Some(name) = name {
        let known: Vec<_> = infos.iter().map(|info| info.name).collect();
        infos.retain(|info| info.name == name);
        if infos.is_empty() {
            let text = format!("there is no job '{name}'");
            let nearest = nearest_name(name, known).map(did_you_mean);
            let hint = nearest.unwrap_or_else(|| "`fslab workload jobs` lists them".to_owned());
            return Err(Failure::new(FailureKind::BadInput, text).hint(hint).into());
        }
    }
    if json {
        return screen::print_json(&infos);
    }
    let mut text = String::new();
    for info in &infos {
        // Writing to a string does not fail.
        let _ = match name {
            None => writeln!(text, "{}", info.name)
                .and_then(|()| write_paragraph(&mut text, "    ", &info.about)),
            Some(_) => write_job(&mut text, info),
        };
    }
    screen::print(&text)
}

fn write_job(text: &mut String, info: &JobInfo) -> std::fmt::Result {
    writeln!(text, "{}\n", info.name)?;
    write_paragraph(text, "", &info.about)?;
    writeln!(text, "\nparameters, with the defaults of the job")?;
    write_parameters(text, &info.parameters)
}

/// A workload in the output of `fslab workload list --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WorkloadSummary {
    name: String,
    title: String,
    job: String,
    /// The kind with default parameters.
    kind: PhaseKind,
    headline: Headline,
}

/// The output of `fslab workload show --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WorkloadDetails {
    #[serde(flatten)]
    summary: WorkloadSummary,
    about: String,
    /// The parameters that a study may set, with defaults for 1 GiB.
    parameters: Vec<ParameterInfo>,
    /// The other parameters of the job that the workload gives a value.
    fixed: Vec<ParameterInfo>,
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
        fixed: workload.fixed(),
    }
}

fn kind(workload: &Workload) -> PhaseKind {
    workload.kind(&Parameters::new())
}
