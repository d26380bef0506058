//! The command `fslab`: arguments to plan, progress, tables, exit codes. Owns all printing.

mod color;
mod commands;
mod defaults;
mod exit;
mod paragraph;
mod progress;
#[cfg(test)]
mod reference;
mod screen;
mod signals;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::commands::Command;

/// Benchmarks file systems: formats, mounts, measures, unmounts and checks each one repeatedly, and
/// reports which is faster, by how much, with confidence intervals.
#[derive(Debug, Parser)]
#[command(
    name = "fslab",
    bin_name = "fslab",
    version,
    max_term_width = 100,
    propagate_version = true
)]
#[command(
    after_help = "Exit codes: 0 done; 1 a gate, a claim or the check of a store failed; 2 bad \
                        input; 3 some trials failed or are missing; 4 this machine cannot do it."
)]
struct Cli {
    /// When to use colours.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        help_heading = "Output"
    )]
    color: color::ColorChoice,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    signals::take_size_limit_as_error();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; clap prints each where it belongs.
            let code = if error.use_stderr() {
                exit::Exit::BadInput
            } else {
                exit::Exit::Done
            };
            print_clap(&error);
            if error.kind() == clap::error::ErrorKind::InvalidSubcommand {
                hint_at_compare();
            }
            return code.into();
        }
    };
    cli.color.apply();
    match cli.command.exec() {
        Ok(exit) => exit.into(),
        Err(error) => {
            screen::print_error(&error);
            error.exit.into()
        }
    }
}

/// `fslab ext4 xfs` lacks the command, whose name the answer has.
fn hint_at_compare() {
    let words = std::env::args_os().skip(1).map(OsString::into_string);
    let Ok(words) = words.collect::<Result<Vec<_>, _>>() else {
        return;
    };
    if fslab_fs::parse_subjects(&words).is_ok() {
        screen::say(&format!("  hint: fslab compare {}", words.join(" ")));
    }
}

/// Prints what clap says. It quotes arguments, which a script may have taken from anywhere: where
/// one of them would act on the terminal, the text is shown without that, and without colours.
fn print_clap(error: &clap::Error) {
    let acts = |argument: OsString| {
        let text = argument.to_string_lossy();
        screen::plain(&text) != text
    };
    if error.use_stderr() && std::env::args_os().any(acts) {
        screen::say(error.render().to_string().trim_end());
    } else {
        let _ = error.print();
    }
}
