//! Progress of a recorded thread, on which other threads wait.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// No thread waits.
const NO_WAITER: u32 = u32::MAX;

/// Count of a thread's completed steps. Without a waiter, a step costs two memory accesses; waiters
/// are woken only when the lowest count that one of them needs is reached.
#[derive(Debug)]
pub(super) struct Gate {
    done: AtomicU32,
    /// The lowest count that a thread waits for.
    wanted: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            done: AtomicU32::new(0),
            wanted: AtomicU32::new(NO_WAITER),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }
}

impl Gate {
    /// Sets the count of completed steps.
    #[inline]
    pub(super) fn advance(&self, done: u32) {
        self.done.store(done, Ordering::SeqCst);
        if done >= self.wanted.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Waits until `steps` are done; false if `is_cancelled` becomes true.
    pub(super) fn wait_for(&self, steps: u32, is_cancelled: impl Fn() -> bool) -> bool {
        if self.done.load(Ordering::Acquire) >= steps {
            return true;
        }
        let mut held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            self.wanted.fetch_min(steps, Ordering::SeqCst);
            // Checked after `wanted` is set: a step that completes from now on wakes this thread.
            if self.done.load(Ordering::SeqCst) >= steps {
                return true;
            }
            if is_cancelled() {
                return false;
            }
            held = self
                .changed
                .wait(held)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wakes all waiters to check again.
    pub(super) fn wake(&self) {
        let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.wanted.store(NO_WAITER, Ordering::SeqCst);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn waiters_continue_when_their_steps_are_done_or_on_cancellation() {
        let (gate, stop) = (Gate::default(), AtomicBool::new(false));
        let is_cancelled = || stop.load(Ordering::SeqCst);
        std::thread::scope(|scope| {
            let waiters: Vec<_> = [5_u32, 9, 2]
                .map(|steps| scope.spawn(move || steps))
                .into_iter()
                .map(|handle| handle.join().expect("a number"))
                .map(|steps| {
                    scope.spawn({
                        let gate = &gate;
                        move || gate.wait_for(steps, is_cancelled)
                    })
                })
                .collect();
            let late = scope.spawn(|| gate.wait_for(100, is_cancelled));
            (1..=9).for_each(|done| gate.advance(done));
            for waiter in waiters {
                assert!(waiter.join().expect("waits"));
            }
            stop.store(true, Ordering::SeqCst);
            gate.wake();
            assert!(!late.join().expect("waits"));
        });
    }
}
