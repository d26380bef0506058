//! `fslab disk test`: benchmarks a profile's disk, as a table with plots, SVG, JSON or CSV.

use std::path::{Path, PathBuf};

use clap::Args;
use fslab_disk::Profile;
use fslab_disk::bench::{self, Bench};
use fslab_report::{Column, Table, TableCell, Tone, disk_curves};

use crate::commands::disk::{plot, profiles};
use crate::exit::CommandError;
use crate::terminal::output_file::put_file;
use crate::terminal::{color, screen, table};

/// A larger relative error of the model is highlighted.
const TOLERANCE: f64 = 0.05;

/// Arguments of `fslab disk test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Profile: a name or a file
    name: String,
    /// Also draw the curves to this SVG file
    #[arg(long, short, value_name = "FILE.svg")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the points of all curves as CSV
    #[arg(long)]
    csv: bool,
}

impl TestArgs {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let profile = profiles::find(&self.name)?;
        if let Some(path) = &self.output {
            ensure_svg(path)?;
        }
        let bench = bench::run(&profile)?;
        if let Some(path) = &self.output {
            put_file(drawing(&profile, &bench).as_bytes(), path)?;
        }
        if self.json {
            return screen::print_json(&bench);
        }
        if self.csv {
            return screen::print(&csv(&bench));
        }
        screen::print_styled(&text(&profile, &bench))?;
        if let Some(path) = &self.output {
            screen::notice(&format!("curves written to {}", path.display()));
        }
        Ok(())
    }
}

fn ensure_svg(path: &Path) -> Result<(), CommandError> {
    if path.extension().is_some_and(|extension| extension == "svg") {
        return Ok(());
    }
    let text = format!("cannot draw the curves to {}", path.display());
    let mut error = CommandError::bad_input(text);
    error.failure.hint = Some("the drawing is SVG; use a file name that ends in .svg".to_owned());
    Err(error)
}

/// The curves with the data sheet below them, as SVG.
fn drawing(profile: &Profile, bench: &Bench) -> String {
    let mut table = sheet(profile, bench);
    let of = format!("{}, {}", profile.name, profiles::size(profile.capacity()));
    let notes: Vec<String> = std::iter::once(of).chain(table.notes.drain(..)).collect();
    disk_curves(&profile.title, &bench.curves, &table, &notes)
}

fn text(profile: &Profile, bench: &Bench) -> String {
    let mut text = screen::plain(&format!("{}: {}\n\n", profile.name, profile.title)).into_owned();
    text.push_str(&table::render(&sheet(profile, bench)));
    for curve in &bench.curves {
        text.push('\n');
        text.push_str(&plot::plot(curve, color::is_enabled()));
    }
    text
}

/// The figures of the data sheet and of the model.
fn sheet(profile: &Profile, bench: &Bench) -> Table {
    let rows = bench.data_sheet.iter().map(|figure| {
        let tone = if figure.difference.abs() > TOLERANCE {
            Tone::Bad
        } else {
            Tone::Plain
        };
        vec![
            TableCell::new(&figure.about),
            TableCell::new(figure.sheet.to_string()),
            TableCell::new(figure.model.to_string()),
            TableCell::new(format!("{:+.1} %", figure.difference * 100.0)).tone(tone),
        ]
    });
    let mut notes = Vec::new();
    if let Some(array) = &profile.array {
        notes.push(format!("Figures of one of the {} members.", array.members));
    }
    notes.push(format!(
        "Model parameters {}, seed {}, in virtual time: the same on every machine.",
        bench.digest, bench.seed
    ));
    Table {
        caption: "The data sheet and the model".into(),
        columns: vec![
            Column::left("Figure"),
            Column::right("Data sheet"),
            Column::right("Model"),
            Column::right("Difference"),
        ],
        rows: rows.collect(),
        notes,
    }
}

fn csv(bench: &Bench) -> String {
    let mut text = String::from("profile,digest,curve,line,x_unit,x,y_unit,y\n");
    for curve in &bench.curves {
        let (x, y) = (curve.x.unit.symbol(), curve.y.unit.symbol());
        for line in &curve.lines {
            for point in &line.points {
                text.push_str(&format!(
                    "{},{},{},{},{x},{:.6e},{y},{:.6e}\n",
                    bench.profile, bench.digest, curve.name, line.name, point.x, point.y
                ));
            }
        }
    }
    text
}
