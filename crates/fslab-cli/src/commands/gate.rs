//! `fslab gate`: whether a run is slower than another by more than is allowed.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use fslab_diff::{Gate, GateDocument, GateRule, annotations, gate_table, junit};
use fslab_model::{Failure, FailureKind, Percent};

use super::compared_runs::{ComparedArgs, refused};
use super::output_file::{put, put_file};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::screen;

/// The form of a gate's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for the terminal
    #[default]
    Table,
    /// A table in Markdown
    Markdown,
    /// A table in CSV
    Csv,
    /// Every figure, in JSON
    Json,
    /// JUnit XML: a suite a subject, a case a phase
    Junit,
    /// Workflow commands, which GitHub shows beside a change
    Github,
}

/// A file that is written beside what is printed.
#[derive(Clone, Debug)]
struct Copy {
    format: Format,
    file: PathBuf,
}

impl FromStr for Copy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (format, file) = text
            .split_once('=')
            .filter(|(_, file)| !file.is_empty())
            .ok_or_else(|| format!("'{text}' is not FORMAT=FILE, like junit=gate.xml"))?;
        Ok(Self {
            format: Format::from_str(format, false).map_err(|_| no_form(format))?,
            file: file.into(),
        })
    }
}

fn no_form(format: &str) -> String {
    let known = Format::value_variants().iter();
    let known = known.filter_map(|form| Some(form.to_possible_value()?.get_name().to_owned()));
    let known: Vec<String> = known.collect();
    format!(
        "there is no form '{format}'; there are {}",
        known.join(", ")
    )
}

/// Arguments of `fslab gate`.
#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    #[command(flatten)]
    compared: ComparedArgs,
    /// The loss of speed that is let through; a figure fails only where its whole interval is past
    /// it
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_slowdown)]
    max_slowdown: Percent,
    /// Confidence of all intervals together; half of what is left is the rate of false alarms
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = parse_confidence)]
    confidence: Percent,
    /// Fail, too, where an interval does not decide, or repeats are too few for one
    #[arg(long)]
    strict: bool,
    /// Let through what the base has a figure for and the new run has not
    #[arg(long)]
    allow_lost: bool,
    /// The form
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Print a JSON document
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Also write a file, like junit=gate.xml; may be repeated
    #[arg(long, value_name = "FORMAT=FILE")]
    write: Vec<Copy>,
}

fn parse_slowdown(text: &str) -> Result<Percent, String> {
    let percent: Percent = text.parse().map_err(|error| format!("{error}"))?;
    match percent.share() < 1.0 {
        true => Ok(percent),
        false => Err(format!(
            "a slowdown of {percent} leaves no speed at all; it is below 100%"
        )),
    }
}

fn parse_confidence(text: &str) -> Result<Percent, String> {
    let percent: Percent = text.parse().map_err(|error| format!("{error}"))?;
    match (0.5..1.0).contains(&percent.share()) {
        true => Ok(percent),
        false => Err(format!(
            "a confidence of {percent} is none; it is from 50% to below 100%"
        )),
    }
}

impl GateArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let diff = self.compared.diff()?;
        let gate = Gate::judge(
            &diff,
            GateRule {
                confidence: self.confidence.share(),
                undecided_fails: self.strict,
                lost_passes: self.allow_lost,
                ..GateRule::of(self.max_slowdown)
            },
        );
        for Copy { format, file } in &self.write {
            put_file(text(&gate, *format)?.as_bytes(), file)?;
        }
        let format = if self.json { Format::Json } else { self.format };
        put(text(&gate, format)?.as_bytes(), None)?;
        if !gate.judges() && !self.strict {
            return Err(nothing_judged().into());
        }
        Ok(match gate.passes() {
            true => Exit::Done,
            false => Exit::GateFailed,
        })
    }
}

fn text(gate: &Gate, format: Format) -> Result<String, CommandError> {
    let table = || gate_table(gate);
    Ok(match format {
        Format::Table => format!(
            "{}gate {}: {}\n",
            screen::render(&table()),
            gate.outcome(),
            gate.summary()
        ),
        Format::Markdown => table().to_markdown(),
        Format::Csv => table().to_csv()?,
        Format::Json => screen::json(&GateDocument::of(gate))?,
        Format::Junit => junit(gate).map_err(|error| refused(&error))?,
        Format::Github => annotations(gate),
    })
}

fn nothing_judged() -> Failure {
    let text = "the gate cannot judge: no figure has repeats enough for an interval";
    Failure::new(FailureKind::BadInput, text)
        .hint("two repeats in both runs are the least, five are better: --repeats 5")
}
