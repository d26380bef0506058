//! Locks all memory of a process before it starts work, so that its later memory use, which depends
//! on the program's build, takes no pages from the measured system.
//!
//! Page tables are such pages, too: a mapping takes one for each 2 MiB of addresses that it is
//! the first in. Where it is placed depends on the mappings and holes before it, so that what lies
//! above the place of later mappings is filled up to a border of 1 GiB: from there on equal
//! mappings take equal page tables.
//!
//! And so are the nodes of the kernel's tree of mappings. How many a new mapping takes depends on
//! the number of mappings and their order of creation, which must not depend on the build: each
//! build has a mapping of zeros ([`ZEROS`]).

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::status::check;

/// Larger allocations have separate mappings, the same in every build.
const MAPPED_FROM_BYTES: libc::c_int = 128 << 10;

/// What a page of the second level of page tables maps; one of the first level maps 2 MiB.
const BORDER_BYTES: usize = 1 << 30;
const PAGE_BYTES: usize = 4096;
/// Holes are fewer pages than this.
const HOLES_MAX: usize = 1 << 20;

/// The kernel parameter with the KiB of measured memory of a guest in virtual time. Writing a
/// number of pages to hold back makes this memory available.
pub const MEASURED_MEMORY: &str = "/sys/module/fslab/parameters/measured_memory";

/// More zeros than a page, so that they end beyond the program's last page of data in each build
/// and have a mapping. The program's other zeros are less than a page, and their mapping exists in
/// some builds only.
#[used]
static ZEROS: [AtomicU8; 2 * PAGE_BYTES] = [const { AtomicU8::new(0) }; 2 * PAGE_BYTES];

/// True once this process has locked its memory.
static IS_LOCKED: AtomicBool = AtomicBool::new(false);

/// True if [`lock_memory`] has locked the memory of this process. It must not fork then: a fork
/// takes pages for page tables and copies on write, and their number depends on the program's
/// build.
pub fn is_memory_locked() -> bool {
    IS_LOCKED.load(Ordering::Relaxed)
}

/// Gives the calling thread a separate descriptor table, as a process has.
pub fn unshare_descriptors() -> io::Result<()> {
    // SAFETY: the call takes flags; open descriptors stay valid in this thread.
    check(unsafe { libc::unshare(libc::CLONE_FILES) })
}

/// Allocates a heap of `heap_bytes` for all threads and locks all current and future mappings:
/// pages are allocated when mapped, not when first touched. Growth of the heap is in steps of this
/// size.
///
/// # Errors
/// That of mlockall(2): EPERM or ENOMEM if the limit of locked memory is lower.
pub fn lock_memory(heap_bytes: libc::c_int) -> io::Result<()> {
    // SAFETY: the calls take numbers, and change how the allocator obtains memory.
    let is_set = unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1) == 1
            && libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX) == 1
            && libc::mallopt(libc::M_TOP_PAD, heap_bytes) == 1
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
    fill_up_to_border()?;
    // SAFETY: the call takes flags.
    check(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) })?;
    IS_LOCKED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Reserves the holes between mappings, and addresses below them up to a border.
fn fill_up_to_border() -> io::Result<()> {
    let lowest = lowest_mapping(&std::fs::read_to_string("/proc/self/maps")?)
        .ok_or_else(|| io::Error::other("no place of mappings in /proc/self/maps"))?;
    for _ in 0..HOLES_MAX {
        let reserved = reserve(PAGE_BYTES)?;
        if reserved < lowest {
            let rest = reserved % BORDER_BYTES;
            return match rest {
                0 => Ok(()),
                _ => reserve(rest).map(|_| ()),
            };
        }
    }
    Err(io::Error::other("the holes between mappings have no end"))
}

/// The lowest mapping above the largest hole, in the text of /proc/PID/maps: the kernel places the
/// next one below it.
fn lowest_mapping(maps: &str) -> Option<usize> {
    let mappings: Vec<_> = maps.lines().filter_map(ends).collect();
    let holes = mappings.windows(2).filter(|pair| {
        // The mapping of vsyscall is of the kernel.
        pair[1].0 < 1 << (usize::BITS - 1)
    });
    holes
        .max_by_key(|pair| pair[1].0 - pair[0].1)
        .map(|pair| pair[1].0)
}

/// The first address and the one after the last of a line of /proc/PID/maps.
fn ends(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some((address(start)?, address(end)?))
}

/// Reserves addresses that have no memory; returns the first.
fn reserve(length: usize) -> io::Result<usize> {
    // SAFETY: a new mapping at an address that the kernel chooses overlaps no memory in use.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(address.addr())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{WorkerProcess, read_text_file};

    #[test]
    fn the_next_mapping_lies_below_the_largest_hole() {
        let maps = "555555554000-555557450000 r-xp 00000000 08:01 7 /fslab\n\
                    555557450000-5555574b3000 rw-p 00000000 00:00 0 [heap]\n\
                    7ffff7cd1000-7ffff7cf9000 r--p 00000000 08:01 8 /lib/libc.so.6\n\
                    7ffff7fbd000-7ffff7fff000 rw-p 00000000 00:00 0\n\
                    7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n\
                    ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";
        assert_eq!(lowest_mapping(maps), Some(0x7fff_f7cd_1000));
        assert_eq!(lowest_mapping(""), None);
    }

    /// Runs `work` in a process without other threads: mappings, the lock and [`IS_LOCKED`] are
    /// those of a process, and the tests beside this one use and change them.
    fn in_separate_process(work: impl FnOnce()) {
        let worker = WorkerProcess::fork(|_| {
            work();
            b"done".to_vec()
        });
        let report = worker.expect("forks").collect(|| false);
        assert_eq!(report.expect("does not panic"), b"done");
    }

    #[test]
    fn later_mappings_begin_at_a_border() {
        in_separate_process(|| {
            fill_up_to_border().expect("addresses");
            let next = reserve(PAGE_BYTES).expect("addresses");
            assert_eq!(BORDER_BYTES - next % BORDER_BYTES, PAGE_BYTES);
        });
    }

    #[test]
    fn the_zeros_of_the_program_have_a_mapping_without_a_file() {
        let maps = read_text_file(Path::new("/proc/self/maps"), 1 << 20).expect("read");
        let last = ZEROS.as_ptr().addr() + size_of_val(&ZEROS) - 1;
        let has_last = |line: &&str| ends(line).is_some_and(|it| (it.0..it.1).contains(&last));
        let mapping = maps.lines().find(has_last);
        let mapping = mapping.expect("is mapped");
        assert_eq!(mapping.split_whitespace().nth(4), Some("0"), "{mapping}");
    }

    #[test]
    fn the_heap_and_the_program_are_locked() {
        in_separate_process(|| {
            let heap_bytes = 32 << 20;
            if let Err(error) = lock_memory(heap_bytes) {
                assert!(
                    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOMEM)),
                    "{error}"
                );
                return;
            }
            let status = read_text_file(Path::new("/proc/self/status"), 1 << 16).expect("read");
            let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
            let kib: libc::c_int = locked
                .and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok())
                .expect("a number");
            assert!(kib << 10 >= heap_bytes, "{kib} KiB");
            assert!(is_memory_locked());
        });
        assert!(!is_memory_locked());
    }
}
