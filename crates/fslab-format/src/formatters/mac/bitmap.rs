//! The bitmap of allocation blocks; an empty volume sets a few bits at both ends.

use std::collections::BTreeMap;
use std::ops::Range;

use fslab_model::Failure;

use crate::Volume;

/// Size of a piece, in memory and of a write.
const PIECE_BYTES: usize = 4096;
const PIECE_BITS: u64 = PIECE_BYTES as u64 * 8;

/// A bitmap with the first block in the most significant bit of its first byte. Only pieces with a
/// bit set take memory, because that of a large volume has hundreds of megabytes.
#[derive(Debug, Default)]
pub(in crate::formatters) struct Bitmap {
    pieces: BTreeMap<u64, Vec<u8>>,
}

impl Bitmap {
    /// Marks `blocks` as in use.
    pub(in crate::formatters) fn set(&mut self, blocks: Range<u64>) {
        for block in blocks {
            let piece = self
                .pieces
                .entry(block / PIECE_BITS)
                .or_insert_with(|| vec![0; PIECE_BYTES]);
            let bit = (block % PIECE_BITS) as usize;
            piece[bit / 8] |= 0x80 >> (bit % 8);
        }
    }

    /// The number of blocks in use.
    pub(in crate::formatters) fn count(&self) -> u64 {
        let bytes = self.pieces.values().flatten();
        bytes.map(|byte| u64::from(byte.count_ones())).sum()
    }

    /// Writes the bitmap to the area of `length` bytes at `offset`, zeros included.
    pub(in crate::formatters) fn write(
        &self,
        volume: &Volume,
        offset: u64,
        length: u64,
    ) -> Result<(), Failure> {
        volume.zero(offset, length)?;
        for (index, piece) in &self.pieces {
            let start = index * PIECE_BYTES as u64;
            let end = length.min(start + PIECE_BYTES as u64);
            volume.write_at(offset + start, &piece[..(end - start) as usize])?;
        }
        Ok(())
    }
}
