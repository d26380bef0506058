//! How far a recorded thread is, for those that wait for it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Nobody waits.
const NOBODY: u32 = u32::MAX;

/// How many steps of a thread are done. Where nobody waits, a step costs two accesses to memory;
/// who waits is woken once it has what it waits for, not before.
#[derive(Debug)]
pub(super) struct Gate {
    done: AtomicU32,
    /// The fewest steps that somebody waits for.
    wanted: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            done: AtomicU32::new(0),
            wanted: AtomicU32::new(NOBODY),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }
}

impl Gate {
    /// One more step is done: `done` in all.
    #[inline]
    pub(super) fn advance(&self, done: u32) {
        self.done.store(done, Ordering::SeqCst);
        if done >= self.wanted.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Returns once `steps` are done; false where that will never be, since `gives_up`.
    pub(super) fn wait_for(&self, steps: u32, gives_up: impl Fn() -> bool) -> bool {
        if self.done.load(Ordering::Acquire) >= steps {
            return true;
        }
        let mut held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            self.wanted.fetch_min(steps, Ordering::SeqCst);
            // Looked at after the wish is known: a step that is done now wakes us.
            if self.done.load(Ordering::SeqCst) >= steps {
                return true;
            }
            if gives_up() {
                return false;
            }
            held = self
                .changed
                .wait(held)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wakes all who wait, to look again.
    pub(super) fn wake(&self) {
        let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.wanted.store(NOBODY, Ordering::SeqCst);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn who_waits_goes_on_when_so_many_steps_are_done_or_all_is_given_up() {
        let (gate, stop) = (Gate::default(), AtomicBool::new(false));
        let given_up = || stop.load(Ordering::SeqCst);
        std::thread::scope(|scope| {
            let waiters: Vec<_> = [5_u32, 9, 2]
                .map(|steps| scope.spawn(move || steps))
                .into_iter()
                .map(|handle| handle.join().expect("a number"))
                .map(|steps| {
                    scope.spawn({
                        let gate = &gate;
                        move || gate.wait_for(steps, given_up)
                    })
                })
                .collect();
            let late = scope.spawn(|| gate.wait_for(100, given_up));
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
