//! Checks for features that an engine lacks, made before files are touched.

use crate::jobs::{OpenSync, SyncCall};
use crate::{DataJob, EngineError, EngineKind};

/// Refuses msync(2), which needs a mapping.
pub(super) fn refuse_msync(job: &DataJob) -> Result<(), EngineError> {
    if job.syncs_by(SyncCall::Msync) {
        return Err(EngineError::unsupported(
            "msync is for mapped files, and only the engine mmap maps them",
        ));
    }
    Ok(())
}

/// Refuses calls that make data durable and that this platform lacks.
pub(crate) fn refuse_lacking_syncs(job: &DataJob) -> Result<(), EngineError> {
    for call in job.sync_calls() {
        if let Some(ability) = call.demanded() {
            ability.demand().map_err(EngineError::unsupported)?;
        }
    }
    Ok(())
}

/// Refuses O_DIRECT, which bypasses the memory that `engine` works with.
pub(super) fn refuse_direct(job: &DataJob, engine: EngineKind) -> Result<(), EngineError> {
    if job.direct {
        return Err(EngineError::unsupported(format!(
            "the engine {engine} works through a buffer and cannot use O_DIRECT"
        )));
    }
    Ok(())
}

/// Refuses reads and writes at the file position, which only psync supports.
pub(super) fn refuse_moving(job: &DataJob, engine: EngineKind) -> Result<(), EngineError> {
    if !job.positioned {
        return Err(EngineError::unsupported(format!(
            "the engine {engine} has no read(2) and write(2) at the file position; the engine \
             psync has"
        )));
    }
    Ok(())
}

/// Refuses O_DSYNC and O_SYNC, which stores to a mapping ignore.
pub(super) fn refuse_open_sync(job: &DataJob) -> Result<(), EngineError> {
    if job.open_sync != OpenSync::None {
        return Err(EngineError::unsupported(
            "stores into mapped memory ignore O_SYNC and O_DSYNC; ask for msync instead",
        ));
    }
    Ok(())
}
