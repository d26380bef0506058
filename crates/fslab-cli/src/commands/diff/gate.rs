//! `fslab gate`: fails if a run is slower than another by more than is allowed.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use fslab_compare::{Gate, GateRule};
use fslab_model::{Failure, FailureKind, Percent};
use fslab_report::{Cells, GateDocument, annotations, escape_markdown, gate_table, junit};

use crate::commands::diff::form::Form;
use crate::commands::diff::runs::ComparedArgs;
use crate::commands::store::csv_args::CsvArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::output_file::{put, put_file};
use crate::terminal::screen::{self, Lines};

/// Output formats of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GateForm {
    /// One of `fslab diff`.
    Compared(Form),
    /// JUnit XML.
    Junit,
    /// Workflow commands.
    Github,
}

impl Default for GateForm {
    fn default() -> Self {
        Self::Compared(Form::default())
    }
}

impl ValueEnum for GateForm {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Compared(Form::Table),
            Self::Compared(Form::Markdown),
            Self::Compared(Form::Csv),
            Self::Compared(Form::Latex),
            Self::Compared(Form::Json),
            Self::Junit,
            Self::Github,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Compared(form) => form.to_possible_value(),
            Self::Junit => Some(
                PossibleValue::new("junit")
                    .help("JUnit XML: one suite per subject, one case per phase"),
            ),
            Self::Github => Some(
                PossibleValue::new("github")
                    .help("Workflow commands, which GitHub shows as annotations"),
            ),
        }
    }
}

/// A file that the result is written to as well.
#[derive(Clone, Debug)]
struct ResultFile {
    format: GateForm,
    file: PathBuf,
}

impl FromStr for ResultFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (format, file) = text
            .split_once('=')
            .filter(|(_, file)| !file.is_empty())
            .ok_or_else(|| format!("'{text}' is not FORMAT=FILE, for example junit=gate.xml"))?;
        Ok(Self {
            format: GateForm::from_str(format, false).map_err(|_| unknown_format(format))?,
            file: file.into(),
        })
    }
}

fn unknown_format(format: &str) -> String {
    let known = GateForm::value_variants().iter();
    let known = known.filter_map(|form| Some(form.to_possible_value()?.get_name().to_owned()));
    let known: Vec<String> = known.collect();
    format!(
        "there is no format '{format}'; the formats are {}",
        known.join(", ")
    )
}

/// Arguments of `fslab gate`.
#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    #[command(flatten)]
    compared: ComparedArgs,
    /// Allowed slowdown; a figure fails only if its entire confidence interval exceeds this
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_slowdown)]
    max_slowdown: Percent,
    /// Joint confidence level of all intervals; the false-alarm rate is half of the remainder
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = parse_confidence)]
    confidence: Percent,
    /// Also fail if an interval is undecided, or if there are too few repeats for an interval
    #[arg(long)]
    strict: bool,
    /// Do not fail if the new run lacks figures that the base has
    #[arg(long)]
    allow_lost: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: GateForm,
    /// Print JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Also write the result to a file, for example junit=gate.xml; may be repeated
    #[arg(long, value_name = "FORMAT=FILE")]
    write: Vec<ResultFile>,
    #[command(flatten)]
    csv: CsvArgs,
}

fn parse_slowdown(text: &str) -> Result<Percent, String> {
    let percent: Percent = text.parse().map_err(|error| format!("{error}"))?;
    match percent.share() < 1.0 {
        true => Ok(percent),
        false => Err(format!("the slowdown must be below 100%, not {percent}")),
    }
}

fn parse_confidence(text: &str) -> Result<Percent, String> {
    let percent: Percent = text.parse().map_err(|error| format!("{error}"))?;
    match (0.5..1.0).contains(&percent.share()) {
        true => Ok(percent),
        false => Err(format!(
            "the confidence must be from 50% to below 100%, not {percent}"
        )),
    }
}

impl GateArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let diff = self.compared.diff(None)?;
        let gate = Gate::judge(
            &diff,
            GateRule {
                confidence: self.confidence.share(),
                undecided_fails: self.strict,
                lost_passes: self.allow_lost,
                ..GateRule::of(self.max_slowdown)
            },
        );
        let cells = self.csv.cells();
        for ResultFile { format, file } in &self.write {
            put_file(text(&gate, *format, cells)?.as_bytes(), file)?;
        }
        let format = if self.json {
            GateForm::Compared(Form::Json)
        } else {
            self.format
        };
        put(text(&gate, format, cells)?.as_bytes(), None)?;
        if let Some((why, hint)) = gate.why_not().filter(|_| !self.strict) {
            let text = format!("the gate cannot judge: {why}");
            return Err(Failure::new(FailureKind::BadInput, text).hint(hint).into());
        }
        Ok(match gate.passes() {
            true => Exit::Done,
            false => Exit::GateFailed,
        })
    }
}

fn text(gate: &Gate, form: GateForm, cells: Cells) -> Result<String, CommandError> {
    Ok(match form {
        GateForm::Compared(form) => {
            let text = form.text(("gate", &gate_table(gate)), &GateDocument::of(gate), cells)?;
            match form {
                Form::Table => {
                    let line = format!("gate {}: {}", gate.outcome(), gate.summary());
                    text + &Lines::of_output().wrap(&screen::plain(&line))
                }
                Form::Markdown => {
                    let summary = escape_markdown(&gate.summary());
                    format!("{text}\n**Gate {}**: {summary}\n", gate.outcome())
                }
                Form::Csv | Form::Latex | Form::Json => text,
            }
        }
        GateForm::Junit => junit(gate)?,
        GateForm::Github => annotations(gate),
    })
}
