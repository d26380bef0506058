//! Writes blocks to a file and computes the digest of what was written.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use sha2::{Digest, Sha256};

/// Bytes of a block.
pub(super) const BLOCK: u64 = 4096;

/// Writes a file sequentially from its start.
pub(super) struct BlockWriter<'a> {
    out: BufWriter<&'a mut File>,
    digest: Sha256,
    written: u64,
}

impl<'a> BlockWriter<'a> {
    pub(super) fn new(out: &'a mut File) -> Self {
        Self {
            out: BufWriter::with_capacity(1 << 18, out),
            digest: Sha256::new(),
            written: 0,
        }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Fills the block with zeros.
    pub(super) fn pad(&mut self) -> io::Result<()> {
        let missing = self.written.next_multiple_of(BLOCK) - self.written;
        self.put(&[0; BLOCK as usize][..missing as usize])
    }

    /// Bytes written, and their digest.
    pub(super) fn finish(mut self) -> io::Result<(u64, Sha256)> {
        self.out.flush()?;
        Ok((self.written, self.digest))
    }
}
