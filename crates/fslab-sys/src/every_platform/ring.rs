//! The buffers of a queue: one for each operation in flight.

use crate::Ring;

impl Ring {
    /// The buffer of `slot`.
    ///
    /// # Panics
    /// If an operation in flight uses it.
    #[inline]
    pub fn buffer(&self, slot: u32) -> &[u8] {
        let start = self.start_of(slot);
        &self.buffers[start..][..self.options.buffer_bytes]
    }

    /// The buffer of `slot`, for writing.
    ///
    /// # Panics
    /// If an operation in flight uses it.
    #[inline]
    pub fn buffer_mut(&mut self, slot: u32) -> &mut [u8] {
        let start = self.start_of(slot);
        &mut self.buffers[start..][..self.options.buffer_bytes]
    }

    /// Offset of the buffer of `slot`; panics if the kernel uses it.
    #[inline(always)]
    pub(crate) fn start_of(&self, slot: u32) -> usize {
        let slot = slot as usize;
        assert!(!self.busy[slot], "a buffer in flight was asked for");
        slot * self.stride
    }
}
