//! `fslab machine`: lists and shows the machines of the venue sim.

use std::fmt::Write;

use clap::{Args, Subcommand};
use fslab_disk::Machine;
use fslab_disk::machine::{self, ProcessorSpeed};
use fslab_report::{Column, Table, TableCell};

use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::paragraph::write_paragraph;
use crate::terminal::{screen, table};

/// Arguments of `fslab machine`.
#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    #[command(subcommand)]
    command: MachineCommand,
}

#[derive(Debug, Subcommand)]
enum MachineCommand {
    /// List the built-in machines
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one machine, with the sources of its values
    Show {
        /// Machine: a name or a file
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print the machine as TOML, as a template for your own
        #[arg(long, conflicts_with = "json")]
        toml: bool,
    },
}

impl MachineArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            MachineCommand::List { json } => list(*json)?,
            MachineCommand::Show { name, json, toml } => show(name, *json, *toml)?,
        }
        Ok(Exit::Done)
    }
}

fn list(json: bool) -> Result<(), CommandError> {
    let machines = machine::all();
    if json {
        return screen::print_json(&machines);
    }
    let rows = machines.iter().map(|machine| {
        vec![
            TableCell::new(&machine.name),
            TableCell::new(machine.year.to_string()),
            TableCell::new(speed(machine.processor.instructions_per_s)),
            TableCell::new(machine.memory.size.to_string()),
            TableCell::new(&machine.disk.profile),
        ]
    });
    let table = Table {
        caption: "Machines of the venue sim".into(),
        columns: vec![
            Column::left("Name"),
            Column::right("Year"),
            Column::right("Instructions/s"),
            Column::right("Memory"),
            Column::left("Disk"),
        ],
        rows: rows.collect(),
        notes: vec!["`fslab machine show NAME` shows the sources of these values.".into()],
    };
    screen::print_styled(&table::render(&table))
}

/// `500 million`, or `free`.
fn speed(speed: ProcessorSpeed) -> String {
    match speed {
        ProcessorSpeed::Free(_) => "free".to_owned(),
        ProcessorSpeed::Counted(rate) => format!("{} million", rate as f64 / 1e6),
    }
}

fn show(name: &str, json: bool, toml: bool) -> Result<(), CommandError> {
    let machine = machine::find(name)?;
    if json {
        return screen::print_json(&machine);
    }
    if toml {
        return screen::print(&machine.to_toml());
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_machine(&mut text, &machine);
    screen::print(&text)
}

fn write_machine(text: &mut String, machine: &Machine) -> std::fmt::Result {
    writeln!(text, "{} ({})", machine.name, machine.year)?;
    writeln!(text, "{}\n", machine.title)?;
    write_paragraph(text, "", &machine.description)?;
    let processor = &machine.processor;
    let parts = [
        (
            "processor",
            format!(
                "{}, {} instructions/s",
                processor.name,
                speed(processor.instructions_per_s)
            ),
            &processor.source,
        ),
        (
            "memory",
            machine.memory.size.to_string(),
            &machine.memory.source,
        ),
        ("disk", machine.disk.profile.clone(), &machine.disk.source),
    ];
    for (name, value, source) in parts {
        writeln!(text, "\n{name:<10} {value}")?;
        write_paragraph(text, "  | ", source)?;
    }
    Ok(())
}
