//! How much of a file is in the page cache, from mincore(2).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Bytes that one call looks at, so that the answer needs little memory.
const WINDOW_BYTES: usize = 1 << 30;

/// Number of pages of `file` that the page cache holds.
///
/// mincore(2) answers for the owner of a file and for those who may write to it; for anyone else it
/// says that every page is resident.
///
/// # Errors
/// That of fstat(2), mmap(2) or mincore(2).
pub fn resident_pages(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let page_bytes = page_bytes();
    let mut resident = 0;
    let mut offset = 0_u64;
    while offset < length {
        let window = usize::try_from(length - offset).map_or(WINDOW_BYTES, |l| l.min(WINDOW_BYTES));
        resident += resident_in_window(file, offset, window, page_bytes)?;
        offset += window as u64;
    }
    Ok(resident)
}

/// Bytes of a page of memory.
///
/// # Panics
/// Where the kernel has no page size, which every one has.
#[must_use]
pub fn page_bytes() -> usize {
    // SAFETY: the call takes a number and gives one.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("every kernel has a page size")
}

fn resident_in_window(
    file: &File,
    offset: u64,
    window: usize,
    page_bytes: usize,
) -> io::Result<u64> {
    let offset = i64::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: a fresh mapping at an address of the kernel's choice; nothing is read through it.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            window,
            libc::PROT_NONE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            offset,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let mut pages = vec![0_u8; window.div_ceil(page_bytes)];
    // SAFETY: `start` maps `window` bytes, and `pages` has a byte for each page of them.
    let status = unsafe { libc::mincore(start, window, pages.as_mut_ptr()) };
    let outcome = if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    };
    // SAFETY: unmaps what was mapped above; nothing refers to it.
    unsafe { libc::munmap(start, window) };
    outcome.map(|()| pages.iter().map(|page| u64::from(page & 1)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_were_just_written_are_resident() {
        let path = std::env::temp_dir().join(format!("fslab-residency-{}", std::process::id()));
        std::fs::write(&path, vec![1_u8; 3 * page_bytes() + 1]).expect("writes");
        let file = File::open(&path).expect("opens");
        std::fs::remove_file(&path).expect("is there");
        assert_eq!(resident_pages(&file).expect("answers"), 4);
    }
}
