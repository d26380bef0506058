//! Workers that begin together and stop together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fslab_sys::{CallArray, TakenCallArray};

use super::Stonewall;
use super::worker_config::WorkerConfig;
use crate::{EngineError, Ranks, StopFlag};

/// Stop condition shared by the threads of a job.
pub(crate) struct WorkerGroup<'a> {
    stop: &'a StopFlag,
    failed: Arc<AtomicBool>,
    /// True if no other worker runs.
    is_single: bool,
    stonewall: Option<&'a Stonewall<'a>>,
}

impl<'a> WorkerGroup<'a> {
    /// The group of `config`; a failure of another rank stops it, too.
    pub(super) fn new(config: WorkerConfig<'a>) -> Self {
        Self {
            stop: config.stop,
            failed: config.ranks.map(Ranks::failed).unwrap_or_default(),
            is_single: config.count == 1 && config.ranks.is_none(),
            stonewall: config.stonewall,
        }
    }

    /// This process's array of system calls, if it has one and a single worker, whose operations
    /// may be issued together.
    pub(crate) fn call_array(&self) -> Option<TakenCallArray> {
        self.is_single.then(CallArray::take).flatten()
    }

    /// Waits until the workers of all ranks are prepared.
    pub(super) fn start(&self, config: WorkerConfig<'_>) {
        if let Some(ranks) = config.ranks {
            ranks.start(self.failed.load(Ordering::Relaxed));
        }
    }

    /// In a job with a stonewall: waits for all threads, after this one has done `operations`, and
    /// gives how many it must still do; 0 without one. `interruption` is the error of a stopped
    /// job.
    pub(crate) fn wear_out(
        &self,
        operations: u64,
        interruption: impl FnOnce() -> EngineError,
    ) -> Result<u64, EngineError> {
        let Some(stonewall) = self.stonewall else {
            return Ok(0);
        };
        let met = stonewall.meet(operations, || self.must_stop());
        let most = met.ok_or_else(interruption)??;
        Ok(most.saturating_sub(operations))
    }

    /// Marks the group as failed.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Runs `work`; if it fails or panics, the other threads stop, too.
    pub(super) fn or_fail<T>(
        &self,
        work: impl FnOnce() -> Result<T, EngineError>,
    ) -> std::thread::Result<Result<T, EngineError>> {
        let result = catch_unwind(AssertUnwindSafe(work));
        if !matches!(result, Ok(Ok(_))) {
            self.fail();
        }
        result
    }

    /// True if the job is to stop or one of its threads has failed.
    #[inline]
    pub(crate) fn must_stop(&self) -> bool {
        self.stop.is_raised() || self.failed.load(Ordering::Relaxed)
    }
}
