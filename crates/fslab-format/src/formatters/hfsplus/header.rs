//! The volume header.

use super::formatter::Variant;
use super::layout::{Extent, Layout};
use crate::record::Record;

/// It fills its sector.
const HEADER_BYTES: usize = 512;
/// Cleanly unmounted; unused nodes are zero.
const ATTRIBUTES: u32 = 0x8000_0100;
/// The program that wrote the volume last, as in `newfs_hfs`: `10.0`.
const LAST_MOUNTED: u32 = u32::from_be_bytes(*b"10.0");
/// The first id of the user's files and directories.
const FIRST_USER_ID: u32 = 16;
/// `MacRoman` is the only encoding in use.
const ENCODINGS: u64 = 1;
/// The volume's identifier: the last two words of the Finder's eight.
const IDENTIFIER_OFFSET: usize = 104;

pub(super) fn volume_header(
    variant: Variant,
    layout: &Layout,
    free_blocks: u32,
    created: u32,
    identity: [u8; 16],
) -> Record {
    let (signature, version) = match variant {
        Variant::HfsPlus => (b"H+", 4),
        Variant::Hfsx => (b"HX", 5),
    };
    let block = layout.block_bytes;
    let mut header = Record::new(HEADER_BYTES);
    header.put(0, signature);
    header.put_be16(2, version);
    header.put_be32(4, ATTRIBUTES);
    header.put_be32(8, LAST_MOUNTED);
    // Created, modified, never backed up, checked.
    header.put_be32(16, created);
    header.put_be32(20, created);
    header.put_be32(28, created);
    header.put_be32(40, block);
    header.put_be32(44, layout.total_blocks);
    header.put_be32(48, free_blocks);
    header.put_be32(52, layout.next_allocation);
    // Files grow by one block. newfs_hfs writes 64 KiB, which macOS frees when a file is closed and
    // Linux does not: 6,841 files of 4 KiB filled 428 MiB.
    header.put_be32(56, block);
    header.put_be32(60, block);
    header.put_be32(64, FIRST_USER_ID);
    header.put_be64(72, ENCODINGS);
    header.put(IDENTIFIER_OFFSET, &identifier(identity));
    put_fork(&mut header, 112, layout, layout.allocation);
    put_fork(&mut header, 192, layout, layout.extents);
    put_fork(&mut header, 272, layout, layout.catalog);
    put_fork(&mut header, 352, layout, layout.attributes);
    header
}

/// Special files fill their blocks and grow by their initial size.
fn put_fork(header: &mut Record, offset: usize, layout: &Layout, extent: Extent) {
    let bytes = layout.bytes(extent);
    let word = |value| u32::try_from(value).expect("special files have at most 512 MiB");
    header.put_be64(offset, bytes);
    header.put_be32(offset + 8, word(bytes));
    header.put_be32(offset + 12, word(extent.blocks));
    header.put_be32(offset + 16, word(extent.start));
    header.put_be32(offset + 20, word(extent.blocks));
}

/// Zero would mean no identifier.
fn identifier(identity: [u8; 16]) -> [u8; 8] {
    let folded: [u8; 8] = std::array::from_fn(|at| identity[at] ^ identity[at + 8]);
    if folded == [0; 8] { [1; 8] } else { folded }
}
