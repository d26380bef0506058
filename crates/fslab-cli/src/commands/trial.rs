//! `fslab trial`: runs one trial in this process.

use clap::Args;

use crate::exit::{CommandResult, Exit};

/// Arguments of `fslab trial`: none, since the specification has everything.
#[derive(Debug, Args)]
#[command(
    after_help = "Failures are reported as events; the exit code is 0 if these could be written. \
                  The device named in the specification is formatted without confirmation."
)]
pub(crate) struct TrialArgs {}

impl TrialArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        fslab_trial::serve_trial()?;
        Ok(Exit::Done)
    }
}
