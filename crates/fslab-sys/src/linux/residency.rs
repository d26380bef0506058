//! Pages of a file in the page cache, from mincore(2).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::status::check;

/// Bytes per mincore(2) call, which bounds the memory of its result.
const WINDOW_BYTES: usize = 1 << 30;

/// Number of pages of `file` in the page cache.
///
/// mincore(2) works for the owner of a file and users with write access; for others it reports
/// every page as resident.
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

/// Files are evicted instead, which is seen.
pub fn cold_without_buffering() -> Result<(), &'static str> {
    Err("files are evicted on Linux")
}

/// The page size in bytes.
///
/// # Panics
/// If the kernel reports no page size; every one does.
pub fn page_bytes() -> usize {
    // SAFETY: the call takes a number and returns one.
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
    // SAFETY: a new mapping at an address that the kernel chooses; nothing is read through it.
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
    let outcome = check(status);
    // SAFETY: unmaps the mapping made above; nothing refers to it.
    unsafe { libc::munmap(start, window) };
    outcome.map(|()| pages.iter().map(|page| u64::from(page & 1)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_just_written_are_resident() {
        let path = std::env::temp_dir().join(format!("fslab-residency-{}", std::process::id()));
        std::fs::write(&path, vec![1_u8; 3 * page_bytes() + 1]).expect("writes");
        let file = File::open(&path).expect("opens");
        std::fs::remove_file(&path).expect("is there");
        assert_eq!(resident_pages(&file).expect("answers"), 4);
    }
}
