//! The stamp at the start of every 4 KiB block: identifies file and block.
//!
//! 32 bytes, little-endian: file, offset, generation, sequence number in the pool, check. The check
//! is a hash of the others and the seed, so that a torn stamp, or one of another run, is invalid.

use fslab_stats::mix;

/// Length of a stamp in bytes.
pub(crate) const STAMP_BYTES: usize = 32;

/// The contents of a stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The file's number.
    pub(crate) file: u64,
    /// Offset of the block in the file.
    pub(crate) offset: u64,
    /// How often the file's contents were replaced before.
    pub(crate) generation: u32,
    /// The block of the pool that the data was taken from.
    pub(crate) pool_block: u32,
}

impl Stamp {
    /// The encoded stamp.
    #[inline]
    pub(crate) fn encode(self, seed: u64) -> [u8; STAMP_BYTES] {
        let last = u64::from(self.pool_block) << 32 | u64::from(self.generation);
        let words = [self.file, self.offset, last, self.check(seed)];
        let mut bytes = [0; STAMP_BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Decodes the stamp at the start of `block`; `None` if there is none with this seed.
    #[inline]
    pub(crate) fn decode(block: &[u8], seed: u64) -> Option<Self> {
        let bytes = block.get(..STAMP_BYTES)?;
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at * 8..][..8]);
            u64::from_le_bytes(word)
        };
        let stamp = Self {
            file: word(0),
            offset: word(1),
            generation: (word(2) & 0xffff_ffff) as u32,
            pool_block: (word(2) >> 32) as u32,
        };
        (stamp.check(seed) == word(3)).then_some(stamp)
    }

    #[inline]
    fn check(self, seed: u64) -> u64 {
        let last = u64::from(self.pool_block) << 32 | u64::from(self.generation);
        mix(self.file ^ last.rotate_left(17), self.offset ^ seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_decoded_and_a_flipped_bit_makes_it_invalid() {
        let stamp = Stamp {
            file: 3,
            offset: 8192,
            generation: 2,
            pool_block: 77,
        };
        let bytes = stamp.encode(5);
        assert_eq!(Stamp::decode(&bytes, 5), Some(stamp));
        assert_eq!(Stamp::decode(&bytes, 6), None);
        for bit in 0..STAMP_BYTES * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Stamp::decode(&flipped, 5), None, "bit {bit}");
        }
    }
}
