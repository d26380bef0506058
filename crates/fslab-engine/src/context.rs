//! What every job of a trial shares: the engine, the seed, the folder, and the flag that stops it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fslab_model::Capabilities;
use fslab_sys::Confinement;

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
    /// The folder that all paths of jobs are below; where they are confined, as it is called there.
    pub root: PathBuf,
    /// What keeps their names in the tree; `None` where nothing does.
    pub confinement: Option<Confinement>,
    /// Whether links in the tree may have been chosen by somebody else than fslab, so that
    /// programs, which are not confined, must not follow them.
    pub foreign_links: bool,
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
            confinement: None,
            foreign_links: false,
            series_interval_ns: SERIES_INTERVAL_NS,
            promises: None,
            allow_commands: false,
        }
    }

    /// The absolute path by which `path`, one below the root, is known to programs, and to the
    /// kernel's tables.
    pub fn outer_path(&self, path: &Path) -> PathBuf {
        match &self.confinement {
            Some(confinement) => confinement.outer_path(path),
            // Where even the working directory is unknown, the path fails by its name.
            None => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        }
    }

    /// Does `work` that needs what is not in the tree: programs, devices, the kernel's tables.
    /// Paths in the tree are [`Self::outer_path`]s there, and a link in them leads where it says.
    pub fn outside<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.confinement {
            Some(confinement) => confinement.outside(work),
            None => work(),
        }
    }
}
