//! The command `fslab`: arguments, progress, tables, exit codes. Owns all output.

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
mod terminal_bars;
mod terminal_table;

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
    signals::catch_file_size_limit();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap reports help and version as errors, too, but for standard output.
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

/// For `fslab ext4 xfs`, which lacks the command: names it.
fn hint_at_compare() {
    let words = std::env::args_os().skip(1).map(OsString::into_string);
    let Ok(words) = words.collect::<Result<Vec<_>, _>>() else {
        return;
    };
    if fslab_fs::parse_subjects(&words).is_ok() {
        screen::say(&format!("  hint: fslab compare {}", words.join(" ")));
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
