//! `fslab worker`: runs trials of a conductor on another machine.

use std::io::{self, BufReader};
use std::num::NonZeroUsize;

use clap::Args;

use fslab_model::Plan;
use fslab_venue::Venue;

use super::execution::venue_settings;
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
            open_venue(plan).map_err(|error| error.failure)
        })
        .map_err(|error| CommandError::io("cannot talk to the conductor", &error))?;
        Ok(Exit::Done)
    }
}

fn open_venue(plan: &Plan) -> Result<Venue, CommandError> {
    let settings = venue_settings(plan, NonZeroUsize::MIN, None)?;
    Ok(Venue::open(&plan.venue, plan.size_bytes, settings)?)
}
