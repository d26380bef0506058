//! Settings become the defaults of options, unless the command line makes them meaningless.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use fslab_model::{Failure, FailureKind};

use super::options::{Known, Options};
use super::setting::{Origin, Setting, Settings};
use crate::commands::{OPTION_VENUES, VenueName};

/// Refuses a setting whose value its option does not take, by parsing a command line with it.
pub(crate) fn ensure_valid(
    root: &Command,
    options: &Options,
    settings: &Settings,
) -> Result<(), Failure> {
    for setting in &settings.all {
        let commands = options.commands();
        let command = match &setting.command {
            Some(command) => command.as_str(),
            None => commands
                .into_iter()
                .find(|command| {
                    options
                        .of_command(command)
                        .any(|it| it.name == setting.option)
                })
                .unwrap_or_default(),
        };
        let known = options
            .of_command(command)
            .find(|it| it.name == setting.option);
        // A switch takes no value, and its setting is true or false.
        if known.is_some_and(Known::is_switch) {
            continue;
        }
        for value in &setting.values {
            let typed = format!("--{}={value}", setting.option);
            let words = ["fslab"].into_iter().chain(command.split_whitespace());
            let parsed = root
                .clone()
                .try_get_matches_from(words.chain([typed.as_str()]));
            match parsed.map_err(|error| (error.kind(), error)) {
                // The value is checked before what is missing, so that it is right.
                Ok(_)
                | Err((
                    ErrorKind::MissingRequiredArgument
                    | ErrorKind::MissingSubcommand
                    | ErrorKind::ArgumentConflict,
                    _,
                )) => {}
                Err((_, error)) => return Err(refused(setting, settings, &error)),
            }
        }
    }
    Ok(())
}

fn refused(setting: &Setting, settings: &Settings, error: &clap::Error) -> Failure {
    let file = settings
        .file
        .as_deref()
        .map(|path| path.display().to_string());
    let origin = match &setting.origin {
        Origin::Line(line) => {
            format!("line {line} of {}", file.unwrap_or_default())
        }
        Origin::Variable(name) => format!("the variable {name}"),
    };
    let text = format!("cannot use --{} from {origin}", setting.option);
    let mut failure = Failure::new(FailureKind::BadInput, text);
    let reason = error.render().to_string();
    let reason = reason.lines().next().unwrap_or_default();
    failure
        .causes
        .push(reason.trim_start_matches("error: ").to_owned());
    failure.hint("correct it, or ignore it with --no-config")
}

/// The tree with `settings` as defaults of the command that `typed`, the parsed command line,
/// names.
pub(crate) fn applied(root: Command, typed: &ArgMatches, settings: &Settings) -> Command {
    let path = path_of(typed);
    let command = path.join(" ");
    let venue = venue_of(typed, &command, settings);
    let root = with_defaults(root, &command, settings, typed, venue);
    apply_below(root, &path, &command, settings, typed, venue)
}

/// The words of the command that was typed.
fn path_of(typed: &ArgMatches) -> Vec<String> {
    let mut path = Vec::new();
    let mut at = typed;
    while let Some((name, below)) = at.subcommand() {
        path.push(name.to_owned());
        at = below;
    }
    path
}

fn apply_below(
    command: Command,
    path: &[String],
    words: &str,
    settings: &Settings,
    typed: &ArgMatches,
    venue: Option<VenueName>,
) -> Command {
    let Some((name, rest)) = path.split_first() else {
        return command;
    };
    let Some(below) = typed.subcommand_matches(name) else {
        return command;
    };
    command.mut_subcommand(name, |command| {
        let command = with_defaults(command, words, settings, below, venue);
        apply_below(command, rest, words, settings, below, venue)
    })
}

fn with_defaults(
    command: Command,
    words: &str,
    settings: &Settings,
    typed: &ArgMatches,
    venue: Option<VenueName>,
) -> Command {
    let excluded = excluded_by_typed(&command, typed);
    let has_venue = command
        .get_arguments()
        .any(|arg| arg.get_long() == Some("venue"));
    let fits = |setting: &Setting| match setting.option.as_str() {
        // That of the settings, unless the command line has another.
        "venue" => venue.is_none_or(|it| setting.values == [it.as_str()]),
        option => !has_venue || fits_venue(option, venue),
    };
    command.mut_args(|arg| {
        let setting = arg.get_long().and_then(|name| settings.of(words, name));
        match setting {
            Some(setting) if !excluded.contains(&setting.option) && fits(setting) => {
                arg.default_values(setting.values.clone())
            }
            _ => arg,
        }
    })
}

/// Long names of the options that conflict with a typed one, whichever of the two says so.
fn excluded_by_typed(command: &Command, typed: &ArgMatches) -> Vec<String> {
    let given = |arg: &&Arg| is_typed(typed, arg);
    let of_given = command.get_arguments().filter(given);
    let of_given = of_given.flat_map(|arg| command.get_arg_conflicts_with(arg));
    let excludes = |arg: &&Arg| command.get_arg_conflicts_with(arg).iter().any(given);
    let excluded = of_given.chain(command.get_arguments().filter(excludes));
    excluded
        .filter_map(Arg::get_long)
        .map(str::to_owned)
        .collect()
}

fn is_typed(typed: &ArgMatches, arg: &Arg) -> bool {
    let id = arg.get_id().as_str();
    let is_known = typed.try_contains_id(id).is_ok();
    is_known && typed.value_source(id) == Some(ValueSource::CommandLine)
}

/// The venue that was typed, by --venue or by an option of one venue; else that of the settings.
fn venue_of(typed: &ArgMatches, command: &str, settings: &Settings) -> Option<VenueName> {
    let mut at = typed;
    while let Some((_, below)) = at.subcommand() {
        at = below;
    }
    let is_typed = |name: &str| {
        at.try_contains_id(name).is_ok() && at.value_source(name) == Some(ValueSource::CommandLine)
    };
    if is_typed("venue") {
        return at.try_get_one::<VenueName>("venue").ok().flatten().copied();
    }
    let setting = settings
        .of(command, "venue")
        .and_then(|setting| setting.values.first());
    let of_settings =
        setting.and_then(|value| <VenueName as clap::ValueEnum>::from_str(value, false).ok());
    // A typed option decides where it has no meaning in the venue of the settings.
    let options = OPTION_VENUES.iter().filter(|(name, _)| is_typed(name));
    let mut others =
        options.filter(|(_, venues)| of_settings.is_none_or(|it| !venues.contains(&it)));
    let of_option = others
        .next()
        .and_then(|(_, venues)| venues.first().copied());
    of_option.or(of_settings)
}

/// Whether an option means something in the venue; one of another venue is left out, as the user
/// has not typed it.
fn fits_venue(option: &str, venue: Option<VenueName>) -> bool {
    const VIRTUAL: &[VenueName] = &[VenueName::Sim];
    const REAL: &[VenueName] = &[
        VenueName::Loop,
        VenueName::Block,
        VenueName::Guest,
        VenueName::Dir,
    ];
    let of_venue = OPTION_VENUES.iter().find(|(name, _)| *name == option);
    let venues = match (option, of_venue) {
        (_, Some((_, venues))) => venues,
        ("jobs" | "perturb", None) => VIRTUAL,
        ("budget", None) => return venue.is_none_or(|venue| REAL.contains(&venue)),
        _ => return true,
    };
    venue.is_some_and(|venue| venues.contains(&venue))
}
