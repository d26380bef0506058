//! The point of a job at which its threads wait for each other, as a stonewall with wear-out of IOR
//! and mdtest: each stops after a time, and then works until it has done as much as the fastest.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use fslab_model::{Failure, FailureKind};

use crate::{EngineError, Ranks};

/// How often a waiting thread looks whether the job must stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Where the threads of all ranks meet, once in a job.
#[derive(Debug)]
pub(crate) struct Stonewall<'a> {
    /// Threads of this rank.
    threads: u32,
    ranks: Option<&'a Ranks>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    arrived: u32,
    /// Operations of the fastest that has arrived.
    most: u64,
    /// Operations of the fastest of all ranks.
    met: Option<Result<u64, Failure>>,
}

impl<'a> Stonewall<'a> {
    /// For so many threads of this rank.
    pub(crate) fn new(threads: u32, ranks: Option<&'a Ranks>) -> Self {
        Self {
            threads,
            ranks,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Waits for all threads, after this one has done `operations`; gives the most of all. `None`
    /// if the job must stop.
    pub(super) fn meet(
        &self,
        operations: u64,
        must_stop: impl Fn() -> bool,
    ) -> Option<Result<u64, EngineError>> {
        let mut state = self.lock();
        state.arrived += 1;
        state.most = state.most.max(operations);
        if state.arrived == self.threads {
            state.met = Some(self.agree(Ok(state.most)));
            self.changed.notify_all();
        }
        loop {
            if let Some(met) = &state.met {
                return Some(met.clone().map_err(EngineError::from_failure));
            }
            if must_stop() {
                return None;
            }
            let waited = self.changed.wait_timeout(state, LOOK_EVERY);
            state = waited.expect("no thread panics with the lock").0;
        }
    }

    /// After the threads have ended: a rank whose threads did not meet says so to the others,
    /// which wait for it.
    pub(super) fn settle(&self) {
        let mut state = self.lock();
        if state.met.is_none() {
            let ended = Failure::new(FailureKind::Interrupted, "ended before its stonewall");
            state.met = Some(self.agree(Err(ended)));
        }
    }

    /// Operations of the fastest thread of all ranks at the stonewall; `None` if they did not meet.
    pub(crate) fn most(&self) -> Option<u64> {
        self.lock().met.clone()?.ok()
    }

    fn agree(&self, own: Result<u64, Failure>) -> Result<u64, Failure> {
        match self.ranks {
            Some(ranks) => ranks.agree_on("stonewall", own),
            None => own,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with the lock")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn all_threads_get_the_most_of_all() {
        let stonewall = Stonewall::new(3, None);
        let met = std::thread::scope(|scope| {
            let stonewall = &stonewall;
            let meet = |done| scope.spawn(move || stonewall.meet(done, || false));
            [5, 9, 7].map(meet).map(|it| it.join().expect("no panic"))
        });
        assert!(met.into_iter().all(|it| matches!(it, Some(Ok(9)))));
        assert_eq!(stonewall.most(), Some(9));
    }

    #[test]
    fn a_thread_that_waits_for_one_that_failed_is_released() {
        let stonewall = Stonewall::new(2, None);
        let failed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| stonewall.meet(1, || failed.load(Ordering::Relaxed)));
            failed.store(true, Ordering::Relaxed);
            assert!(waits.join().expect("no panic").is_none());
        });
        stonewall.settle();
        assert_eq!(stonewall.most(), None);
    }
}
