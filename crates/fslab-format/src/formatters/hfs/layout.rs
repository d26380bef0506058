//! The layout, in sectors and allocation blocks.
//!
//! ```text
//!     boot 0-1 | MDB 2 | bitmap 3 ... | blocks: extents, catalog, free ... | MDB's copy | reserved
//! ```
//! The first allocation block is always at an odd sector. Linux (`hfs_mdb_get`) sets its block size
//! to the largest power of two, up to a page, that divides both this sector's offset and the
//! allocation block. With more than one sector per block, the block of the MDB would include a part
//! of the bitmap, and `hfs_mdb_commit`, which has locked the one, would wait for the other forever.
//!
//! Behind it are the master directory block (MDB), and the catalog's only records: the root
//! directory and its thread.

use crate::formatters::mac::{Leaf, Tree, TreeKind, clump_bytes};
use crate::record::Record;

const SECTOR_BYTES: u64 = 512;
const SECTOR_BITS: u64 = 8 * SECTOR_BYTES;
const BITMAP_SECTOR: u64 = 3;
pub(super) const BITMAP_OFFSET: u64 = BITMAP_SECTOR * SECTOR_BYTES;
/// The MDB's copy and a reserved sector.
const TAIL_SECTORS: u64 = 2;
const MAX_BLOCKS: u64 = 65_535;
/// A single-sided floppy disk.
const MIN_SECTORS: u64 = 800;
/// Fewer would leave no space after the two trees.
const MIN_BLOCKS: u64 = 16;
/// Sector numbers have 32 bits: 2 TiB. Linux looks for the MDB's copy with a signed number. Above 1
/// TiB it does not find it, reports that when it mounts, works without, and does not update the
/// copy.
const MAX_SECTORS: u64 = 1 << 32;
const NODE_BYTES: u16 = 512;

/// The smallest volume.
pub(super) fn min_bytes(block_bytes: Option<u32>) -> u64 {
    let block_sectors = block_bytes.map_or(1, |block| u64::from(block) / SECTOR_BYTES);
    // A bitmap of one sector, so blocks start at sector 5.
    let few = BITMAP_SECTOR + 2 + MIN_BLOCKS * block_sectors + TAIL_SECTORS;
    few.max(MIN_SECTORS) * SECTOR_BYTES
}

/// The largest volume: the most blocks that have numbers, if all of it were blocks, plus less than
/// one more.
pub(super) fn max_bytes(block_bytes: Option<u32>) -> u64 {
    let sectors = block_bytes.map_or(MAX_SECTORS, |block| {
        (MAX_BLOCKS + 1) * (u64::from(block) / SECTOR_BYTES) - 1
    });
    sectors.min(MAX_SECTORS) * SECTOR_BYTES
}

/// The smallest block for which the block numbers suffice if all of the volume were blocks.
/// Checkers compute it so, and report a smaller one as an error.
fn default_block_sectors(sectors: u64) -> u64 {
    // Above `sectors / 65536`, so that the quotient by it is below 65536.
    sectors / (MAX_BLOCKS + 1) + 1
}

/// A volume's geometry.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) block_bytes: u32,
    pub(super) total_blocks: u16,
    /// The sector of the first block.
    pub(super) first_sector: u16,
    /// From block 0 on.
    pub(super) extents_blocks: u16,
    /// After the extents tree.
    pub(super) catalog_blocks: u16,
}

impl Layout {
    /// The geometry of a volume of `size` bytes, which must be valid.
    pub(super) fn new(size: u64, block_bytes: Option<u32>) -> Self {
        let sectors = size / SECTOR_BYTES;
        let block_sectors = block_bytes.map_or_else(
            || default_block_sectors(sectors),
            |block| u64::from(block) / SECTOR_BYTES,
        );
        let block = block_sectors * SECTOR_BYTES;
        let bitmap_sectors = (sectors / block_sectors).div_ceil(SECTOR_BITS);
        // The next odd sector.
        let first_sector = (BITMAP_SECTOR + bitmap_sectors) | 1;
        let total = (sectors - first_sector - TAIL_SECTORS) / block_sectors;
        let clump = |kind| clump_bytes(kind, sectors, u64::from(NODE_BYTES), block) / block;
        let short = |blocks| u16::try_from(blocks).expect("a volume has at most 65,535 blocks");
        Self {
            block_bytes: u32::try_from(block).expect("a block has at most 32 MiB and a sector"),
            total_blocks: short(total),
            first_sector: short(first_sector),
            extents_blocks: short(clump(TreeKind::Extents)),
            catalog_blocks: short(clump(TreeKind::Catalog)),
        }
    }

