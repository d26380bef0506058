//! `fslab trial`: runs one trial in this process.

use std::io::Read;

use clap::Args;
use fslab_engine::StopFlag;
use fslab_model::TrialSpec;

use crate::exit::{CommandError, CommandResult, Exit};

/// Arguments of `fslab trial`: none, since the specification has everything.
#[derive(Debug, Args)]
#[command(
    after_help = "Failures are reported as events; the exit code is 0 if these could be written. \
                  Formats the device of the specification without asking."
)]
pub(crate) struct TrialArgs {}

impl TrialArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let stop = StopFlag::new();
        fslab_sys::raise_on_stop_signals(&stop.arc())
            .map_err(|error| CommandError::io("cannot handle signals", &error))?;
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| CommandError::io("cannot read the specification", &error))?;
        let spec: TrialSpec = serde_json::from_str(&text).map_err(|error| {
            CommandError::bad_input(format!(
                "cannot read the specification of the trial: {error}"
            ))
        })?;
        fslab_trial::run_trial(&spec, &stop, std::io::stdout())
            .map_err(|error| CommandError::io("cannot write the trial's events", &error))?;
        Ok(Exit::Done)
    }
}
