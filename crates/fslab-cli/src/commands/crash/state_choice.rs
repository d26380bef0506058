//! Which states of a log.

use clap::{Args, ValueEnum};
use fslab_crash::{Budget, DiskCache, LogHead, LogOutline, Moments, States};
use fslab_model::{Failure, FailureKind};

use crate::exit::CommandError;

/// Most states that can be asked for; judging so many takes more than a day.
const STATES_MAX: usize = 4 << 20;

/// Which states of a log.
#[derive(Debug, Args)]
pub(crate) struct StateChoiceArgs {
    /// Treat the disk's write cache as volatile (lost at power loss) or durable [default: as
    /// recorded]
    #[arg(long, value_enum)]
    cache: Option<CacheName>,
    /// Maximum number of crash states to test per log
    #[arg(long, default_value_t = 1000, value_parser = parse_max_states)]
    max_states: usize,
    /// Seed for sampling when a log has more states than --max-states
    #[arg(long, default_value_t = 1)]
    sample_seed: u64,
}

fn parse_max_states(text: &str) -> Result<usize, String> {
    let states: usize = text.parse().map_err(|_| "not a number".to_owned())?;
    match states > STATES_MAX {
        true => Err(format!("the maximum is {STATES_MAX}")),
        false => Ok(states),
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CacheName {
    /// Lost at power loss
    Volatile,
    /// Kept at power loss
    Durable,
}

impl StateChoiceArgs {
    /// The cache of the disk: as asked, or as the recorded disk.
    pub(crate) fn cache_of(&self, head: &LogHead) -> DiskCache {
        self.cache().unwrap_or_else(|| head.disk_cache())
    }

    /// The states of a phase, or of everything.
    pub(crate) fn states_of(
        &self,
        log: &LogOutline,
        phase: Option<&str>,
        cache: DiskCache,
    ) -> Result<States, CommandError> {
        let window = log.head.window(phase, &log.requests);
        let window = window.map_err(CommandError::bad_input)?;
        let moments = Moments::of(&log.requests, &[window], &[], cache)
            .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
        Ok(States::choose(&log.requests, moments, self.budget()))
    }

    /// The cache that was asked for.
    pub(crate) fn cache(&self) -> Option<DiskCache> {
        self.cache.map(|it| match it {
            CacheName::Volatile => DiskCache::Volatile,
            CacheName::Durable => DiskCache::Durable,
        })
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget {
            states: self.max_states,
            seed: self.sample_seed,
        }
    }
}
