//! What some engines have no way to do, said before anything is touched.

use crate::jobs::{OpenSync, SyncCall};
use crate::{DataJob, EngineError, EngineKind};

/// Refuses msync(2), which is for mapped files.
pub(super) fn refuse_msync(job: &DataJob) -> Result<(), EngineError> {
    if job.syncs_by(SyncCall::Msync) {
        return Err(EngineError::unsupported(
            "msync is for mapped files, and only the engine mmap maps them",
        ));
    }
    Ok(())
}

/// Refuses O_DIRECT, which goes around the memory that `engine` works with.
pub(super) fn refuse_direct(job: &DataJob, engine: EngineKind) -> Result<(), EngineError> {
    if job.direct {
        return Err(EngineError::unsupported(format!(
            "the engine {engine} works through memory of its own and cannot have O_DIRECT"
        )));
    }
    Ok(())
}

/// Refuses reads and writes at the file's own position, which only psync has the choice of.
pub(super) fn refuse_moving(job: &DataJob, engine: EngineKind) -> Result<(), EngineError> {
    if !job.positioned {
        return Err(EngineError::unsupported(format!(
            "the engine {engine} has one way to reach a record; read(2) and write(2) in the place \
             of pread(2) and pwrite(2) are for the engine psync"
        )));
    }
    Ok(())
}

/// Refuses O_DSYNC and O_SYNC, which stores into a mapping ignore.
pub(super) fn refuse_open_sync(job: &DataJob) -> Result<(), EngineError> {
    if job.open_sync != OpenSync::None {
        return Err(EngineError::unsupported(
            "stores into mapped memory ignore O_SYNC and O_DSYNC; ask for msync instead",
        ));
    }
    Ok(())
}
