//! What an engine is.

use std::ops::Range;

use crate::drive::{DataThread, ReadyWorker, Stonewall};
use crate::{DataJob, EngineError, EngineKind, Measured, MetadataJob, RunContext};

pub(crate) struct Engine {
    pub(crate) kind: EngineKind,
    /// Its data jobs.
    pub(crate) data: DataEngine,
    /// Runs a valid metadata job; `None` for an engine without metadata operations.
    pub(crate) run_metadata: Option<MetadataRunner>,
}

/// How an engine runs data jobs.
pub(crate) struct DataEngine {
    /// False for the null engine, which has neither files nor a common clock.
    pub(crate) keeps_files: bool,
    /// Refuses features that the engine lacks, before files are touched.
    pub(crate) check: fn(&DataJob) -> Result<(), EngineError>,
    /// Prepares a thread of a valid job.
    pub(crate) prepare: fn(DataThread<'_>) -> Result<ReadyWorker<'_>, EngineError>,
}

/// Runs those threads of a valid metadata job.
pub(crate) type MetadataRunner = fn(
    &RunContext,
    &MetadataJob,
    Range<u32>,
    Option<&Stonewall<'_>>,
) -> Result<Measured, EngineError>;
