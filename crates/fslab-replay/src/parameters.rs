//! Parameters of a replay.

use std::path::PathBuf;

use fslab_job::{JobError, PhasePart, RunError};
use fslab_model::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Delay between operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReplayPace {
    /// None: an operation is issued as soon as what it waits for is done.
    #[default]
    Fast,
    /// The recorded think time.
    Recorded,
}

/// Issues the recorded operations of a program again. Parameters that are left out follow from the
/// trace.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReplayParameters {
    /// The trace file, or `sample` for the built-in one.
    pub(crate) trace: String,
    /// SHA-256 of the trace: another content is another plan.
    pub(crate) sha256: String,
    /// Delays between operations.
    pub(crate) pace: ReplayPace,
    /// The directory of the replay, below the root.
    pub(crate) directory: PathBuf,
    /// What the phase does.
    pub(crate) part: PhasePart,
    /// Limit of deviating operations, and of names whose final state differs, in percent; more are
    /// a failure.
    #[schemars(range(min = 0, max = 100))]
    pub(crate) deviations_percent_max: f64,
    /// Compare the final files with those of the trace.
    pub(crate) check: bool,
    /// Upper bound of the bytes of all files; taken from the trace.
    pub(crate) footprint: Bytes,
    /// Size of the largest file; taken from the trace.
    pub(crate) largest: Bytes,
    /// The trace has symbolic links; taken from the trace.
    pub(crate) symlinks: bool,
    /// The trace has hard links; taken from the trace.
    pub(crate) hard_links: bool,
}

impl Default for ReplayParameters {
    fn default() -> Self {
        Self {
            trace: "sample".into(),
            sha256: String::new(),
            pace: ReplayPace::default(),
            directory: "replay".into(),
            part: PhasePart::default(),
            deviations_percent_max: 1.0,
            check: true,
            footprint: Bytes(0),
            largest: Bytes(0),
            symlinks: false,
            hard_links: false,
        }
    }
}

impl ReplayParameters {
    /// The error of a phase whose trace cannot be used.
    pub(super) fn refused(&self, problem: String) -> RunError {
        JobError::Value(problem).into()
    }
}
