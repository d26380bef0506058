//! The start state of a trial in virtual time: the same for every build of fslab and on every
//! machine, except for the perturbation.
//!
//! ```text
//!     lock the program's memory          in the set-up memory: no page is taken later
//!     use up process IDs                 as many as the perturbation says
//!     drop the caches                    of boot and loader
//!     wait for the next second           and so for the same timer tick
//!     open the measured memory           without the pages that the perturbation holds back
//! ```

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use fslab_model::{Failure, FailureKind, Perturbation};
use fslab_sys::MEASURED_MEMORY;

/// The kernel's description of the measured memory, with a random number.
const MEMORY_STATE: &str = "/sys/module/fslab/parameters/memory_state";
/// Heap of the trial.
const HEAP_BYTES: i32 = 32 << 20;
/// Stack of the worker thread: allocated at once, so that it does not grow later.
const STACK_BYTES: usize = 8 << 20;

/// Locks the memory of this process, and runs `work` in a thread with a preallocated stack.
pub(crate) fn in_locked_memory<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    fslab_sys::lock_memory(HEAP_BYTES)?;
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        let worker = builder.spawn_scoped(scope, work)?;
        worker
            .join()
            .map_err(|_| io::Error::other("the thread of the trial panicked"))
    })
}

/// Brings the guest into its start state.
pub(crate) fn reach(perturbation: Perturbation) -> Result<(), Failure> {
    let cannot = |error: io::Error| {
        Failure::new(
            FailureKind::Device,
            "cannot bring the guest into its start state",
        )
        .because(&error)
        .hint("the guest kernel may be from an earlier fslab; rebuild it with fslab lab build")
    };
    fs::metadata(MEASURED_MEMORY).map_err(cannot)?;
    use_up_process_ids(perturbation.processes).map_err(cannot)?;
    fslab_sys::drop_caches().map_err(cannot)?;
    fslab_sys::sleep_to_second(Duration::from_nanos(perturbation.start_ns)).map_err(cannot)?;
    fs::write(MEASURED_MEMORY, perturbation.memory_pages.to_string()).map_err(cannot)
}

/// Uses up process IDs: each thread has one.
fn use_up_process_ids(count: u32) -> io::Result<()> {
    for _ in 0..count {
        let thread = thread::Builder::new().stack_size(64 << 10);
        // It does nothing and cannot panic.
        let _ = thread.spawn(|| {})?.join();
    }
    Ok(())
}

/// The state of memory, process IDs and random numbers; `None` if the kernel does not describe it.
pub(crate) fn now() -> Option<String> {
    let text = fs::read_to_string(Path::new(MEMORY_STATE)).ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_measured_memory_is_refused_with_a_hint() {
        let failure = reach(Perturbation::NONE).expect_err("this is no guest");
        assert!(failure.hint.is_some_and(|hint| hint.contains("lab build")));
        assert_eq!(now(), None);
    }

    #[test]
    fn process_ids_are_used_up() {
        use_up_process_ids(3).expect("three threads");
    }
}
