//! The command `fslab`: arguments, progress, tables, exit codes. Owns all output.

mod command_line;
mod commands;
mod defaults;
mod exit;
mod habits;
#[cfg(test)]
mod reference;
mod settings;
mod signals;
mod terminal;

use std::process::ExitCode;

pub(crate) use command_line::Cli;

use crate::exit::Exit;

fn main() -> ExitCode {
    fslab_sys::catch_file_size_limit();
    let cli = match Cli::of_process() {
        Ok(cli) => cli,
        Err(exit) => return exit.into(),
    };
    match cli.command.exec() {
        Ok(exit) => exit.into(),
        Err(error) => {
            terminal::screen::print_error(&error);
            if error.exit == Exit::BadInput {
                terminal::screen::name_settings();
            }
            error.exit.into()
        }
    }
}
