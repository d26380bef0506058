//! The kinds of jobs that an engine runs.

use super::clear::ClearParameters;
use super::data::DataParameters;
use super::disk_image::DiskImageParameters;
use super::fifo::FifoParameters;
use super::parallel::ParallelParameters;
use super::seeks::SeeksParameters;
use super::sized_files::SizedFilesParameters;
use super::small_files::SmallFilesParameters;
use super::trees::TreesParameters;
use crate::job::JobKind;
use fslab_engine::{DataJob, MetadataJob};

/// The kinds of jobs that an engine runs.
pub const ENGINE_JOBS: &[JobKind] = &[
    JobKind::of::<ClearParameters>(),
    JobKind::of::<DataParameters>(),
    JobKind::of::<DiskImageParameters>(),
    JobKind::of::<FifoParameters>(),
    JobKind::of::<MetadataJob>(),
    JobKind::of::<DataJob>(),
    JobKind::of::<ParallelParameters>(),
    JobKind::of::<SeeksParameters>(),
    JobKind::of::<SizedFilesParameters>(),
    JobKind::of::<SmallFilesParameters>(),
    JobKind::of::<TreesParameters>(),
];