    /// The number of blocks in use, from block 0 on.
    pub(super) fn used_blocks(&self) -> u64 {
        u64::from(self.extents_blocks) + u64::from(self.catalog_blocks)
    }

    /// The number of free blocks.
    pub(super) fn free_blocks(&self) -> u16 {
        self.total_blocks - self.extents_blocks - self.catalog_blocks
    }

    /// The bitmap's size, a multiple of a sector.
    pub(super) fn bitmap_bytes(&self) -> u64 {
        u64::from(self.total_blocks).div_ceil(SECTOR_BITS) * SECTOR_BYTES
    }

    /// The offset of the extents tree in bytes.
    pub(super) fn extents_offset(&self) -> u64 {
        u64::from(self.first_sector) * SECTOR_BYTES
    }

    /// The offset of the catalog in bytes.
    pub(super) fn catalog_offset(&self) -> u64 {
        self.extents_offset() + self.tree_bytes(self.extents_blocks)
    }

    /// The tree of extents outside the catalog: empty.
    pub(super) fn extents_tree(&self) -> Tree {
        Tree {
            max_key_bytes: 7,
            ..self.tree(self.extents_blocks)
        }
    }

    /// The tree of files and directories: the root directory.
    pub(super) fn catalog_tree(&self, label: &[u8], created: u32) -> Tree {
        Tree {
            max_key_bytes: 37,
            leaf: Some(catalog_leaf(label, created)),
            ..self.tree(self.catalog_blocks)
        }
    }

    fn tree(&self, blocks: u16) -> Tree {
        let file_bytes = self.tree_bytes(blocks);
        Tree {
            node_bytes: NODE_BYTES,
            file_bytes,
            clump_bytes: clump(file_bytes),
            max_key_bytes: 0,
            key_compare: 0,
            attributes: 0,
            leaf: None,
        }
    }

    /// The size of `blocks` blocks.
    pub(super) fn tree_bytes(&self, blocks: u16) -> u64 {
        u64::from(blocks) * u64::from(self.block_bytes)
    }
}

/// A tree grows by its initial size.
pub(super) fn clump(file_bytes: u64) -> u32 {
    u32::try_from(file_bytes).expect("a clump has at most 512 MiB")
}

const ROOT_PARENT_ID: u32 = 1;
const ROOT_ID: u32 = 2;
const FOLDER: u8 = 1;
const FOLDER_THREAD: u8 = 3;
const FOLDER_BYTES: usize = 70;
const THREAD_BYTES: usize = 46;

pub(super) fn catalog_leaf(label: &[u8], created: u32) -> Leaf {
    let mut folder = Record::new(FOLDER_BYTES);
    folder.put_u8(0, FOLDER);
    folder.put_be32(6, ROOT_ID);
    // Created, modified; never backed up.
    folder.put_be32(10, created);
    folder.put_be32(14, created);
    let mut thread = Record::new(THREAD_BYTES);
    thread.put_u8(0, FOLDER_THREAD);
    thread.put_be32(10, ROOT_PARENT_ID);
    thread.put_u8(14, length(label));
    thread.put(15, label);
    let mut leaf = Leaf::default();
    leaf.push(&key(ROOT_PARENT_ID, label), folder.as_bytes());
    leaf.push(&key(ROOT_ID, &[]), thread.as_bytes());
    leaf
}

/// Its length, a reserved byte, the parent, the name's length, the name.
fn key(parent: u32, name: &[u8]) -> Vec<u8> {
    let name_length = length(name);
    [
        &[6 + name_length, 0][..],
        &parent.to_be_bytes(),
        &[name_length],
        name,
    ]
    .concat()
}

fn length(name: &[u8]) -> u8 {
    u8::try_from(name.len()).expect("names have at most 31 characters")
}

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
