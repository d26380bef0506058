//! The pool of data for writing, and the comparison of read data with it.

use std::cell::Cell;

use fslab_sys::{CallBatch, PageBuffer};

use super::Content;
use super::stamp::{STAMP_BYTES, Stamp};
use fslab_stats::{Random, mix};

/// Distance of stamps in bytes.
pub(crate) const BLOCK_BYTES: usize = 4096;
const BLOCK: u64 = BLOCK_BYTES as u64;
/// Distinct blocks: 1 MiB, as much as any common file system compresses at once, small enough for
/// the processor's cache, and a power of two, so that locating a block needs no division. Beyond it
/// the stamps make blocks unique.
const POOL_BLOCKS: u64 = 256;
/// Bytes of a mismatch in the message.
const SHOWN_BYTES: usize = 16;

/// The identity of contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    /// The file's number: a hash of its path, or of its position in a tree.
    pub(crate) file: u64,
    /// How often its contents were replaced before.
    pub(crate) generation: u32,
}

/// Random blocks, made before the measurement.
pub(crate) struct DataPool {
    seed: u64,
    content: Content,
    blocks: PageBuffer,
    /// Start of a duplicate block, where others have a stamp.
    duplicate_head: [u8; STAMP_BYTES],
}

impl DataPool {
    /// A pool for records of up to `record_bytes`.
    pub(crate) fn new(seed: u64, content: Content, record_bytes: usize) -> Self {
        // A record may start anywhere in the last block.
        let slack = record_bytes.div_ceil(BLOCK_BYTES) + 1;
        let distinct = POOL_BLOCKS as usize * BLOCK_BYTES;
        let mut blocks = PageBuffer::zeroed(distinct + slack * BLOCK_BYTES);
        let mut random = Random::new(seed, 0x706f_6f6c);
        let zeros = BLOCK_BYTES * usize::from(content.compressible_percent.min(100)) / 100;
        let filled = (BLOCK_BYTES - zeros).next_multiple_of(8);
        let mut duplicate = [0; BLOCK_BYTES];
        random.fill(&mut duplicate[..filled]);
        for (index, block) in (0..POOL_BLOCKS).zip(blocks.chunks_exact_mut(BLOCK_BYTES)) {
            if is_duplicate(content, index) {
                block.copy_from_slice(&duplicate);
            } else {
                random.fill(&mut block[..filled]);
            }
        }
        let (first, again) = blocks.split_at_mut(distinct);
        for again in again.chunks_mut(distinct) {
            again.copy_from_slice(&first[..again.len()]);
        }
        let mut duplicate_head = [0; STAMP_BYTES];
        duplicate_head.copy_from_slice(&duplicate[..STAMP_BYTES]);
        Self {
            seed,
            content,
            blocks,
            duplicate_head,
        }
    }

    /// The `length` bytes of `identity` at `offset`, stamped in place.
    #[inline]
    pub(crate) fn slice(&mut self, identity: FileIdentity, offset: u64, length: usize) -> &[u8] {
        let Self { seed, content, .. } = *self;
        let (start, stamps) = Stamps { seed, content }.of(identity, offset, length);
        for (at, stamp) in stamps {
            self.blocks[at..at + STAMP_BYTES].copy_from_slice(&stamp);
        }
        &self.blocks[start..][..length]
    }

