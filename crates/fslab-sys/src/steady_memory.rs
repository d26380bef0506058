//! A process whose memory is all there before it begins its work: what it does then takes no page
//! of the system that it measures, whatever its program is as large as.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// The heap that is taken at once; what exceeds it comes in pieces as large.
const HEAP_BYTES: usize = 32 << 20;
/// Larger allocations have mappings for themselves, in each build the same.
const MAPPED_FROM_BYTES: libc::c_int = 128 << 10;

/// Where a guest's kernel in virtual time says how many KiB of memory are measured, and where a
/// number of pages to be held back is written, so that this memory opens.
pub const MEASURED_MEMORY: &str = "/sys/module/fslab/parameters/measured_memory";

/// Whether this process has locked its memory.
static IS_HELD: AtomicBool = AtomicBool::new(false);

/// Whether [`hold_memory`] has locked the memory of this process. It makes no copies of itself
/// then: a fork takes pages for page tables, and for what either side writes afterwards, and how
/// many depends on how the program was built.
pub fn is_memory_held() -> bool {
    IS_HELD.load(Ordering::Relaxed)
}

/// Lets the calling thread have descriptors for itself, as a process has.
///
/// # Errors
/// That of unshare(2).
pub fn take_descriptors() -> io::Result<()> {
    // SAFETY: the call takes flags; descriptors that are open stay valid in this thread.
    match unsafe { libc::unshare(libc::CLONE_FILES) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes a heap of a fixed size for all threads, and locks everything that the process has mapped
/// and will map: a page is there from then on when it is mapped, and not when it is first touched.
///
/// # Errors
/// That of mlockall(2): EPERM or ENOMEM where less may be locked.
pub fn hold_memory() -> io::Result<()> {
    // SAFETY: the calls take numbers, and change how the allocator gets memory from the system.
    let is_set = unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1) == 1
            && libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX) == 1
            && libc::mallopt(libc::M_TOP_PAD, HEAP_BYTES as libc::c_int) == 1
            && libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM_BYTES) == 1
    };
    if !is_set {
        return Err(io::Error::other("the allocator takes no options"));
    }
    // The largest that comes from the heap does not fit into what it began with: it grows.
    let grown: Vec<Vec<u8>> = (0..4)
        .map(|_| Vec::with_capacity(MAPPED_FROM_BYTES as usize - 64))
        .collect();
    drop(std::hint::black_box(grown));
    // SAFETY: the call takes flags.
    match unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } {
        0 => {
            IS_HELD.store(true, Ordering::Relaxed);
            Ok(())
        }
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_text_file;

    // The figure is that of the whole process, so that other tests may add to it.
    #[test]
    fn the_heap_and_the_program_are_locked() {
        if let Err(error) = hold_memory() {
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
        assert!(is_memory_held());
        // Tests of forks run in this process, too.
        IS_HELD.store(false, Ordering::Relaxed);
    }
}
