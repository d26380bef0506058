//! Work in other processes, where there are no forks of this process: what needs one is done here,
//! without its limit, or refused.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::TimeLimit;

/// A counter that workers take from.
pub struct SharedCounter {
    taken: AtomicU64,
    limit: u64,
}

impl SharedCounter {
    /// Counts to `limit`.
    pub fn new(limit: u64) -> io::Result<Self> {
        Ok(Self {
            taken: AtomicU64::new(0),
            limit,
        })
    }

    /// Takes one; false if none is left.
    pub fn take(&self) -> bool {
        self.taken.fetch_add(1, Ordering::Relaxed) < self.limit
    }

    /// True if some are left.
    pub fn has_more(&self) -> bool {
        self.taken.load(Ordering::Relaxed) < self.limit
    }
}

impl TimeLimit<'_> {
    /// Runs `work` in this process and returns its result; no limit is kept but its cancellation: a
    /// call that hangs in a driver is waited for.
    ///
    /// # Errors
    /// `Interrupted` if it is cancelled before it starts.
    pub fn run(&self, work: impl FnOnce(&dyn Fn()) -> Vec<u8>) -> io::Result<Vec<u8>> {
        if !(self.go_on)() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(work(&|| {}))
    }
}

/// A worker that is a process: refused.
#[derive(Debug)]
pub struct WorkerProcess(());

/// The worker's side.
#[derive(Debug)]
pub struct WorkerSide(());

impl WorkerSide {
    pub fn ready_and_wait(&mut self) -> io::Result<()> {
        Err(crate::lacking::lacks("fork"))
    }
}

impl WorkerProcess {
    /// Refused.
    pub fn fork(_work: impl FnOnce(&mut WorkerSide) -> Vec<u8>) -> io::Result<Self> {
        Err(crate::lacking::lacks("workers that are processes (fork)"))
    }

    pub fn wait_until_ready(&mut self, _gives_up: impl Fn() -> bool) -> io::Result<bool> {
        Err(crate::lacking::lacks("fork"))
    }

    pub fn begin(&mut self) -> io::Result<()> {
        Err(crate::lacking::lacks("fork"))
    }

    pub fn collect(self, _gives_up: impl Fn() -> bool) -> io::Result<Vec<u8>> {
        Err(crate::lacking::lacks("fork"))
    }
}
