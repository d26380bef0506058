//! `fslab study`: lists and shows studies, and checks their claims for a run.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fslab_model::{Failure, Study};
use fslab_report::{Column, Table, TableCell};
use fslab_run::{
    StudySource, load_original, load_study, load_study_with, split_variables, studies,
};

use crate::commands::study::check::CheckArgs;
use crate::commands::study::text::study_text;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::output_file::put_file;
use crate::terminal::{screen, table};

/// Arguments of `fslab study`.
#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    command: StudyCommand,
}

#[derive(Debug, Subcommand)]
enum StudyCommand {
    /// List the studies
    List,
    /// Show a study: phases, sweeps, scale, and the claims of its original
    Show {
        /// Study: a name, an alias or a unique prefix from `fslab study list`, or a file
        study: String,
        /// Print the study as JSON
        #[arg(long, conflicts_with = "toml")]
        json: bool,
        /// Print the study as TOML, for a study.toml of your own; also of a job file
        #[arg(long)]
        toml: bool,
        /// Value of a variable of a job file: env.NAME=VALUE; may be repeated
        #[arg(long = "set", value_name = "env.NAME=VALUE")]
        settings: Vec<String>,
    },
    /// Write a new study with comments to NAME.toml, to edit
    New {
        /// Its name
        name: String,
    },
    /// Check which claims of the original hold in a run
    Check(CheckArgs),
}

impl StudyArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            StudyCommand::List => list(),
            StudyCommand::Show {
                study,
                json,
                toml,
                settings,
            } => show(study, settings, (*json, *toml)),
            StudyCommand::New { name } => new(name),
            StudyCommand::Check(args) => args.exec(),
        }
    }
}

/// The file systems of `subjects`, each once and without options.
fn file_systems(subjects: &[String]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for subject in subjects {
        let name = subject.split(':').next().unwrap_or(subject);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn list() -> CommandResult {
    let rows = studies().map(|name| {
        let (study, _) = load_study(name)?;
        let (claims, values) = match load_original(name)? {
            Some(original) => (
                TableCell::new(original.claims.claims.len().to_string()),
                TableCell::new(original.published.values().to_string()),
            ),
            None => (TableCell::nothing(), TableCell::nothing()),
        };
        let question = study.question.map_or(study.title, |question| question.text);
        Ok(vec![
            TableCell::new(name),
            TableCell::new(study.aliases.join(", ")),
            TableCell::new(question),
            TableCell::new(study.phases.len().to_string()),
            claims,
            values,
            TableCell::new(file_systems(&study.subjects).join(", ")),
        ])
    });
    let table = Table {
        caption: "Studies".into(),
        columns: vec![
            Column::left("Study"),
            Column::left("Aliases"),
            Column::left("Question"),
            Column::right("Phases"),
            Column::right("Claims"),
            Column::right("Published values"),
            Column::left("File systems"),
        ],
        rows: rows.collect::<Result<_, CommandError>>()?,
        notes: vec![
            "A unique prefix is enough, for example `fslab run usb`. `fslab study show NAME` shows \
             one study."
                .into(),
        ],
    };
    screen::print_styled(&table::render(&table))?;
    Ok(Exit::Done)
}

/// A study with a comment for each key that a first study needs.
const TEMPLATE: &str = include_str!("new.toml");

fn new(name: &str) -> CommandResult {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let text = TEMPLATE.replace("NAME", name);
    if let Err(error) = Study::from_toml(&text) {
        let failure = Failure::of_toml(format!("cannot write a study {name:?}"), error);
        return Err(failure
            .hint("a name has letters, digits, and . _ + -")
            .into());
    }
    let file = PathBuf::from(format!("{name}.toml"));
    if file.symlink_metadata().is_ok() {
        let text = format!("{} exists already", file.display());
        return Err(Failure::bad_input(text)
            .hint("give the study another name")
            .into());
    }
    put_file(text.as_bytes(), &file)?;
    screen::print(&format!(
        "study: {file}\nrun it: fslab run ./{file}\n",
        file = file.display()
    ))?;
    Ok(Exit::Done)
}

fn show(name: &str, settings: &[String], (json, toml): (bool, bool)) -> CommandResult {
    let (variables, others) = split_variables(settings)?;
    if let Some(other) = others.first() {
        let text = format!("cannot use --set {other}: it is no variable of a job file");
        return Err(CommandError::bad_input(text));
    }
    let (study, source) = load_study_with(name, &variables)?;
    if toml {
        screen::print(&study_toml(&study, &source)?)?;
    } else if json {
        screen::print_json(&study)?;
    } else {
        let original = match source {
            StudySource::JobFile { .. } => None,
            _ => load_original(name)?,
        };
        screen::print(&study_text(&study, original.as_ref()))?;
    }
    Ok(Exit::Done)
}

/// The study as the text of a file: a user's own as it stands, and of a job file with its notes.
fn study_toml(study: &Study, source: &StudySource) -> Result<String, CommandError> {
    Ok(match source {
        StudySource::File { text, .. } => text.clone(),
        StudySource::JobFile { toml, notes } => {
            let notes: String = notes.iter().map(|note| format!("# {note}\n")).collect();
            notes + toml
        }
        StudySource::BuiltIn(_) | StudySource::CommandLine => toml::to_string(study)
            .map_err(|error| CommandError::bad_input(format!("cannot write the study: {error}")))?,
    })
}
