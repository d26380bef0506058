//! `fslab completions`: the completions of a shell, from clap's tree of commands.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Cli;
use crate::exit::{CommandResult, Exit};
use crate::terminal::screen;

/// The shells whose completions are tested.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Arguments of `fslab completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_parser = shells())]
    shell: Shell,
}

fn shells() -> impl TypedValueParser<Value = Shell> {
    PossibleValuesParser::new(SHELLS).try_map(|name| name.parse::<Shell>())
}

impl CompletionsArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "fslab", &mut script);
        screen::print_bytes(&script)?;
        Ok(Exit::Done)
    }
}
