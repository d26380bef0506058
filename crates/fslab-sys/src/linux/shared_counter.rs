//! A counter shared with processes forked later.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Length of the mapping: a separate page, so that no other data shares the cache line.
const LENGTH: usize = 4096;

/// Hands out a limited number of tickets to threads and forked processes.
pub struct SharedCounter {
    taken: NonNull<AtomicU64>,
    limit: u64,
}

// SAFETY: the memory is not bound to a thread and accessed only by atomic operations.
unsafe impl Send for SharedCounter {}
// SAFETY: as above.
unsafe impl Sync for SharedCounter {}

impl SharedCounter {
    /// A counter with `limit` tickets.
    pub fn new(limit: u64) -> io::Result<Self> {
        // SAFETY: a new anonymous mapping at an address that the kernel chooses.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                LENGTH,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // The mapping is zeroed, and an AtomicU64 of zero bytes is 0.
        let taken = NonNull::new(start.cast()).expect("the kernel never maps the zero page here");
        Ok(Self { taken, limit })
    }

    /// Takes a ticket; false if none is left.
    #[inline]
    pub fn take(&self) -> bool {
        // Each taker overshoots the limit at most once, which cannot overflow.
        self.has_more() && self.counter().fetch_add(1, Ordering::Relaxed) < self.limit
    }

    /// True if tickets are left.
    #[inline]
    pub fn has_more(&self) -> bool {
        self.counter().load(Ordering::Relaxed) < self.limit
    }

    fn counter(&self) -> &AtomicU64 {
        // SAFETY: the mapping is aligned to a page and lives as long as `self`.
        unsafe { self.taken.as_ref() }
    }
}

impl Drop for SharedCounter {
    fn drop(&mut self) {
        // SAFETY: unmaps the mapping of `new`; references into it ended with the borrow of `self`.
        unsafe { libc::munmap(self.taken.as_ptr().cast(), LENGTH) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkerProcess;

    #[test]
    fn threads_and_forks_take_every_ticket_once() {
        const TICKETS: u64 = 10_000;
        let counter = SharedCounter::new(TICKETS).expect("maps");
        let take_all = || (0..).take_while(|_: &u64| counter.take()).count() as u64;
        let fork = |_| {
            WorkerProcess::fork(|side| {
                side.ready_and_wait().expect("the parent waits");
                take_all().to_le_bytes().to_vec()
            })
        };
        let mut forks: Vec<_> = (0..3).map(|n| fork(n).expect("forks")).collect();
        for fork in &mut forks {
            assert!(fork.wait_until_ready(|| false).expect("is there"));
        }
        forks
            .iter_mut()
            .for_each(|fork| fork.begin().expect("is there"));
        let mut taken = std::thread::scope(|scope| {
            let threads = [scope.spawn(take_all), scope.spawn(take_all)];
            threads.map(|thread| thread.join().expect("no panic"))
        })
        .iter()
        .sum::<u64>();
        for fork in forks {
            let bytes = fork.collect(|| false).expect("reports");
            taken += u64::from_le_bytes(bytes.try_into().expect("a number"));
        }
        assert_eq!(taken, TICKETS);
        assert!(!counter.has_more() && !counter.take());
    }
}
