//! The kinds of jobs of programs and applications.

use fslab_job::JobKind;

use crate::applications::{DatabaseParameters, OltpParameters, PersonalityParameters};
use crate::command::CommandParameters;
use crate::compile::CompileParameters;
use crate::git::GitParameters;
use crate::pgbench::PgbenchParameters;
use crate::redundancy::{FailDiskParameters, RebuildParameters, ScrubParameters};
use crate::web::{PublishParameters, ServeParameters};

/// The kinds of jobs of programs and applications.
pub const PROGRAM_JOBS: &[JobKind] = &[
    JobKind::of::<CommandParameters>(),
    JobKind::of::<CompileParameters>(),
    JobKind::of::<GitParameters>(),
    JobKind::of::<OltpParameters>(),
    JobKind::of::<PersonalityParameters>(),
    JobKind::of::<PgbenchParameters>(),
    JobKind::of::<DatabaseParameters>(),
    JobKind::of::<PublishParameters>(),
    JobKind::of::<FailDiskParameters>(),
    JobKind::of::<RebuildParameters>(),
    JobKind::of::<ScrubParameters>(),
    JobKind::of::<ServeParameters>(),
];
