//! The master directory block.

use super::layout::{BITMAP_OFFSET, Layout, clump};
use crate::record::Record;

/// It fills its sector.
const MDB_BYTES: usize = 512;
/// Cleanly unmounted.
const ATTRIBUTES: u16 = 0x0100;
/// The first id of the user's files and directories.
const FIRST_USER_ID: u32 = 16;
/// The volume's identifier: the last two words of the Finder's eight.
const IDENTIFIER_OFFSET: usize = 116;

pub(super) fn master_directory_block(
    layout: &Layout,
    label: &[u8],
    created: u32,
    identity: [u8; 16],
) -> Record {
    let extents_bytes = clump(layout.tree_bytes(layout.extents_blocks));
    let catalog_bytes = clump(layout.tree_bytes(layout.catalog_blocks));
    let bitmap_sector = u16::try_from(BITMAP_OFFSET / 512).expect("the bitmap is at sector 3");
    let label_length = u8::try_from(label.len()).expect("a label has at most 27 characters");
    let mut mdb = Record::new(MDB_BYTES);
    mdb.put(0, b"BD");
    // Created, modified; never backed up.
    mdb.put_be32(2, created);
    mdb.put_be32(6, created);
    mdb.put_be16(10, ATTRIBUTES);
    mdb.put_be16(14, bitmap_sector);
    mdb.put_be16(18, layout.total_blocks);
    mdb.put_be32(20, layout.block_bytes);
    // Files grow by one block. Mac OS has four and frees the unused ones when a file is closed;
    // Linux does not.
    mdb.put_be32(24, layout.block_bytes);
    mdb.put_be16(28, layout.first_sector);
    mdb.put_be32(30, FIRST_USER_ID);
    mdb.put_be16(34, layout.free_blocks());
    mdb.put_u8(36, label_length);
    mdb.put(37, label);
    mdb.put_be32(74, extents_bytes);
    mdb.put_be32(78, catalog_bytes);
    mdb.put(IDENTIFIER_OFFSET, &identifier(identity));
    mdb.put_be32(130, extents_bytes);
    mdb.put_be16(136, layout.extents_blocks);
    mdb.put_be32(146, catalog_bytes);
    mdb.put_be16(150, layout.extents_blocks);
    mdb.put_be16(152, layout.catalog_blocks);
    mdb
}

/// Zero would mean no identifier.
fn identifier(identity: [u8; 16]) -> [u8; 8] {
    let folded: [u8; 8] = std::array::from_fn(|at| identity[at] ^ identity[at + 8]);
    if folded == [0; 8] { [1; 8] } else { folded }
}
