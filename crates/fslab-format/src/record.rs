//! An on-disk record: zeros, with fields written at their offsets in either byte order.
//!
//! Offsets are those of the format's documentation, so that a formatter reads like its tables. A
//! field past the end of its record is a bug and panics.

/// A structure as stored on disk; unset bytes are zero.
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

    /// Writes bytes.
    pub(crate) fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes `bytes` and pads to `length` with `pad`.
    ///
    /// # Panics
    /// If `bytes` is longer than `length`.
    pub(crate) fn put_padded(&mut self, offset: usize, length: usize, bytes: &[u8], pad: u8) {
        assert!(
            bytes.len() <= length,
            "{} bytes in a field of {length}",
            bytes.len()
        );
        self.bytes[offset..offset + length].fill(pad);
        self.put(offset, bytes);
    }

    /// Writes one byte.
    pub(crate) fn put_u8(&mut self, offset: usize, value: u8) {
        self.bytes[offset] = value;
    }

    /// Writes 16 bits, little-endian.
    pub(crate) fn put_le16(&mut self, offset: usize, value: u16) {
        self.put(offset, &value.to_le_bytes());
    }

    /// Writes 32 bits, little-endian.
    pub(crate) fn put_le32(&mut self, offset: usize, value: u32) {
        self.put(offset, &value.to_le_bytes());
    }

    /// Writes 64 bits, little-endian.
    pub(crate) fn put_le64(&mut self, offset: usize, value: u64) {
        self.put(offset, &value.to_le_bytes());
    }

    /// Writes 16 bits, big-endian.
    pub(crate) fn put_be16(&mut self, offset: usize, value: u16) {
        self.put(offset, &value.to_be_bytes());
    }

    /// Writes 32 bits, big-endian.
    pub(crate) fn put_be32(&mut self, offset: usize, value: u32) {
        self.put(offset, &value.to_be_bytes());
    }

    /// Writes 64 bits, big-endian.
    pub(crate) fn put_be64(&mut self, offset: usize, value: u64) {
        self.put(offset, &value.to_be_bytes());
    }
}
