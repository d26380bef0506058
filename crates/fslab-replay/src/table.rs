//! The kinds of jobs that replay traces.

use fslab_job::JobKind;

use crate::parameters::ReplayParameters;

/// The kinds of jobs that replay traces.
pub const REPLAY_JOBS: &[JobKind] = &[JobKind::of::<ReplayParameters>()];
