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
    add(&mut text, &mut root, false);
    text
}

/// The help of `command`, then of its subcommands. Options that every command has are in the help
/// of the first.
fn add(text: &mut String, command: &mut clap::Command, is_below: bool) {
    let name = command.get_bin_name().unwrap_or("fslab").to_owned();
    let of_every_command = |arg: &clap::Arg| {
        is_below && (arg.is_global_set() || ["help", "version"].contains(&arg.get_id().as_str()))
    };
    let mut shown = command.clone().mut_args(|arg| {
        let is_hidden = arg.is_hide_set() || of_every_command(&arg);
        arg.hide(is_hidden)
    });
    let help = shown.render_long_help().to_string();
    let help = help
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n");
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end());
    for subcommand in command.get_subcommands_mut() {
        if !subcommand.is_hide_set() && subcommand.get_name() != "help" {
            add(text, subcommand, true);
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
