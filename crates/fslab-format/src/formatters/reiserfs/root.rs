//! The tree of an empty volume: one leaf with the root directory's stat data and its entries.
//!
//! Since Linux 5.14 a leaf is refused (vs-5150, after reiserfs-5093) if a directory item has less
//! than 24 bytes per entry, the size of an item's head. An entry's head has 16, and format 3.5 does
//! not pad names: mkfs.reiserfs writes `.` and `..` in 35 bytes, while the kernel requires 48.
//! Padding names with zeros to eight bytes, as in format 3.6, is valid in 3.5, too: a name ends at
//! its first zero.

use crate::record::Record;

/// Offset of the items' heads.
const BLOCK_HEAD_BYTES: usize = 24;
const ITEM_HEAD_BYTES: usize = 24;
const STAT_BYTES: usize = 32;
const ENTRY_HEAD_BYTES: usize = 16;
/// Length of a padded name.
const NAME_BYTES: usize = 8;
const ENTRIES: usize = 2;
const DIRECTORY_BYTES: usize = ENTRIES * (ENTRY_HEAD_BYTES + NAME_BYTES);

/// Object ids of the root directory and of its parent, which does not exist.
const ROOT: u32 = 2;
const ROOT_PARENT: u32 = 1;
/// The kinds of items, as the last word of their keys.
const KIND_STAT: u32 = 0;
const KIND_DIRECTORY: u32 = 500;
/// The entry is visible.
const STATE_VISIBLE: u16 = 1 << 2;
const MODE: u16 = 0o040_755;
/// No part of the object is in a direct item.
const NO_DIRECT_BYTES: u32 = u32::MAX;

pub(super) fn leaf(created_unix_s: u64) -> Record {
    let mut record = Record::new(BLOCK_BYTES as usize);
    let stat_at = BLOCK_BYTES as usize - STAT_BYTES;
    let directory_at = stat_at - DIRECTORY_BYTES;
    record.put_le16(0, 1); // leaves have level 1
    record.put_le16(2, 2); // items
    record.put_le16(
        4,
        (directory_at - BLOCK_HEAD_BYTES - 2 * ITEM_HEAD_BYTES) as u16,
    );
    put_item_head(&mut record, 0, [0, KIND_STAT], 0, (stat_at, STAT_BYTES));
    let place = (directory_at, DIRECTORY_BYTES);
    put_item_head(&mut record, 1, [1, KIND_DIRECTORY], ENTRIES as u16, place);
    put_stat(&mut record, stat_at, created_unix_s);
    put_entry(&mut record, directory_at, 0, [ROOT_PARENT, ROOT], b".");
    put_entry(&mut record, directory_at, 1, [0, ROOT_PARENT], b"..");
    record
}

/// A head: the key's offset and kind, and the item's place.
fn put_item_head(
    record: &mut Record,
    index: usize,
    [offset, kind]: [u32; 2],
    entries: u16,
    (place, length): (usize, usize),
) {
    let at = BLOCK_HEAD_BYTES + index * ITEM_HEAD_BYTES;
    record.put_le32(at, ROOT_PARENT);
    record.put_le32(at + 4, ROOT);
    record.put_le32(at + 8, offset);
    record.put_le32(at + 12, kind);
    record.put_le16(at + 16, entries);
    record.put_le16(at + 18, length as u16);
    record.put_le16(at + 20, place as u16);
    record.put_le16(at + 22, 0); // keys of format 3.5
}

fn put_stat(record: &mut Record, at: usize, created_unix_s: u64) {
    record.put_le16(at, MODE);
    record.put_le16(at + 2, ENTRIES as u16); // links
    record.put_le32(at + 8, DIRECTORY_BYTES as u32);
    for field in [12, 16, 20] {
        record.put_le32(at + field, created_unix_s as u32);
    }
    record.put_le32(at + 24, 1); // blocks
    record.put_le32(at + 28, NO_DIRECT_BYTES);
}

/// An entry: names follow all heads, the first entry's last.
fn put_entry(
    record: &mut Record,
    item_at: usize,
    index: usize,
    [parent, object]: [u32; 2],
    name: &[u8],
) {
    let head = item_at + index * ENTRY_HEAD_BYTES;
    let place = DIRECTORY_BYTES - (index + 1) * NAME_BYTES;
    record.put_le32(head, index as u32 + 1); // the place of `.` and `..` instead of a hash
    record.put_le32(head + 4, parent);
    record.put_le32(head + 8, object);
    record.put_le16(head + 12, place as u16);
    record.put_le16(head + 14, STATE_VISIBLE);
    record.put(item_at + place, name);
}

/// The only block size that drivers of the format's time supported.
pub(super) const BLOCK_BYTES: u64 = 4096;
