//! The kinds of jobs that test what a file system does.

use fslab_job::JobKind;

use crate::facts::FactsParameters;
use crate::parameters::{FillParameters, TreeParameters};
use crate::probe::{InlineParameters, PrefetchParameters};
use crate::script_job::ScriptParameters;

/// The kinds of jobs that test what a file system does.
pub const CONFORMANCE_JOBS: &[JobKind] = &[
    JobKind::of::<TreeParameters>(),
    JobKind::of::<FillParameters>(),
    JobKind::of::<FactsParameters>(),
    JobKind::of::<InlineParameters>(),
    JobKind::of::<PrefetchParameters>(),
    JobKind::of::<ScriptParameters>(),
];
