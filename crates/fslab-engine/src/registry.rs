//! The table of engines, and the way into it. A new engine is one file and one line here.

use fslab_sys::SharedCounter;

use crate::drive::ReadyWorker;
use crate::engines::{MMAP, NULL, PSYNC, STDIO, URING};
use crate::{DataJob, EngineError, EngineKind, Measured, MetadataJob, RunContext};

/// What an engine can run.
pub(crate) struct Engine {
    /// Its name.
    pub(crate) kind: EngineKind,
    /// How it reads and writes data.
    pub(crate) data: DataEngine,
    /// Runs a metadata job that was found to make sense; `None` for an engine that issues none.
    pub(crate) run_metadata: Option<MetadataRunner>,
}

/// How an engine runs data jobs.
pub(crate) struct DataEngine {
    /// Whether there are files, and a clock that they share; the null engine has neither.
    pub(crate) keeps_files: bool,
    /// Refuses what it has no way to do, before anything is touched.
    pub(crate) check: fn(&DataJob) -> Result<(), EngineError>,
    /// Prepares a thread of a job that was found to make sense.
    pub(crate) prepare: DataPreparer,
}

/// Prepares one thread of a data job, with what its operations are taken from.
pub(crate) type DataPreparer = for<'a> fn(
    &'a RunContext,
    &'a DataJob,
    u32,
    Option<&'a SharedCounter>,
) -> Result<ReadyWorker<'a>, EngineError>;

/// Runs a metadata job that was found to make sense.
pub(crate) type MetadataRunner = fn(&RunContext, &MetadataJob) -> Result<Measured, EngineError>;

const ENGINES: &[&Engine] = &[&PSYNC, &URING, &MMAP, &STDIO, &NULL];

/// The engine of that name.
pub(crate) fn engine(kind: EngineKind) -> &'static Engine {
    let known = ENGINES.iter().find(|engine| engine.kind == kind);
    known.expect("every kind of engine stands in the table")
}

/// Works on names, attributes and small files as `job` says.
///
/// # Errors
/// As those of [`run_data`](crate::run_data).
pub fn run_metadata(context: &RunContext, job: &MetadataJob) -> Result<Measured, EngineError> {
    job.validate()?;
    let engine = engine(context.engine);
    match engine.run_metadata {
        Some(run) => run(context, job),
        None => Err(EngineError::unsupported(format!(
            "the engine {} issues no metadata operations; psync does",
            engine.kind
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_engine_stands_in_the_table() {
        for kind in EngineKind::ALL {
            assert_eq!(engine(*kind).kind, *kind);
        }
    }
}
