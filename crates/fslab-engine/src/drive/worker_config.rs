//! What each worker of a job has.

use std::ops::Range;

use super::Stonewall;
use crate::{MetadataJob, Ranks, RunContext, StopFlag, Workers};

/// The workers of a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerConfig<'a> {
    /// Number of workers.
    pub(crate) count: u32,
    /// Threads or processes.
    pub(crate) workers: Workers,
    pub(crate) stop: &'a StopFlag,
    /// The ranks whose workers start together with these.
    pub(crate) ranks: Option<&'a Ranks>,
    /// Where they wait for each other.
    pub(crate) stonewall: Option<&'a Stonewall<'a>>,
}

impl<'a> WorkerConfig<'a> {
    /// The workers that run `threads` of `job`.
    pub(crate) fn for_metadata(
        context: &'a RunContext,
        job: &MetadataJob,
        threads: &Range<u32>,
        stonewall: Option<&'a Stonewall<'a>>,
    ) -> Self {
        Self {
            count: threads.len() as u32,
            workers: job.workers,
            stop: &context.stop,
            ranks: context.ranks.as_ref(),
            stonewall,
        }
    }

    /// The same number of threads.
    pub(crate) fn as_threads(self) -> Self {
        Self {
            workers: Workers::Threads,
            ..self
        }
    }
}
