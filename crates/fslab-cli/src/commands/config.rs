//! `fslab config`: the defaults of options, and where each comes from.

use clap::{Args, CommandFactory, Subcommand};
use fslab_model::{Failure, FailureKind, did_you_mean, nearest_name};
use fslab_report::{Column, Table, TableCell};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Cli;
use crate::exit::{CommandResult, Exit};
use crate::settings::{Known, Options, Setting, Settings, in_force};
use crate::terminal::{screen, table};

/// Arguments of `fslab config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print the default of each option, and whether it comes from the configuration file, the
    /// environment or fslab
    Show(ShowArgs),
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// Command whose options to show, for example `compare` or `lab build`; without it, show all of
    /// the user's settings
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The default of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ShownSetting {
    /// The words of the command; `null` for every command with the option.
    command: Option<String>,
    /// The option's long name.
    option: String,
    /// Its values; empty if it has no default.
    values: Vec<String>,
    /// `line N` of the configuration file, the name of a variable, or `built-in`.
    from: String,
}

impl ShownSetting {
    fn of(setting: &Setting) -> Self {
        Self {
            command: setting.command.clone(),
            option: setting.option.clone(),
            values: setting.values.clone(),
            from: setting.origin.to_string(),
        }
    }
}

impl ConfigArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let ConfigCommand::Show(args) = &self.command;
        let shown = args.settings(in_force())?;
        if args.json {
            screen::print_json(&shown)?;
        } else {
            screen::print_styled(&table::render(&table(&shown, in_force())))?;
        }
        Ok(Exit::Done)
    }
}

impl ShowArgs {
    fn settings(&self, settings: &Settings) -> Result<Vec<ShownSetting>, Failure> {
        if self.command.is_empty() {
            return Ok(settings.all.iter().map(ShownSetting::of).collect());
        }
        let command = self.command.join(" ");
        let options = Options::of(&Cli::command());
        if !options.commands().contains(command.as_str()) {
            let text = format!("there is no command '{command}' with options");
            let nearest = nearest_name(&command, options.commands());
            return Err(
                Failure::new(FailureKind::BadInput, text).with_hint(nearest.map(did_you_mean))
            );
        }
        let of_option = |known: &Known| ShownSetting {
            command: Some(command.clone()),
            ..match settings.of(&command, &known.name) {
                Some(setting) => ShownSetting::of(setting),
                None => ShownSetting {
                    command: None,
                    option: known.name.clone(),
                    values: known.built_in().into_iter().collect(),
                    from: "built-in".to_owned(),
                },
            }
        };
        Ok(options.of_command(&command).map(of_option).collect())
    }
}

fn table(shown: &[ShownSetting], settings: &Settings) -> Table {
    let rows = shown.iter().map(|it| {
        vec![
            it.command
                .as_ref()
                .map_or_else(|| TableCell::new("all"), TableCell::new),
            TableCell::new(format!("--{}", it.option)),
            match it.values.is_empty() {
                true => TableCell::nothing(),
                false => TableCell::new(it.values.join(", ")),
            },
            TableCell::new(&it.from),
        ]
    });
    let caption = match (&settings.file, Settings::place()) {
        (Some(path), _) => format!("Line numbers refer to {}", path.display()),
        (None, Some(path)) => format!("No configuration file found at {}", path.display()),
        (None, None) => "No configuration file: there is no home directory".to_owned(),
    };
    Table {
        caption,
        columns: ["Command", "Option", "Default", "From"]
            .map(Column::left)
            .into(),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}
