//! `fslab worker`: runs trials of a conductor on another machine.

use std::io::{self, BufReader};
use std::num::NonZeroUsize;

use clap::Args;

use super::execution::open_venue;
use crate::exit::{CommandError, CommandResult, Exit};

/// Arguments of `fslab worker`: none, since the conductor sends everything.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {}

impl WorkerArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        // The standard input is read in a thread, which a lock of this one would stop.
        let input = BufReader::new(io::stdin());
        let version = env!("CARGO_PKG_VERSION");
        fslab_run::serve(version, input, io::stdout(), |plan| {
            open_venue(plan, NonZeroUsize::MIN).map_err(|error| error.failure)
        })
        .map_err(|error| CommandError::io("cannot talk to the conductor", &error))?;
        Ok(Exit::Done)
    }
}
