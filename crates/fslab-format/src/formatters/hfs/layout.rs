//! The layout, in sectors and allocation blocks.
//!
//! ```text
//!     boot 0-1 | MDB 2 | bitmap 3 ... | blocks: extents, catalog, free ... | MDB's copy | reserved
//! ```
//! The first allocation block is always at an odd sector. Linux (`hfs_mdb_get`) sets its block size
//! to the largest power of two, up to a page, that divides both this sector's offset and the
//! allocation block. With more than one sector per block, the block of the MDB would include a part
//! of the bitmap, and `hfs_mdb_commit`, which has locked the one, would wait for the other forever.

use super::catalog::catalog_leaf;
use crate::formatters::mac::{Tree, TreeKind, clump_bytes};

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
