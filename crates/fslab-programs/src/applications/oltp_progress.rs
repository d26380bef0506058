//! The progress of the threads of [`super::oltp`], by which each limits the others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Batches of reads that readers may be ahead of the slowest writer, and of the log.
const AHEAD_BATCHES: u64 = 2;
/// Interval at which a waiting thread checks for a stop.
const STOP_POLL: Duration = Duration::from_millis(50);

/// What is to be done, and how many reads come before each part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// Batches of each writer.
    pub(super) batches: u64,
    /// Records of the log.
    pub(super) logs: u64,
    /// Reads of all readers between two batches.
    pub(super) reads_per_batch: u64,
    /// Reads of all readers between two records of the log.
    pub(super) reads_per_log: u64,
}

/// Progress of readers, writers and the log.
pub(super) struct Progress {
    tickets: AtomicU64,
    reads: AtomicU64,
    /// Reads with a ticket below this may proceed.
    limit: AtomicU64,
    completed: Mutex<Completed>,
    changed: Condvar,
    goal: Goal,
}

/// What writers and the log have completed.
struct Completed {
    batches: Vec<u64>,
    logs: u64,
}

impl Progress {
    /// Nothing done yet of `goal`, by that many writers.
    pub(super) fn new(goal: Goal, writers: u32) -> Self {
        let progress = Self {
            tickets: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            completed: Mutex::new(Completed {
                batches: vec![0; writers as usize],
                logs: 0,
            }),
            changed: Condvar::new(),
            goal,
        };
        progress.update(|_| {});
        progress
    }

    fn completed(&self) -> MutexGuard<'_, Completed> {
        self.completed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the completed work and wakes the threads that wait for it.
    fn update(&self, change: impl FnOnce(&mut Completed)) {
        let mut completed = self.completed();
        change(&mut completed);
        let slowest = completed
            .batches
            .iter()
            .copied()
            .min()
            .unwrap_or(self.goal.batches);
        // A finished thread limits no other.
        let limit = |done: u64, all: u64, each: u64| match done {
            done if done >= all => u64::MAX,
            done => (done + AHEAD_BATCHES) * each,
        };
        let of_batches = limit(slowest, self.goal.batches, self.goal.reads_per_batch);
        let of_logs = limit(completed.logs, self.goal.logs, self.goal.reads_per_log);
        self.limit.store(of_batches.min(of_logs), Ordering::SeqCst);
        self.changed.notify_all();
    }

    /// The batches that a writer has completed.
    pub(super) fn written(&self, writer: u32, batches: u64) {
        self.update(|completed| completed.batches[writer as usize] = batches);
    }

    /// The records of the log that are written.
    pub(super) fn log_written(&self, logs: u64) {
        self.update(|completed| completed.logs = logs);
    }

    /// The number of the next read, over all readers.
    pub(super) fn next_ticket(&self) -> u64 {
        self.tickets.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a read.
    pub(super) fn read(&self) {
        let reads = self.reads.fetch_add(1, Ordering::SeqCst) + 1;
        if reads.is_multiple_of(self.goal.reads_per_batch)
            || reads.is_multiple_of(self.goal.reads_per_log)
        {
            let _completed = self.completed();
            self.changed.notify_all();
        }
    }

    /// Waits until `reads` reads are done; `None` on a stop.
    pub(super) fn await_reads(&self, reads: u64, must_stop: &dyn Fn() -> bool) -> Option<()> {
        self.wait(must_stop, || self.reads.load(Ordering::SeqCst) >= reads)
    }

    /// Waits until the read with that ticket may proceed; `None` on a stop.
    pub(super) fn await_turn(&self, ticket: u64, must_stop: &dyn Fn() -> bool) -> Option<()> {
        let may_go = || ticket < self.limit.load(Ordering::SeqCst);
        if may_go() {
            return Some(());
        }
        self.wait(must_stop, may_go)
    }

    fn wait(&self, must_stop: &dyn Fn() -> bool, is_so: impl Fn() -> bool) -> Option<()> {
        let mut completed = self.completed();
        while !is_so() {
            if must_stop() {
                return None;
            }
            let waited = self.changed.wait_timeout(completed, STOP_POLL);
            completed = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(())
    }
}
