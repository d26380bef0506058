//! The command line: parsed once as typed, and again with the user's settings as defaults.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};
use fslab_model::Failure;

use crate::commands::Command;
use crate::exit::{CommandError, Exit};
use crate::habits;
use crate::settings::{self, Options, Settings};
use crate::terminal::{color, screen};

/// Benchmark file systems: format, mount, measure, unmount and check each one repeatedly, and
/// report which is faster, by how much, with confidence intervals.
#[derive(Debug, Parser)]
#[command(
    name = "fslab",
    bin_name = "fslab",
    version,
    max_term_width = 100,
    propagate_version = true
)]
#[command(after_help = crate::exit::SUMMARY)]
pub(crate) struct Cli {
    /// When to use colours.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        help_heading = "Output"
    )]
    pub(crate) color: color::ColorChoice,
    /// Print only results, warnings and errors.
    #[arg(long, short, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Ignore the configuration file and the environment variables FSLAB_*.
    #[arg(long, global = true, help_heading = "Output")]
    no_config: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// The command line of this process; colours and quietness are set.
    pub(crate) fn of_process() -> Result<Self, Exit> {
        let words = habits::command_line();
        let typed = Self::command().try_get_matches_from(&words);
        let typed = typed.map_err(report)?;
        let cli = Self::from_arg_matches(&typed).map_err(report)?;
        if cli.no_config || cli.command.is_closed() {
            cli.take_effect();
            return Ok(cli);
        }
        let settings = match usable_settings() {
            Ok(settings) => settings::put_in_force(settings),
            Err(failure) => {
                cli.take_effect();
                let error = CommandError::from(failure);
                screen::print_error(&error);
                return Err(error.exit);
            }
        };
        let command = settings::applied(Self::command(), &typed, settings);
        let cli = command
            .try_get_matches_from(&words)
            .and_then(|matches| Self::from_arg_matches(&matches))
            .map_err(report)?;
        cli.take_effect();
        Ok(cli)
    }

    fn take_effect(&self) {
        self.color.apply();
        screen::set_quiet(self.quiet);
    }
}

fn usable_settings() -> Result<Settings, Failure> {
    let root = Cli::command();
    let options = Options::of(&root);
    let settings = Settings::load(&options)?;
    settings::ensure_valid(&root, &options, &settings)?;
    Ok(settings)
}

/// Prints what clap says of the command line.
fn report(mut error: clap::Error) -> Exit {
    let hint = hint_for(&error);
    // clap suggests what is spelled like it, also what no help shows.
    let suggested = error
        .get(ContextKind::SuggestedArg)
        .map(ToString::to_string);
    let is_hidden = suggested.is_some_and(|option| HIDDEN.contains(&option.as_str()));
    if hint.is_some() || is_hidden {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Suggested);
    }
    print_clap(&error);
    if let Some(hint) = hint {
        screen::say(&format!("  hint: {hint}"));
    }
    // clap reports help and version as errors, too, but for standard output.
    if error.use_stderr() {
        Exit::BadInput
    } else {
        Exit::Done
    }
}

/// Options that no help shows.
const HIDDEN: [&str; 2] = ["--ranks", "--workers"];

/// What to type instead.
fn hint_for(error: &clap::Error) -> Option<String> {
    let words = std::env::args_os().map(OsString::into_string);
    let words = words.collect::<Result<Vec<_>, _>>().ok()?;
    let argument = match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(text) => text.split([' ', '=']).next()?.to_owned(),
        _ => return None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => habits::hint(&argument, &words),
        ErrorKind::ArgumentConflict if argument == "--destroy" => Some(
            "a run measures one device: run it once for each, then compare the runs: fslab diff \
             last~1 last --across device"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Prints clap's message, which quotes arguments. If one of these has control characters, they are
/// escaped, and the message is not coloured.
fn print_clap(error: &clap::Error) {
    let has_control = |argument: OsString| {
        let text = argument.to_string_lossy();
        screen::plain(&text) != text
    };
    if error.use_stderr() && std::env::args_os().any(has_control) {
        screen::say(error.render().to_string().trim_end());
    } else {
        let _ = error.print();
    }
}
