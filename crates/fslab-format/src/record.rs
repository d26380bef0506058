//! An on-disk record: zeros in which fields are put at their offsets, in either byte order.
//!
//! Offsets are those of the format's own description, so that a formatter reads like its tables. A
//! field past the end of its record is a slip of the formatter and panics.

/// A structure as it lies on the disk; what nobody put is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    bytes: Vec<u8>,
}

impl Record {
    /// A record of `length` zeros.
    pub(crate) fn new(length: usize) -> Self {
        Self {
            bytes: vec![0; length],
        }
    }

    /// The record as it is to be written.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Puts bytes as they are.
    pub(crate) fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// Puts `bytes` and fills up to `length` with `pad`.
    ///
    /// # Panics
    /// Where `bytes` is longer than `length`.
    pub(crate) fn put_padded(&mut self, offset: usize, length: usize, bytes: &[u8], pad: u8) {
        assert!(
            bytes.len() <= length,
            "{} bytes in a field of {length}",
            bytes.len()
        );
        self.bytes[offset..offset + length].fill(pad);
        self.put(offset, bytes);
    }

    /// Puts one byte.
    pub(crate) fn put_u8(&mut self, offset: usize, value: u8) {
        self.bytes[offset] = value;
    }

    /// Puts 16 bits, the least significant byte first.
    pub(crate) fn put_le16(&mut self, offset: usize, value: u16) {
        self.put(offset, &value.to_le_bytes());
    }

    /// Puts 32 bits, the least significant byte first.
    pub(crate) fn put_le32(&mut self, offset: usize, value: u32) {
        self.put(offset, &value.to_le_bytes());
    }

    /// Puts 64 bits, the least significant byte first.
    pub(crate) fn put_le64(&mut self, offset: usize, value: u64) {
        self.put(offset, &value.to_le_bytes());
    }

    /// Puts 16 bits, the most significant byte first.
    pub(crate) fn put_be16(&mut self, offset: usize, value: u16) {
        self.put(offset, &value.to_be_bytes());
    }

    /// Puts 32 bits, the most significant byte first.
    pub(crate) fn put_be32(&mut self, offset: usize, value: u32) {
        self.put(offset, &value.to_be_bytes());
    }

    /// Puts 64 bits, the most significant byte first.
    pub(crate) fn put_be64(&mut self, offset: usize, value: u64) {
        self.put(offset, &value.to_be_bytes());
    }
}
