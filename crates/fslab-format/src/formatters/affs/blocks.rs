//! The blocks of an empty AFFS volume as bytes: big-endian words of 32 bits, offsets in words.

use crate::record::Record;

use super::layout::{Layout, RESERVED_BLOCKS, ROOT_BITMAPS, bitmap_bits, extension_entries};

/// Fast File System, international names, no directory cache.
const DOS_TYPE: [u8; 4] = *b"DOS\x03";

const TYPE_HEADER: u32 = 2;
const SUBTYPE_ROOT: u32 = 1;

/// Words of a root block outside its hash table.
const ROOT_WORDS_BESIDES_HASH: u32 = 56;

/// The word of a root block that makes the sum of all words zero.
const ROOT_CHECKSUM_WORD: usize = 5;

/// Longest label in bytes.
pub(super) const LABEL_BYTES_MAX: usize = 30;

/// 1978-01-01, in seconds since 1970.
const AMIGA_EPOCH_UNIX_S: u64 = (8 * 365 + 2) * SECONDS_A_DAY;

const SECONDS_A_DAY: u64 = 86_400;
const SECONDS_A_MINUTE: u64 = 60;
const TICKS_A_SECOND: u64 = 50;

/// The first block of the boot area. Without a checksum the Amiga knows that it has no boot code.
pub(super) fn boot(layout: &Layout) -> Record {
    let mut block = Record::new(layout.block_bytes as usize);
    block.put(0, &DOS_TYPE);
    put_word(&mut block, 2, layout.root);
    block
}

/// The root block: an empty root directory with the addresses of the bitmaps.
pub(super) fn root(layout: &Layout, label: &[u8], created_unix_s: u64) -> Record {
    let mut block = Record::new(layout.block_bytes as usize);
    let words = layout.block_bytes / 4;
    // The fields after the hash table have fixed distances from the end.
    let tail = |from_end: u32| (words - from_end) as usize;
    put_word(&mut block, 0, TYPE_HEADER);
    put_word(&mut block, 3, words - ROOT_WORDS_BESIDES_HASH);
    put_word(&mut block, tail(50), u32::MAX);
    for index in 0..layout.bitmaps.min(ROOT_BITMAPS) {
        put_word(&mut block, tail(49 - index), layout.bitmap(index));
    }
    if layout.extensions > 0 {
        put_word(&mut block, tail(24), layout.extension(0));
    }
    // Last change of the root directory; last change and creation of the volume.
    for from_end in [23, 10, 7] {
        put_date(&mut block, tail(from_end), created_unix_s);
    }
    put_label(&mut block, tail(20) * 4, label);
    put_word(&mut block, tail(1), SUBTYPE_ROOT);
    put_checksum(&mut block, ROOT_CHECKSUM_WORD);
    block
}

/// The bitmap block with this index: a set bit is a free block, the lowest bit of a word is the
/// first block.
pub(super) fn bitmap(layout: &Layout, index: u32) -> Record {
    let bits = bitmap_bits(layout.block_bytes);
    let first = RESERVED_BLOCKS + index * bits;
    let end = (first + bits).min(layout.blocks);
    let used = layout.used();
    let mut block = Record::new(layout.block_bytes as usize);
    for word in 0..(end - first).div_ceil(32) {
        let start = first + word * 32;
        let free = ones(end - start) & !(ones_between(start, used.start, used.end));
        put_word(&mut block, 1 + word as usize, free);
    }
    put_checksum(&mut block, 0);
    block
}

/// The extension block with this index: addresses of the bitmaps beyond those in the root block.
pub(super) fn extension(layout: &Layout, index: u32) -> Record {
    let entries = extension_entries(layout.block_bytes);
    let first = ROOT_BITMAPS + index * entries;
    let mut block = Record::new(layout.block_bytes as usize);
    for entry in 0..entries.min(layout.bitmaps - first) {
        put_word(&mut block, entry as usize, layout.bitmap(first + entry));
    }
    if index + 1 < layout.extensions {
        put_word(&mut block, entries as usize, layout.extension(index + 1));
    }
    block
}

/// A word with the lowest `count` bits set, or all.
fn ones(count: u32) -> u32 {
    u32::MAX
        .checked_shr(32_u32.saturating_sub(count))
        .unwrap_or(0)
}

/// A word for the blocks from `start`, with the bits of blocks `from..to` set.
fn ones_between(start: u32, from: u32, to: u32) -> u32 {
    ones(to.saturating_sub(start)) & !ones(from.saturating_sub(start))
}

fn put_word(block: &mut Record, word: usize, value: u32) {
    block.put_be32(word * 4, value);
}

/// Days since 1978, minutes since midnight, fiftieths of a second in the minute.
fn put_date(block: &mut Record, word: usize, unix_s: u64) {
    let amiga_s = unix_s.saturating_sub(AMIGA_EPOCH_UNIX_S);
    let days = amiga_s / SECONDS_A_DAY;
    let minutes = amiga_s % SECONDS_A_DAY / SECONDS_A_MINUTE;
    let ticks = amiga_s % SECONDS_A_MINUTE * TICKS_A_SECOND;
    for (index, part) in [days, minutes, ticks].into_iter().enumerate() {
        put_word(block, word + index, u32::try_from(part).unwrap_or(u32::MAX));
    }
}

/// A length followed by the characters.
fn put_label(block: &mut Record, offset: usize, label: &[u8]) {
    let length =
        u8::try_from(label.len()).expect("a label was accepted with 30 characters at most");
    block.put_u8(offset, length);
    block.put_padded(offset + 1, LABEL_BYTES_MAX, label, 0);
}

/// Sets the word that makes the sum of all words of the block zero.
fn put_checksum(block: &mut Record, word: usize) {
    put_word(block, word, 0);
    let sum = block
        .as_bytes()
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_be_bytes(*word))
        .fold(0_u32, u32::wrapping_add);
    put_word(block, word, sum.wrapping_neg());
}
