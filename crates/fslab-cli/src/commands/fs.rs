//! `fslab fs`: the catalogue, and what works here.

use std::fmt::Write;

use clap::{Args, Subcommand};
use fslab_fs::{FileSystem, Host, Probe, VenueProbe};
use fslab_model::VenueKind;
use fslab_report::{Column, Table, TableCell, Tone};

use crate::exit::{CommandError, CommandResult, Exit};
use crate::screen;

/// Arguments of `fslab fs`.
#[derive(Debug, Args)]
pub(crate) struct FsArgs {
    #[command(subcommand)]
    command: FsCommand,
}

#[derive(Debug, Subcommand)]
enum FsCommand {
    /// List the file systems of the catalogue
    List {
        /// Find out what works on this machine, and how to get what does not
        #[arg(long)]
        probe: bool,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
    /// Show one file system: history, commands, features, limits
    Show {
        /// Its name
        name: String,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
}

impl FsArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            FsCommand::List { probe: false, json } => list(*json)?,
            FsCommand::List { probe: true, json } => list_probed(*json)?,
            FsCommand::Show { name, json } => show(name, *json)?,
        }
        Ok(Exit::Done)
    }
}

fn list(json: bool) -> Result<(), CommandError> {
    if json {
        let all: Vec<_> = fslab_fs::all()
            .iter()
            .map(|entry| entry.details())
            .collect();
        return screen::print_json(&all);
    }
    let rows = fslab_fs::all().iter().map(|entry| {
        let tools: Vec<_> = entry.tools().iter().map(|tool| tool.program).collect();
        vec![
            TableCell::new(entry.name),
            TableCell::new(entry.title),
            TableCell::new(entry.class.to_string()),
            TableCell::new(tools.join(", ")),
        ]
    });
    let table = Table {
        caption: "The catalogue of file systems".into(),
        columns: ["Name", "Title", "Class", "Tools"].map(Column::left).into(),
        rows: rows.collect(),
        notes: vec!["`fslab fs list --probe` tells what works on this machine.".into()],
    };
    screen::print(&screen::render(&table))
}

fn list_probed(json: bool) -> Result<(), CommandError> {
    let host = Host::gather()?;
    let probes: Vec<_> = fslab_fs::all()
        .iter()
        .map(|entry| fslab_fs::probe(entry, &host))
        .collect();
    if json {
        return screen::print_json(&probes);
    }
    screen::print(&screen::render(&probe_table(&probes)))
}

fn probe_table(probes: &[Probe]) -> Table {
    const VENUES: [VenueKind; 3] = [VenueKind::Loop, VenueKind::Block, VenueKind::Dir];
    let mut columns = vec![Column::left("Name")];
    columns.extend(VENUES.map(|venue| Column::left(venue.as_str())));
    columns.push(Column::left("How to get it"));
    let rows = probes.iter().map(|probe| {
        let mut row = vec![TableCell::new(&probe.name)];
        let found = |kind| probe.venues.iter().find(|venue| venue.venue == kind);
        row.extend(VENUES.map(|kind| found(kind).map_or_else(TableCell::default, venue_cell)));
        let mut hints: Vec<_> = probe
            .venues
            .iter()
            .flat_map(|venue| &venue.obstacles)
            .filter_map(fslab_fs::Obstacle::hint)
            .collect();
        hints.sort_unstable();
        hints.dedup();
        row.push(TableCell::new(hints.join("; ")));
        row
    });
    Table {
        caption: "What works on this machine".into(),
        columns,
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

fn venue_cell(venue: &VenueProbe) -> TableCell {
    if venue.works {
        let text = venue
            .note
            .as_ref()
            .map_or("works".to_owned(), |note| format!("works: {note}"));
        return TableCell {
            tone: Tone::Strong,
            ..TableCell::new(text)
        };
    }
    let reasons: Vec<_> = venue.obstacles.iter().map(ToString::to_string).collect();
    TableCell {
        tone: Tone::Weak,
        ..TableCell::new(reasons.join("; "))
    }
}

fn show(name: &str, json: bool) -> Result<(), CommandError> {
    let entry = fslab_fs::find(name)?;
    if json {
        return screen::print_json(&entry.details());
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_entry(&mut text, entry);
    screen::print(&text)
}

fn write_entry(text: &mut String, entry: &FileSystem) -> std::fmt::Result {
    let details = entry.details();
    writeln!(text, "{} ({})", details.title, details.class)?;
    writeln!(text, "\n{}\n", details.history)?;
    if let Some(reason) = details.unavailable {
        writeln!(text, "cannot be used: {reason}")?;
    }
    let commands = [
        ("mkfs", details.mkfs),
        ("mount", details.mount),
        ("check", details.check),
    ];
    for (label, command) in commands {
        if let Some(command) = command {
            writeln!(text, "{label:<8} {}", command.join(" "))?;
        }
    }
    writeln!(text, "at least {}", details.minimum_bytes)?;
    for tool in details.tools {
        writeln!(text, "needs    {} (package {})", tool.program, tool.package)?;
    }
    for deviation in details.deviations {
        writeln!(text, "note     {deviation}")?;
    }
    writeln!(text, "\nfeatures and limits")?;
    let capabilities = serde_json::to_value(details.capabilities).unwrap_or_default();
    for (name, value) in capabilities.as_object().into_iter().flatten() {
        writeln!(text, "  {:<24} {value}", name.replace('_', " "))?;
    }
    Ok(())
}
