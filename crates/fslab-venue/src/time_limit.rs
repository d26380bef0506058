//! Work on devices and folders that may hang, done under a time limit and by a process apart.
//!
//! Invariant: the process of the run itself opens no device that a trial uses, and neither mounts,
//! unmounts nor removes: where the kernel never answers, the run still ends.

use std::fs::File;
use std::io;
use std::time::Duration;

use fslab_model::{Failure, FailureKind};
use fslab_sys::TimeLimit;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How long nothing may move before a device counts as hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Does `work`, which is to `what` something, within [`PATIENCE`]; it says by what it is given that
/// it is alive.
pub(crate) fn within_limit<T: Serialize + DeserializeOwned>(
    what: &str,
    work: impl FnOnce(&dyn Fn()) -> Result<T, Failure>,
) -> Result<T, Failure> {
    bounded_by(&TimeLimit::of(PATIENCE), what, work)
}

/// The same under a limit of the caller's.
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
                "the device or the file system below hangs; the kernel's log may say why, and \
                 `fslab clean` removes later what is left",
            ),
            _ => failure,
        }
    };
    let report = reported.map_err(failed)?;
    serde_json::from_slice::<Result<T, Failure>>(&report).map_err(|error| failed(error.into()))?
}

/// The limit for work that belongs to a lease: it holds the lease's file, and so the lease, for as
/// long as it hangs.
pub(crate) fn limit_of<'a>(lease: &'a File, go_on: &'a dyn Fn() -> bool) -> TimeLimit<'a> {
    TimeLimit {
        keeps: Some(lease),
        go_on,
        ..TimeLimit::of(PATIENCE)
    }
}