    /// The pool for writes that are issued together.
    pub(crate) fn shared(&mut self) -> SharedPool<'_> {
        let Self { seed, content, .. } = *self;
        SharedPool {
            stamps: Stamps { seed, content },
            blocks: Cell::from_mut(&mut *self.blocks).as_slice_of_cells(),
        }
    }

    /// Compares `found`, read at `offset`, a multiple of 4 KiB, with the contents of `identity`;
    /// with `older`, also with those of earlier generations.
    #[inline]
    pub(crate) fn verify(
        &self,
        identity: FileIdentity,
        older: bool,
        offset: u64,
        found: &[u8],
    ) -> Result<(), String> {
        for (block, found) in (offset / BLOCK..).zip(found.chunks(BLOCK_BYTES)) {
            let generation = if older {
                self.generation_of(identity, block, found)
            } else {
                identity.generation
            };
            let identity = FileIdentity {
                generation,
                ..identity
            };
            let pool_block = pool_block(self.seed, identity, block);
            let body = &self.blocks[pool_block as usize * BLOCK_BYTES..][..found.len()];
            let head = self.head(identity, block, pool_block);
            let stamped = found.len().min(STAMP_BYTES);
            if found[..stamped] != head[..stamped] || found[stamped..] != body[stamped..] {
                return Err(self.mismatch(identity, block, found));
            }
        }
        Ok(())
    }

    fn head(&self, identity: FileIdentity, block: u64, pool_block: u64) -> [u8; STAMP_BYTES] {
        if is_duplicate(self.content, pool_block) {
            self.duplicate_head
        } else {
            stamp(identity, block, pool_block).encode(self.seed)
        }
    }

    /// The generation in the stamp of `found`, if it is an earlier one of this block.
    fn generation_of(&self, identity: FileIdentity, block: u64, found: &[u8]) -> u32 {
        Stamp::decode(found, self.seed)
            .filter(|stamp| stamp.file == identity.file && stamp.offset == block * BLOCK)
            .map_or(identity.generation, |stamp| {
                stamp.generation.min(identity.generation)
            })
    }

    #[cold]
    fn mismatch(&self, identity: FileIdentity, block: u64, found: &[u8]) -> String {
        let pool_block = pool_block(self.seed, identity, block);
        let mut expected = self.blocks[pool_block as usize * BLOCK_BYTES..][..BLOCK_BYTES].to_vec();
        expected[..STAMP_BYTES].copy_from_slice(&self.head(identity, block, pool_block));
        let at = expected
            .iter()
            .zip(found)
            .position(|(a, b)| a != b)
            .unwrap_or(0);
        let end = (at + SHOWN_BYTES).min(found.len());
        let mut text = format!(
            "wrong data at offset {}: expected {}, found {}",
            block * BLOCK + at as u64,
            fslab_model::hexadecimal(&expected[at..end]),
            fslab_model::hexadecimal(&found[at..end]),
        );
        let found_stamp = Stamp::decode(found, self.seed);
        let note = match found_stamp {
            Some(stamp) if stamp.file != identity.file => {
                "; the block belongs to another file".to_owned()
            }
            Some(stamp) if stamp.offset != block * BLOCK => {
                format!("; the block belongs at offset {}", stamp.offset)
            }
            Some(stamp) if stamp.generation != identity.generation => format!(
                "; the block is of generation {}, not {}",
                stamp.generation, identity.generation
            ),
            _ if found.iter().all(|byte| *byte == 0) => "; the block is zero".to_owned(),
            _ => String::new(),
        };
        text.push_str(&note);
        text
    }
}

/// The pool while several writes refer to it: a block that is in two of them gets the stamp of each
/// just before that one.
#[derive(Clone, Copy)]
pub(crate) struct SharedPool<'b> {
    stamps: Stamps,
    blocks: &'b [Cell<u8>],
}

impl<'b> SharedPool<'b> {
    /// The `length` bytes of `identity` at `offset`, which the calls put into `batch` stamp.
    pub(crate) fn slice(
        self,
        batch: &mut CallBatch<'b>,
        identity: FileIdentity,
        offset: u64,
        length: usize,
    ) -> &'b [Cell<u8>] {
        let (start, stamps) = self.stamps.of(identity, offset, length);
        for (at, stamp) in stamps {
            let head = self.blocks[at..].first_chunk();
            batch.copy(head.expect("a block is longer"), stamp);
        }
        &self.blocks[start..][..length]
    }
}

/// Makes the stamps of a pool.
#[derive(Clone, Copy)]
struct Stamps {
    seed: u64,
    content: Content,
}

impl Stamps {
    /// Where `length` bytes at `offset` begin in the pool, and their stamps, each with its place.
    #[inline]
    fn of(
        self,
        identity: FileIdentity,
        offset: u64,
        length: usize,
    ) -> (usize, impl Iterator<Item = (usize, [u8; STAMP_BYTES])>) {
        let within = (offset % BLOCK) as usize;
        let first = offset / BLOCK;
        let pool_first = pool_block(self.seed, identity, first);
        let blocks = 0..(within + length).div_ceil(BLOCK_BYTES) as u64;
        let stamps = blocks.filter_map(move |turn| {
            // After the last distinct block the pool repeats its first ones.
            let pool_block = (pool_first + turn) % POOL_BLOCKS;
            if is_duplicate(self.content, pool_block) {
                return None;
            }
            let stamp = stamp(identity, first + turn, pool_block).encode(self.seed);
            Some(((pool_first + turn) as usize * BLOCK_BYTES, stamp))
        });
        (pool_first as usize * BLOCK_BYTES + within, stamps)
    }
}

#[inline]
fn pool_block(seed: u64, identity: FileIdentity, block: u64) -> u64 {
    let start = mix(identity.file ^ seed, u64::from(identity.generation));
    start.wrapping_add(block) % POOL_BLOCKS
}

