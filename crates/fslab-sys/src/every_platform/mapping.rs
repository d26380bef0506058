//! The copies from and to a mapping.

use crate::Mapping;

impl Mapping {
    /// Copies from `offset` in the file.
    ///
    /// # Panics
    /// If the range is outside the mapping.
    #[inline]
    pub fn read_at(&self, into: &mut [u8], offset: usize) {
        assert!(self.holds(offset, into.len()), "read outside of a mapping");
        // SAFETY: the source is inside the mapping, and the target is other memory. Other processes
        // may change the file meanwhile; every byte value is valid.
        unsafe {
            let from = self.start.as_ptr().add(offset);
            std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len());
        }
    }

    /// Copies to `offset` in the file.
    ///
    /// # Panics
    /// If the range is outside the mapping, or it is not writable.
    #[inline]
    pub fn write_at(&mut self, data: &[u8], offset: usize) {
        assert!(
            self.writable && self.holds(offset, data.len()),
            "write outside of a mapping"
        );
        // SAFETY: the target is inside the mapping, which is writable, and the source is other
        // memory.
        unsafe {
            let to = self.start.as_ptr().add(offset);
            std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len());
        }
    }

    fn holds(&self, offset: usize, length: usize) -> bool {
        offset
            .checked_add(length)
            .is_some_and(|end| end <= self.length)
    }
}
