//! A counter that goes on being one and the same in processes that are forked later.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Length of the mapping: a page of its own, so that no other data shares the cache line.
const LENGTH: usize = 4096;

/// Tickets with numbers from 0 up, of which there is an end. Takers may be threads or forks.
pub struct SharedCounter {
    taken: NonNull<AtomicU64>,
    limit: u64,
}

// SAFETY: the memory is not bound to a thread, and nothing but atomic operations is done in it.
unsafe impl Send for SharedCounter {}
// SAFETY: as above.
unsafe impl Sync for SharedCounter {}

impl SharedCounter {
    /// A counter of `limit` tickets, none of which is taken.
    ///
    /// # Errors
    /// That of mmap(2).
    pub fn new(limit: u64) -> io::Result<Self> {
        // SAFETY: fresh anonymous memory at an address of the kernel's choice.
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
        // The kernel gives zeros, and an atomic number of zero bytes is 0.
        let taken = NonNull::new(start.cast()).expect("the kernel never maps the zero page here");
        Ok(Self { taken, limit })
    }

    /// Takes a ticket; false where none is left.
    #[inline]
    pub fn take(&self) -> bool {
        // Takers ask once more than there are tickets, which no limit makes overflow.
        self.has_more() && self.counter().fetch_add(1, Ordering::Relaxed) < self.limit
    }

    /// Whether tickets are left.
    #[inline]
    #[must_use]
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
        // SAFETY: unmaps what `new` mapped; references to it ended with the borrow of `self`.
        unsafe { libc::munmap(self.taken.as_ptr().cast(), LENGTH) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkerProcess;

    #[test]
    fn threads_and_forks_together_take_every_ticket_once() {
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
