//! `fslab layer`: lists and shows the layers that a stack may have below a file system.

use std::fmt::Write;

use clap::{Args, Subcommand};
use fslab_fs::BlockLayer;
use fslab_model::Subject;
use fslab_report::{Column, Table, TableCell};

use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::paragraph::write_paragraph;
use crate::terminal::{screen, table};

/// Arguments of `fslab layer`.
#[derive(Debug, Args)]
pub(crate) struct LayerArgs {
    #[command(subcommand)]
    command: LayerCommand,
}

#[derive(Debug, Subcommand)]
enum LayerCommand {
    /// List the layers
    List,
    /// Show one layer: its options, its commands and its programs
    Show {
        /// BlockLayer: a name of `fslab layer list`
        name: String,
    },
}

impl LayerArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            LayerCommand::List => list()?,
            LayerCommand::Show { name } => show(name)?,
        }
        Ok(Exit::Done)
    }
}

fn list() -> Result<(), CommandError> {
    let rows = fslab_fs::layers().iter().map(|layer| {
        vec![
            TableCell::new(layer.kind.to_string()),
            TableCell::new(layer.title),
            TableCell::new(members(layer)),
            TableCell::new(programs(layer)),
            TableCell::new(subject_on(layer)),
        ]
    });
    let table = Table {
        caption: "Layers below a file system".into(),
        columns: vec![
            Column::left("Name"),
            Column::left("Title"),
            Column::right("Disks"),
            Column::left("Programs"),
            Column::left("As a subject"),
        ],
        rows: rows.collect(),
        notes: vec![
            "They combine, from the file system down: ext4/luks/raid1x2. `fslab layer show NAME` \
             shows options and commands."
                .into(),
        ],
    };
    screen::print_styled(&table::render(&table))
}

/// `1`, or `3 and more`.
fn members(layer: &BlockLayer) -> String {
    match layer.kind.members_min() {
        None => "1".to_owned(),
        Some(fewest) => format!("{fewest} and more"),
    }
}

fn programs(layer: &BlockLayer) -> String {
    let programs: Vec<&str> = layer.tools.iter().map(|tool| tool.program).collect();
    programs.join(", ")
}

/// A subject with the layer, on as few disks as possible.
fn subject_on(layer: &BlockLayer) -> String {
    match layer.kind.members_min() {
        None => format!("ext4/{}", layer.kind),
        Some(fewest) => format!("ext4/{}x{fewest}", layer.kind),
    }
}

fn show(name: &str) -> Result<(), CommandError> {
    let layer = fslab_fs::find_layer(name)?;
    let subject: Subject = fslab_fs::parse_subject(&subject_on(layer))?;
    let plan = fslab_fs::find(subject.fs())?.plan(&subject)?;
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_layer(&mut text, layer, &subject, &plan.stack);
    screen::print(&text)
}

fn write_layer(
    text: &mut String,
    layer: &BlockLayer,
    subject: &Subject,
    commands: &[Vec<String>],
) -> std::fmt::Result {
    writeln!(text, "{} ({})\n", layer.title, layer.kind)?;
    write_paragraph(text, "", layer.summary)?;
    writeln!(text)?;
    let options: Vec<String> = layer.options.iter().map(fslab_fs::KeyRule::usage).collect();
    let parts = [
        ("disks", members(layer)),
        ("options", options.join(", ")),
        ("programs", programs(layer)),
        ("kernel", layer.config.to_string()),
        ("subject", subject.to_string()),
    ];
    for (name, value) in parts.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(text, "{name:<9} {value}")?;
    }
    writeln!(text, "\nmade by")?;
    for command in commands {
        writeln!(text, "    {}", command.join(" "))?;
    }
    if !layer.deviations.is_empty() {
        writeln!(text, "\ndeviations from the defaults")?;
    }
    for deviation in layer.deviations {
        write_paragraph(text, "    ", deviation)?;
    }
    Ok(())
}
