//! Locks all memory of a process before it starts work, so that its later memory use, which depends
//! on the program's build, takes no pages from the measured system.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::status::check;

/// Heap size allocated at once; growth beyond it is in steps of this size.
const HEAP_BYTES: usize = 32 << 20;
/// Larger allocations have separate mappings, the same in every build.
const MAPPED_FROM_BYTES: libc::c_int = 128 << 10;

/// The kernel parameter with the KiB of measured memory of a guest in virtual time. Writing a
/// number of pages to hold back makes this memory available.
pub const MEASURED_MEMORY: &str = "/sys/module/fslab/parameters/measured_memory";

/// True once this process has locked its memory.
static IS_LOCKED: AtomicBool = AtomicBool::new(false);

/// True if [`lock_memory`] has locked the memory of this process. It must not fork then: a fork
/// takes pages for page tables and copies on write, and their number depends on the program's
/// build.
pub fn is_memory_locked() -> bool {
    IS_LOCKED.load(Ordering::Relaxed)
}

/// Gives the calling thread a separate descriptor table, as a process has.
///
/// # Errors
/// That of unshare(2).
pub fn unshare_descriptors() -> io::Result<()> {
    // SAFETY: the call takes flags; open descriptors stay valid in this thread.
    check(unsafe { libc::unshare(libc::CLONE_FILES) })
}

/// Allocates a heap of fixed size for all threads and locks all current and future mappings: pages
/// are allocated when mapped, not when first touched.
///
/// # Errors
/// That of mlockall(2): EPERM or ENOMEM if the limit of locked memory is lower.
pub fn lock_memory() -> io::Result<()> {
    // SAFETY: the calls take numbers, and change how the allocator obtains memory.
    let is_set = unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1) == 1
            && libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX) == 1
            && libc::mallopt(libc::M_TOP_PAD, HEAP_BYTES as libc::c_int) == 1
            && libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM_BYTES) == 1
    };
    if !is_set {
        return Err(io::Error::other("the allocator takes no options"));
    }
    // The largest allocations from the heap exceed its initial size: it grows.
    let grown: Vec<Vec<u8>> = (0..4)
        .map(|_| Vec::with_capacity(MAPPED_FROM_BYTES as usize - 64))
        .collect();
    drop(std::hint::black_box(grown));
    // SAFETY: the call takes flags.
    check(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) })?;
    IS_LOCKED.store(true, Ordering::Relaxed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_text_file;

    // The figure is for the process, so that other tests may add to it.
    #[test]
    fn the_heap_and_the_program_are_locked() {
        if let Err(error) = lock_memory() {
            assert!(
                matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOMEM)),
                "{error}"
            );
            return;
        }
        let status =
            read_text_file(std::path::Path::new("/proc/self/status"), 1 << 16).expect("read");
        let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
        let kib: usize = locked
            .and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok())
            .expect("a number");
        assert!(kib << 10 >= HEAP_BYTES, "{kib} KiB");
        // SAFETY: the call takes nothing.
        assert_eq!(unsafe { libc::munlockall() }, 0);
        assert!(is_memory_locked());
        // Tests with forks run in this process, too.
        IS_LOCKED.store(false, Ordering::Relaxed);
    }
}
