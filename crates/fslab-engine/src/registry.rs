//! The table of engines, and the way into it. A new engine is one file and one line here.

use crate::engines::{MMAP, NULL, PSYNC, STDIO, URING};
use crate::{DataJob, EngineError, EngineKind, Measured, MetadataJob, RunContext};

/// What an engine can run.
pub(crate) struct Engine {
    /// Its name.
    pub(crate) kind: EngineKind,
    /// Runs a job that was found to make sense.
    pub(crate) run_data: fn(&RunContext, &DataJob) -> Result<Measured, EngineError>,
    /// The same for a metadata job; `None` for an engine that issues none.
    pub(crate) run_metadata: Option<MetadataRunner>,
}

/// Runs a metadata job that was found to make sense.
pub(crate) type MetadataRunner = fn(&RunContext, &MetadataJob) -> Result<Measured, EngineError>;

const ENGINES: &[&Engine] = &[&PSYNC, &URING, &MMAP, &STDIO, &NULL];

fn engine(kind: EngineKind) -> &'static Engine {
    let known = ENGINES.iter().find(|engine| engine.kind == kind);
    known.expect("every kind of engine stands in the table")
}

/// Reads or writes as `job` says.
///
/// # Errors
/// `BadInput` for a job that makes no sense, `Unsupported` for one that the engine, the kernel or
/// the file system does not do, `Interrupted` after the stop flag was raised, `Corrupt` for data
/// that is not what was written, `NoSpace`, `Permission` or `Io` for a failed system call.
pub fn run_data(context: &RunContext, job: &DataJob) -> Result<Measured, EngineError> {
    job.validate()?;
    (engine(context.engine).run_data)(context, job)
}

/// Works on names, attributes and small files as `job` says.
///
/// # Errors
/// As those of [`run_data`].
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