#[inline]
fn stamp(identity: FileIdentity, block: u64, pool_block: u64) -> Stamp {
    Stamp {
        file: identity.file,
        offset: block * BLOCK,
        generation: identity.generation,
        pool_block: pool_block as u32,
    }
}

/// True for the duplicate blocks of the pool, which are spread evenly.
#[inline]
fn is_duplicate(content: Content, pool_block: u64) -> bool {
    let percent = u64::from(content.duplicate_percent);
    pool_block * percent % 100 < percent
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    const FILE: FileIdentity = FileIdentity {
        file: 42,
        generation: 1,
    };

    fn pool() -> DataPool {
        DataPool::new(7, Content::default(), 1 << 20)
    }

    fn contents(pool: &mut DataPool, record_bytes: usize, file_bytes: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < file_bytes {
            let length = record_bytes.min(file_bytes - bytes.len());
            bytes.extend_from_slice(pool.slice(FILE, bytes.len() as u64, length));
        }
        bytes
    }

    #[test]
    fn the_content_does_not_depend_on_the_records_it_is_written_in() {
        let mut pool = pool();
        // Longer than the pool, to cross its end.
        let length = 2 << 20;
        let expected = contents(&mut pool, 1 << 20, length);
        for record_bytes in [1000, 4096, 5000, 65_536] {
            assert!(
                contents(&mut pool, record_bytes, length) == expected,
                "{record_bytes}"
            );
        }
        pool.verify(FILE, false, 0, &expected)
            .expect("what was written");
    }

    #[test]
    fn no_block_of_a_file_repeats() {
        let bytes = contents(&mut pool(), 1 << 20, 8 << 20);
        let blocks: HashSet<&[u8]> = bytes.chunks(BLOCK_BYTES).collect();
        assert_eq!(blocks.len(), bytes.len() / BLOCK_BYTES);
    }

    #[test]
    fn compressible_and_duplicate_data_have_the_requested_share() {
        let content = Content {
            compressible_percent: 75,
            duplicate_percent: 40,
        };
        let mut pool = DataPool::new(7, content, 4096);
        let bytes = contents(&mut pool, 4096, 4 << 20);
        let zeros = bytes.iter().filter(|byte| **byte == 0).count() * 100 / bytes.len();
        assert!((73..=76).contains(&zeros), "{zeros} % zeros");
        let distinct: HashSet<&[u8]> = bytes.chunks(BLOCK_BYTES).collect();
        let duplicate = 100 - distinct.len() * 100 / (bytes.len() / BLOCK_BYTES);
        assert!((39..=41).contains(&duplicate), "{duplicate} % duplicates");
        pool.verify(FILE, false, 0, &bytes)
            .expect("what was written");
    }

    proptest! {
        #[test]
        fn a_flipped_bit_is_found_where_it_is(at in 0_usize..50_000, bit in 0_u8..8) {
            let mut pool = pool();
            let mut bytes = contents(&mut pool, 50_000, 50_000);
            prop_assert_eq!(pool.verify(FILE, false, 0, &bytes), Ok(()));
            bytes[at] ^= 1 << bit;
            let message = pool.verify(FILE, false, 0, &bytes).expect_err("flipped");
            let place = format!("wrong data at offset {at}: ");
            prop_assert!(message.starts_with(&place), "{}", message);
        }
    }

    #[test]
    fn a_misplaced_block_is_reported_with_its_offset() {
        let mut pool = pool();
        let other = FileIdentity { file: 43, ..FILE };
        let foreign = pool.slice(other, 0, 4096).to_vec();
        let message = pool.verify(FILE, false, 0, &foreign).expect_err("foreign");
        assert!(message.ends_with("belongs to another file"), "{message}");
        let moved = pool.slice(FILE, 8192, 4096).to_vec();
        let message = pool.verify(FILE, false, 0, &moved).expect_err("moved");
        assert!(message.ends_with("belongs at offset 8192"), "{message}");
        let message = pool.verify(FILE, false, 0, &[0; 4096]).expect_err("zeros");
        assert!(message.ends_with("the block is zero"), "{message}");
    }

    #[test]
    fn an_older_generation_is_accepted_only_on_request() {
        let mut pool = pool();
        let old = pool
            .slice(
                FileIdentity {
                    generation: 0,
                    ..FILE
                },
                4096,
                4096,
            )
            .to_vec();
        let message = pool.verify(FILE, false, 4096, &old).expect_err("old");
        assert!(message.ends_with("of generation 0, not 1"), "{message}");
        pool.verify(FILE, true, 4096, &old).expect("accepted");
    }
}
