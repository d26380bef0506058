//! `fslab worker`: runs trials of a conductor on another machine.

use std::io::{self, BufReader};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use fslab_model::{Plan, RankSpec};
use fslab_venue::Venue;

use crate::commands::measure::execution::venue_settings;
use crate::exit::{CommandError, CommandResult, Exit};

/// Arguments of `fslab worker`: the conductor sends everything but the place among several ranks.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Socket through which trials reach the trials of other ranks
    #[arg(long, requires = "rank", requires = "ranks")]
    rank_socket: Option<PathBuf>,
    /// Number of this rank, counted from 0
    #[arg(long, requires = "rank_socket")]
    rank: Option<u32>,
    /// Number of ranks
    #[arg(long, requires = "rank_socket")]
    ranks: Option<u32>,
    /// Offset of this clock from rank 0's, in ns
    #[arg(long, default_value_t = 0, allow_hyphen_values = true)]
    clock_ahead_ns: i64,
    /// Maximum error of the clock offsets, over all ranks, in ns
    #[arg(long, default_value_t = 0)]
    clock_error_ns: u64,
}

impl WorkerArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        // The standard input is read in a thread, which a lock of this one would stop.
        let input = BufReader::new(io::stdin());
        let version = env!("CARGO_PKG_VERSION");
        fslab_run::serve(version, input, io::stdout(), |plan| {
            self.open_venue(plan).map_err(|error| error.failure)
        })
        .map_err(|error| CommandError::io("cannot talk to the conductor", &error))?;
        Ok(Exit::Done)
    }

    fn open_venue(&self, plan: &Plan) -> Result<Venue, CommandError> {
        let mut settings = venue_settings(plan, NonZeroUsize::MIN, None)?;
        settings.ranks = self.rank_spec();
        let here = settings.ranks.as_ref().map_or(1, |ranks| ranks.count);
        if here != plan.ranks {
            let text = format!("the plan is for {} ranks, but there are {here}", plan.ranks);
            return Err(CommandError::bad_input(text));
        }
        Ok(Venue::open(&plan.venue, plan.size_bytes, settings)?)
    }

    fn rank_spec(&self) -> Option<RankSpec> {
        Some(RankSpec {
            rank: self.rank?,
            count: self.ranks?,
            socket: self.rank_socket.clone()?,
            clock_ahead_ns: self.clock_ahead_ns,
            clock_error_ns: self.clock_error_ns,
        })
    }
}
