//! Page-aligned memory, as O_DIRECT requires.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Alignment: enough for O_DIRECT with sectors of up to 4 KiB.
const PAGE_BYTES: usize = 4096;

/// Zero-initialised memory of fixed length, aligned to 4096 bytes.
pub struct PageBuffer {
    start: NonNull<u8>,
    layout: Layout,
    length: usize,
}

// SAFETY: the buffer is plain memory with one owner.
unsafe impl Send for PageBuffer {}
// SAFETY: shared references only read it.
unsafe impl Sync for PageBuffer {}

impl PageBuffer {
    /// `length` zero bytes.
    ///
    /// # Panics
    /// If `length` is more than half of the address space.
    pub fn zeroed(length: usize) -> Self {
        let layout = Layout::from_size_align(length.max(1), PAGE_BYTES)
            .expect("a buffer is smaller than half of the address space");
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        Self {
            start,
            layout,
            length,
        }
    }
}

impl Deref for PageBuffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `start` points to `length` initialised bytes that live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl DerefMut for PageBuffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and `self` is borrowed for writing.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        // SAFETY: allocated by `zeroed` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_page_aligned_and_keeps_its_contents() {
        let mut buffer = PageBuffer::zeroed(10_000);
        assert_eq!(buffer.as_ptr().addr() % PAGE_BYTES, 0);
        assert!(buffer.iter().all(|byte| *byte == 0));
        buffer[9_999] = 7;
        assert_eq!((buffer.len(), buffer[9_999]), (10_000, 7));
        assert!(PageBuffer::zeroed(0).is_empty());
    }
}
