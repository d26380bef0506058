//! What every job of a trial shares: the engine, the seed, the folder, and the flag that stops it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fslab_model::Capabilities;

use crate::EngineKind;

/// Width of an interval of the time series unless the caller says otherwise: 100 ms.
const SERIES_INTERVAL_NS: u64 = 100_000_000;

/// Asks running jobs to stop. Clones are the same flag; looked at once per operation.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is not raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises it, for good.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was raised.
    #[inline]
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for a signal handler to raise.
    #[must_use]
    pub fn arc(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl From<Arc<AtomicBool>> for StopFlag {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

/// What every job of a trial shares.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// Who issues the operations.
    pub engine: EngineKind,
    /// Decides data, random access and sizes.
    pub seed: u64,
    /// Raised by whoever wants the jobs to end.
    pub stop: StopFlag,
    /// The folder that all paths of jobs are below.
    pub root: PathBuf,
    /// Width of an interval of the time series; a long run doubles it as often as it must.
    pub series_interval_ns: u64,
    /// What the entry of the file system promises; `None` where it is not in the catalogue.
    pub promises: Option<Capabilities>,
    /// Whether programs may be started that a study names.
    pub allow_commands: bool,
}

impl RunContext {
    /// A context with a fresh flag, a time series of 100 ms, no promises, and no leave for
    /// commands.
    pub fn new(engine: EngineKind, root: impl Into<PathBuf>, seed: u64) -> Self {
        Self {
            engine,
            seed,
            stop: StopFlag::new(),
            root: root.into(),
            series_interval_ns: SERIES_INTERVAL_NS,
            promises: None,
            allow_commands: false,
        }
    }
}
