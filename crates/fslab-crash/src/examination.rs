//! A log with the states of it that are judged.

use std::borrow::Cow;

use fslab_model::Survival;

use crate::{
    Budget, CrashState, DiskCache, DiskLog, DroppedFlushes, Judge, JudgedState, LogDatabase,
    LogScript, Moments, PromisedBy, States, original_state, remaining_requests, survival,
};

/// Flushes that do nothing, as they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushDrop {
    /// All after the set-up of the first script.
    All,
    /// The one with this number in the log, from 0.
    One(usize),
}

/// Which states of a log are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChoice {
    /// The phase in which power fails; `None`: every script, or all phases if there is none.
    pub phase: Option<String>,
    /// Whether the disk loses its cache; `None`: as the recorded disk.
    pub cache: Option<DiskCache>,
    /// The most states, and which of more.
    pub budget: Budget,
    /// A planted fault.
    pub dropped: Option<FlushDrop>,
}

/// A log with the states of it that are judged.
pub struct Examination<'a> {
    log: Cow<'a, DiskLog>,
    scripts: Vec<LogScript>,
    databases: Vec<LogDatabase>,
    /// With a planted fault, the numbers of the requests in the log as it was recorded.
    remaining: Option<Vec<u32>>,
    states: States,
}

impl<'a> Examination<'a> {
    /// Chooses states of `log`.
    ///
    /// # Errors
    /// A phase that is not there, and scripts that cannot have been done, in words.
    pub fn new(log: &'a DiskLog, choice: &StateChoice) -> Result<Self, String> {
        let phase = choice.phase.as_deref();
        let scripts = log.head.scripts.iter();
        let scripts = scripts.filter(|it| phase.is_none_or(|phase| it.phase == phase));
        let scripts: Vec<LogScript> = scripts.cloned().collect();
        let (mut windows, mut borders) = (Vec::new(), Vec::new());
        for script in &scripts {
            let plan = script
                .plan()
                .map_err(|error| format!("the script of {}: {error}", script.phase))?;
            windows.push(script.window(&plan));
            borders.extend(script.borders(&plan));
        }
        let databases = log.head.databases.iter();
        let databases = databases.filter(|it| phase.is_none_or(|phase| it.phase == phase));
        let databases: Vec<LogDatabase> = databases.cloned().collect();
        for database in &databases {
            database.ensure_sound()?;
            windows.push(database.window());
            borders.extend(database.commits.iter().flat_map(|it| [it.0, it.1]));
        }
        borders.sort_unstable();
        if windows.is_empty() {
            windows.push(match (phase, &log.head.phases[..]) {
                (None, [first, .., last]) => (first.begin_ns, last.end_ns),
                _ => log.head.window(phase, &log.requests)?,
            });
        }
        let dropped = choice.dropped.map(|dropped| match dropped {
            FlushDrop::One(number) => DroppedFlushes::One(number),
            FlushDrop::All => {
                DroppedFlushes::Since(windows.iter().map(|it| it.0).min().unwrap_or(0))
            }
        });
        let original = log;
        let log = match dropped {
            Some(dropped) => Cow::Owned(original.clone().without_flushes(dropped)),
            None => Cow::Borrowed(original),
        };
        let cache = choice.cache.unwrap_or_else(|| original.head.disk_cache());
        let moments = Moments::of(&log.requests, &windows, &borders, cache)
            .map_err(|error| error.to_string())?;
        let states = States::choose(&log.requests, moments, choice.budget);
        Ok(Self {
            remaining: dropped.map(|it| remaining_requests(&original.requests, it)),
            log,
            scripts,
            databases,
            states,
        })
    }

    /// The log, without the flushes that are dropped.
    pub fn log(&self) -> &DiskLog {
        &self.log
    }

    /// The states with their kinds, by time, each made when it is asked for.
    pub fn states(&self) -> &States {
        &self.states
    }

    /// The name of a state, which is that of the log as it was recorded.
    pub fn name(&self, state: &CrashState) -> String {
        match &self.remaining {
            Some(remaining) => original_state(remaining, state).to_string(),
            None => state.to_string(),
        }
    }

    /// The judge of its scripts.
    pub fn judge(&self) -> Result<Judge<'_>, String> {
        Judge::new(&self.scripts, &self.databases)
    }

    /// What is left, over the states that were judged.
    pub fn survival(&self, judged: &[JudgedState], by: PromisedBy) -> Survival {
        survival(judged, self.states.counts.clone(), &self.scripts, by)
    }
}
