//! docs/commands.md: the help of every command that is not hidden, from clap's tree of commands.

use std::fmt::Write;

use clap::CommandFactory;

use super::expect_file;

/// Columns of the help.
const WIDTH: usize = 100;

fn reference() -> String {
    let mut text =
        "# The commands\n\nGenerated: see crates/fslab-cli/src/reference/commands.rs.\n".to_owned();
    let mut root = crate::Cli::command().term_width(WIDTH);
    root.build();
    let of_runs = root.find_subcommand(OF_RUNS).cloned();
    let of_runs = of_runs.expect("it is a command");
    add(&mut text, &mut root, &of_runs, false);
    text
}

/// The command with which others that run a study share their options.
const OF_RUNS: &str = "compare";
/// With fewer common options a command has them in its own help.
const COMMON_MIN: usize = 10;

/// Whether `arg` is an option under a heading that `of_runs` has, too.
fn is_common(arg: &clap::Arg, of_runs: &clap::Command) -> bool {
    let is_same = |other: &clap::Arg| {
        other.get_id() == arg.get_id() && other.get_help_heading() == arg.get_help_heading()
    };
    arg.get_help_heading().is_some() && of_runs.get_arguments().any(is_same)
}

/// The help of `command`, then of its subcommands. Options that every command has are in the help
/// of the first, and those of commands that run a study in the help of `of_runs`.
fn add(text: &mut String, command: &mut clap::Command, of_runs: &clap::Command, is_below: bool) {
    let name = command.get_bin_name().unwrap_or("fslab").to_owned();
    let of_every_command = |arg: &clap::Arg| {
        is_below && (arg.is_global_set() || ["help", "version"].contains(&arg.get_id().as_str()))
    };
    let is_shorter = command.get_name() != OF_RUNS && {
        let common = command
            .get_arguments()
            .filter(|arg| is_common(arg, of_runs));
        common.count() >= COMMON_MIN
    };
    let mut shown = command.clone().mut_args(|arg| {
        let is_elsewhere = is_shorter && is_common(&arg, of_runs);
        let is_hidden = arg.is_hide_set() || of_every_command(&arg) || is_elsewhere;
        arg.hide(is_hidden)
    });
    let help = shown.render_long_help().to_string();
    let help = help
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n");
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end());
    if is_shorter {
        let _ = write!(
            text,
            "\nThe other options are those of [fslab {OF_RUNS}](#fslab-{OF_RUNS}).\n"
        );
    }
    for subcommand in command.get_subcommands_mut() {
        if !subcommand.is_hide_set() && subcommand.get_name() != "help" {
            add(text, subcommand, of_runs, true);
        }
    }
}

#[test]
fn the_document_has_the_help_of_every_command() {
    expect_file("docs/commands.md", &reference());
}

/// The commands were listed by hand, and the list lacked `lab status` and `trial`.
#[test]
fn commands_of_every_depth_are_in_the_reference() {
    let text = reference();
    for command in ["fslab lab status", "fslab lab shell", "fslab trial"] {
        assert!(text.contains(&format!("\n## {command}\n")), "{command}");
    }
    assert!(!text.contains("\n## fslab worker\n"), "hidden");
}
