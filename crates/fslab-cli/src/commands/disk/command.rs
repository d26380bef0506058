//! `fslab disk`: lists, shows and benchmarks the profiles of simulated disks.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::{Args, Subcommand};
use fslab_disk::profile::Medium;
use fslab_disk::{Profile, registry};
use fslab_model::{Bytes, Rate, format_ns};
use fslab_report::{Column, Table, TableCell};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::profiles::{find, size};
use crate::commands::disk::fit::FitArgs;
use crate::commands::disk::test::TestArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::paragraph::write_paragraph;
use crate::terminal::{screen, table};

/// Arguments of `fslab disk`.
#[derive(Debug, Args)]
pub(crate) struct DiskArgs {
    #[command(subcommand)]
    command: DiskCommand,
}

#[derive(Debug, Subcommand)]
enum DiskCommand {
    /// List the built-in disk profiles
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one profile: parameters, their sources, and derived figures
    Show {
        /// Profile: a name or a file
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print the profile as TOML, as a template for your own
        #[arg(long, conflicts_with = "json")]
        toml: bool,
    },
    /// Benchmark a profile's disk model in virtual time and draw its curves
    Test(TestArgs),
    /// Fit a hard disk to the rates that an original printed
    Fit(FitArgs),
}

impl DiskArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            DiskCommand::List { json } => list(*json)?,
            DiskCommand::Show { name, json, toml } => show(name, *json, *toml)?,
            DiskCommand::Test(args) => args.run()?,
            DiskCommand::Fit(args) => args.run()?,
        }
        Ok(Exit::Done)
    }
}

fn list(json: bool) -> Result<(), CommandError> {
    let profiles = registry::all();
    if json {
        let all: Vec<_> = profiles.iter().map(summary).collect();
        return screen::print_json(&all);
    }
    let rows = profiles.iter().map(|profile| {
        vec![
            TableCell::new(&profile.name),
            TableCell::new(kind(profile)),
            TableCell::new(size(profile.capacity())),
            TableCell::new(profile.year.to_string()),
            TableCell::new(&profile.interface.name),
            TableCell::new(format_ns(profile.mean_access().0 as f64)),
            TableCell::new(Rate::Bytes(profile.sequential_read()).to_string()),
        ]
    });
    let table = Table {
        caption: "Disk profiles".into(),
        columns: vec![
            Column::left("Name"),
            Column::left("Kind"),
            Column::right("Size"),
            Column::right("Year"),
            Column::left("Interface"),
            Column::right("Mean access"),
            Column::right("Sequential read"),
        ],
        rows: rows.collect(),
        notes: vec![
            "`fslab disk show NAME` shows every parameter and its source, `fslab disk test NAME` \
             the curves."
                .into(),
        ],
    };
    screen::print_styled(&table::render(&table))
}

/// A profile in the output of `fslab disk list --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiskSummary {
    name: String,
    title: String,
    /// `hdd` or `flash`.
    kind: &'static str,
    /// The layout of an array.
    array: Option<&'static str>,
    year: u32,
    interface: String,
    capacity_bytes: Bytes,
    mean_access_ns: u64,
    sequential_read_bytes_per_s: u64,
    /// Digest of its parameters.
    digest: String,
}

fn summary(profile: &Profile) -> DiskSummary {
    DiskSummary {
        name: profile.name.clone(),
        title: profile.title.clone(),
        kind: profile.kind(),
        array: profile.array.as_ref().map(|array| array.layout.as_str()),
        year: profile.year,
        interface: profile.interface.name.clone(),
        capacity_bytes: profile.capacity(),
        mean_access_ns: profile.mean_access().0,
        sequential_read_bytes_per_s: profile.sequential_read().round() as u64,
        digest: profile.digest(),
    }
}

/// `hard disk`, `flash`, `10 hard disks, RAID 10`.
fn kind(profile: &Profile) -> String {
    let noun = match profile.medium {
        Medium::HardDisk(_) => "hard disk",
        Medium::Flash(_) => "flash",
    };
    match &profile.array {
        None => noun.to_owned(),
        Some(array) => {
            let level = array.layout.as_str().trim_start_matches("raid");
            format!(
                "{}, RAID {level}",
                screen::counted(array.members as usize, noun)
            )
        }
    }
}

fn show(name: &str, json: bool, toml: bool) -> Result<(), CommandError> {
    let profile = find(name)?;
    if json {
        return screen::print_json(&details(&profile));
    }
    if toml {
        return screen::print(&profile.to_toml());
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_profile(&mut text, &profile);
    screen::print(&text)
}

/// The output of `fslab disk show --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiskDetails<'a> {
    profile: &'a Profile,
    /// Figures that follow from the parameters, by name with the unit as its last word.
    #[schemars(with = "BTreeMap<String, u64>")]
    derived: Map<String, Value>,
    /// The parameters of the model of the disk: numbers and words.
    parameters: Map<String, Value>,
    /// Digest of its parameters.
    digest: String,
}

fn details(profile: &Profile) -> DiskDetails<'_> {
    let derived = profile.derived().into_iter();
    let parameters = profile.parameters();
    let parameters = parameters.lines().filter_map(|line| line.split_once('='));
    DiskDetails {
        profile,
        derived: derived
            .map(|figure| (figure.name.to_owned(), json!(figure.value)))
            .collect(),
        parameters: parameters
            .map(|(name, value)| {
                let number = value.parse::<u64>();
                let value = number.map_or_else(|_| json!(value), |number| json!(number));
                (name.to_owned(), value)
            })
            .collect(),
        digest: profile.digest(),
    }
}

fn write_profile(text: &mut String, profile: &Profile) -> std::fmt::Result {
    writeln!(
        text,
        "{} ({}, {})",
        profile.name,
        kind(profile),
        profile.year
    )?;
    writeln!(text, "{}\n", profile.title)?;
    write_paragraph(text, "", &profile.description)?;
    for (group, keys) in profile.groups() {
        writeln!(text, "\n{}", group.replace('_', " "))?;
        for (key, value) in keys {
            // Texts without quotes.
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            if key == "source" {
                write_paragraph(text, "  | ", &value)?;
            } else {
                writeln!(text, "  {:<20} {value}", key.replace('_', " "))?;
            }
        }
    }
    writeln!(text, "\nderived figures")?;
    for figure in profile.derived() {
        let label = figure
            .name
            .rsplit_once("_per_s")
            .map_or(figure.name, |(name, _)| name);
        let label = label.rsplit_once('_').map_or(label, |(name, _)| name);
        writeln!(
            text,
            "  {:<20} {:<12} {}",
            label.replace('_', " "),
            figure.value.to_string(),
            figure.about
        )?;
    }
    writeln!(
        text,
        "  {:<20} {} of the model's parameters",
        "digest",
        profile.digest()
    )
}
