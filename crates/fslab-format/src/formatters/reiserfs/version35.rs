//! The formatter of format 3.5: superblock, bitmaps and an empty journal.

use fslab_model::{Bytes, Failure};

use super::root::{self, BLOCK_BYTES};
use crate::record::Record;
use crate::{FormatOptions, Formatter, Volume};

const BLOCK_SIZES: [u32; 1] = [BLOCK_BYTES as u32];
/// Blocks that one bitmap describes, itself included.
pub(super) const BLOCKS_PER_BITMAP: u64 = BLOCK_BYTES * 8;
/// The superblock, at 64 KiB.
pub(super) const SUPERBLOCK: u64 = 16;
/// The first bitmap; each other one is the first block of those it describes.
pub(super) const BITMAP_FIRST: u64 = SUPERBLOCK + 1;
pub(super) const JOURNAL_FIRST: u64 = BITMAP_FIRST + 1;
/// The standard journal, the only one of format 3.5.
pub(super) const JOURNAL_BLOCKS: u64 = 8192;
pub(super) const JOURNAL_HEADER: u64 = JOURNAL_FIRST + JOURNAL_BLOCKS;
/// The first free block becomes the tree's only leaf.
pub(super) const ROOT_LEAF: u64 = JOURNAL_HEADER + 1;
/// 33 MiB: slightly more than the journal.
const BLOCKS_MIN: u64 = 8448;
/// The superblock counts bitmaps in 16 bits.
const BITMAPS_MAX: u64 = 65535;

const MAGIC: &[u8; 8] = b"ReIsErFs";
/// Bytes of the superblock; a table of used object ids fills the rest of its block.
const SUPERBLOCK_BYTES: usize = 76;
/// Object ids 1 and 2 are in use: the table has the begin and end of runs.
const OBJECT_IDS: [u32; 2] = [1, 3];
const UNMOUNTED: u16 = 1;
const HASH_R5: u32 = 3;
const TRANSACTION_BLOCKS_MAX: u32 = 1024;
const BATCH_BLOCKS_MAX: u32 = 900;
const COMMIT_AGE_MAX_S: u32 = 30;

/// ReiserFS 3.5.
pub(crate) struct Reiserfs35;

impl Formatter for Reiserfs35 {
    fn name(&self) -> &'static str {
        "reiserfs-3.5"
    }

    fn title(&self) -> &'static str {
        "ReiserFS 3.5"
    }

    fn block_sizes(&self) -> &'static [u32] {
        &BLOCK_SIZES
    }

    fn label_rule(&self) -> &'static str {
        "left out: format 3.5 has no place for one"
    }

    fn accepts_label(&self, _label: &str) -> bool {
        false
    }

    fn limits(&self, _block_bytes: Option<u32>) -> (Bytes, Bytes) {
        let largest = BITMAPS_MAX * BLOCKS_PER_BITMAP * BLOCK_BYTES;
        (Bytes(BLOCKS_MIN * BLOCK_BYTES), Bytes(largest))
    }

    fn write(&self, volume: &Volume, options: &FormatOptions) -> Result<(), Failure> {
        let blocks = volume.size().0 / BLOCK_BYTES;
        // An old journal would be replayed.
        volume.zero(JOURNAL_FIRST * BLOCK_BYTES, JOURNAL_BLOCKS * BLOCK_BYTES)?;
        let journal = journal_header(options);
        volume.write_at(JOURNAL_HEADER * BLOCK_BYTES, journal.as_bytes())?;
        let leaf = root::leaf(options.created_unix_s);
        volume.write_at(ROOT_LEAF * BLOCK_BYTES, leaf.as_bytes())?;
        let mut used = 0;
        for index in 0..blocks.div_ceil(BLOCKS_PER_BITMAP) {
            let (place, bitmap, count) = bitmap(index, blocks);
            volume.write_at(place * BLOCK_BYTES, bitmap.as_bytes())?;
            used += count;
        }
        let superblock = superblock(blocks, blocks - used, options);
        volume.write_at(SUPERBLOCK * BLOCK_BYTES, superblock.as_bytes())
    }
}

/// Bitmap `index`: its block, its content, and its number of used blocks on the volume.
fn bitmap(index: u64, blocks: u64) -> (u64, Record, u64) {
    let first = index * BLOCKS_PER_BITMAP;
    let (place, used) = match index {
        0 => (BITMAP_FIRST, ROOT_LEAF + 1),
        _ => (first, 1),
    };
    let length = (blocks - first).min(BLOCKS_PER_BITMAP);
    let mut record = Record::new(BLOCK_BYTES as usize);
    // Blocks after the volume's end count as used.
    for range in [0..used, length..BLOCKS_PER_BITMAP] {
        put_ones(&mut record, range);
    }
    (place, record, used)
}

fn put_ones(record: &mut Record, bits: std::ops::Range<u64>) {
    let mut bit = bits.start;
    while bit < bits.end {
        let end = bits.end.min(bit / 8 * 8 + 8);
        let ones = ((1u16 << (end - bit)) - 1) << (bit % 8);
        let byte = (bit / 8) as usize;
        record.put_u8(byte, record.as_bytes()[byte] | ones as u8);
        bit = end;
    }
}

fn superblock(blocks: u64, free: u64, options: &FormatOptions) -> Record {
    let mut record = Record::new(BLOCK_BYTES as usize);
    record.put_le32(0, blocks as u32);
    record.put_le32(4, free as u32);
    record.put_le32(8, ROOT_LEAF as u32);
    put_journal_parameters(&mut record, 12, options);
    record.put_le16(44, BLOCK_BYTES as u16);
    let ids_max = (BLOCK_BYTES as usize - SUPERBLOCK_BYTES) / 8 * 2;
    record.put_le16(46, ids_max as u16);
    record.put_le16(48, OBJECT_IDS.len() as u16);
    record.put_le16(50, UNMOUNTED);
    record.put(52, MAGIC);
    record.put_le32(64, HASH_R5);
    record.put_le16(68, 2); // the tree's height: a leaf counts as two
    record.put_le16(70, blocks.div_ceil(BLOCKS_PER_BITMAP) as u16);
    for (index, id) in OBJECT_IDS.into_iter().enumerate() {
        record.put_le32(SUPERBLOCK_BYTES + 4 * index, id);
    }
    record
}

/// A journal without transactions to replay.
fn journal_header(options: &FormatOptions) -> Record {
    let mut record = Record::new(BLOCK_BYTES as usize);
    put_journal_parameters(&mut record, 12, options);
    record
}

fn put_journal_parameters(record: &mut Record, at: usize, options: &FormatOptions) {
    let id = options.identity;
    record.put_le32(at, JOURNAL_FIRST as u32);
    record.put_le32(at + 8, JOURNAL_BLOCKS as u32);
    record.put_le32(at + 12, TRANSACTION_BLOCKS_MAX);
    record.put_le32(at + 16, u32::from_le_bytes([id[0], id[1], id[2], id[3]]));
    record.put_le32(at + 20, BATCH_BLOCKS_MAX);
    record.put_le32(at + 24, COMMIT_AGE_MAX_S);
}
