//! What all jobs of a trial share: engine, seed, directory and stop flag.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fslab_model::Capabilities;
use fslab_sys::Confinement;

use crate::made::Made;
use crate::{EngineKind, Ranks};

/// Default interval of the time series: 100 ms.
const SERIES_INTERVAL_NS: u64 = 100_000_000;

/// Asks running jobs to stop; checked once per operation. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag permanently.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once the flag was raised.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for a signal handler.
    pub fn arc(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl From<Arc<AtomicBool>> for StopFlag {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

/// What all jobs of a trial share.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// The engine that issues operations.
    pub engine: EngineKind,
    /// Seed of data, random access and sizes.
    pub seed: u64,
    /// Stops the jobs.
    pub stop: StopFlag,
    /// The directory of all jobs' paths; inside the confinement, if there is one.
    pub root: PathBuf,
    /// The confinement of paths to the tree; `None` if there is none.
    pub confinement: Option<Confinement>,
    /// True if links in the tree may not be fslab's: programs, which are not confined, must not
    /// follow them.
    pub foreign_links: bool,
    /// Interval of the time series; doubled as often as needed in a long run.
    pub series_interval_ns: u64,
    /// Capabilities promised by the catalogue; `None` if it has no entry.
    pub promises: Option<Capabilities>,
    /// True if programs named by a study may be started.
    pub allow_commands: bool,
    /// This rank of a load of several; `None` if the load is this process's alone.
    pub ranks: Option<Ranks>,
    /// What jobs that ended at a stonewall have made.
    pub made: Made,
    /// The devices of the subject's stack, outside of the confinement: its disks and its layers'.
    pub devices: Vec<PathBuf>,
}

impl RunContext {
    /// A context with a new stop flag, a time series of 100 ms, no promises, and no commands
    /// allowed.
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
            ranks: None,
            made: Made::default(),
            devices: Vec::new(),
        }
    }

    /// The absolute path of `path`, below the root, for programs and the kernel's tables.
    pub fn outer_path(&self, path: &Path) -> PathBuf {
        match &self.confinement {
            Some(confinement) => confinement.outer_path(path),
            // If the working directory is unknown, the relative path fails later.
            None => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        }
    }

    /// Runs `work` outside the confinement, for access to programs, devices and the kernel's
    /// tables. Paths in the tree are [`Self::outer_path`]s there, and links in it are not confined.
    pub fn outside<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.confinement {
            Some(confinement) => confinement.outside(work),
            None => work(),
        }
    }
}
