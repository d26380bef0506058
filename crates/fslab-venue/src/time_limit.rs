//! Runs work on devices and directories, which may hang, in a separate process under a time limit.
//!
//! Invariant: the run's own process opens no device of a trial, and does not mount, unmount or
//! remove: the run ends even if the kernel never answers.

use std::fs::File;
use std::io;
use std::time::Duration;

use fslab_model::{Failure, FailureKind};
use fslab_sys::TimeLimit;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Time without progress after which a device counts as hanging.
pub(crate) const STALL_LIMIT: Duration = Duration::from_secs(30);

/// Runs `work` under the limit [`STALL_LIMIT`]; it calls its argument to report progress. `what`
/// names the work in errors, such as `prepare /dev/sdb`.
pub(crate) fn within_limit<T: Serialize + DeserializeOwned>(
    what: &str,
    work: impl FnOnce(&dyn Fn()) -> Result<T, Failure>,
) -> Result<T, Failure> {
    bounded_by(&TimeLimit::of(STALL_LIMIT), what, work)
}

/// Runs `work` under a limit of the caller.
pub(crate) fn bounded_by<T: Serialize + DeserializeOwned>(
    limit: &TimeLimit,
    what: &str,
    work: impl FnOnce(&dyn Fn()) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let reported = limit.run(|alive| serde_json::to_vec(&work(alive)).unwrap_or_default());
    let failed = |error: io::Error| {
        let kind = match error.kind() {
            io::ErrorKind::TimedOut => FailureKind::Timeout,
            io::ErrorKind::Interrupted => FailureKind::Interrupted,
            _ => FailureKind::Device,
        };
        let failure = Failure::new(kind, format!("cannot {what}")).because(&error);
        match kind {
            FailureKind::Timeout => failure.hint(
                "the device or the file system below hangs: see the kernel's log, and run \
                 `fslab clean` when the device responds again",
            ),
            _ => failure,
        }
    };
    let report = reported.map_err(failed)?;
    serde_json::from_slice::<Result<T, Failure>>(&report).map_err(|error| failed(error.into()))?
}

/// The limit of work for a lease: its process holds the lease's file, and so the lease, while it
/// hangs.
pub(crate) fn limit_of<'a>(lease: &'a File, go_on: &'a dyn Fn() -> bool) -> TimeLimit<'a> {
    TimeLimit {
        keeps: Some(lease),
        go_on,
        ..TimeLimit::of(STALL_LIMIT)
    }
}
