//! The layout, in allocation blocks.
//!
//! ```text
//!     boot, header | bitmap | extents | attributes | room | catalog | room ... | header's copy
//! ```
//! Order, sizes and the space for the growth of trees are those of `newfs_hfs`. The copy of the
//! header is 1024 bytes before the volume's end, in the last block or, if the size is no multiple
//! of the block, after it; the last block counts as used in either case.
//!
//! Behind it are the volume header, and the catalog's only records: the root directory and its
//! thread.

use std::ops::Range;

use crate::formatters::mac::{BLOCK_SIZES, Leaf, Tree, TreeKind, clump_bytes};
use crate::record::Record;

const SECTOR_BYTES: u64 = 512;
const DEFAULT_BLOCK_BYTES: u32 = 4096;
/// The minimum of `newfs_hfs`.
const MIN_BYTES: u64 = 512 << 10;
/// So many that the trees, of at least one block each, take at most a quarter.
const MIN_BLOCKS: u64 = 16;
const MAX_BLOCKS: u64 = u32::MAX as u64;
/// The smallest volume with larger nodes of the catalog.
const LARGE_BYTES: u64 = 1 << 30;
/// The smallest volume with space for the attributes' growth.
const ROOM_BYTES: u64 = 2 << 20;
/// The smallest volume with space for frequently used files.
const HOT_BYTES: u64 = 10 << 30;
const HOT_MAX_BYTES: u64 = 512 << 20;
/// Clumps of free space after a tree.
const ROOM_CLUMPS: u64 = 10;

/// The smallest volume.
pub(super) fn min_bytes(block_bytes: Option<u32>) -> u64 {
    MIN_BYTES.max(block_bytes.map_or(0, u64::from) * MIN_BLOCKS)
}

/// The largest volume: 2^32 - 1 blocks, plus less than one more.
pub(super) fn max_bytes(block_bytes: Option<u32>) -> u64 {
    let block = u64::from(block_bytes.unwrap_or(BLOCK_SIZES[BLOCK_SIZES.len() - 1]));
    MAX_BLOCKS * block + block - SECTOR_BYTES
}

/// Apple's choice, which allows a volume to grow to eight times its size: 4 KiB below 2 TiB, 8 KiB
/// below 8 TiB, then doubled with each doubling of the size.
fn default_block_bytes(size: u64) -> u32 {
    match size >> 41 {
        0 => DEFAULT_BLOCK_BYTES,
        1..4 => 2 * DEFAULT_BLOCK_BYTES,
        times => (DEFAULT_BLOCK_BYTES << times.ilog2().min(8)).min(1 << 20),
    }
}

/// A run of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) start: u64,
    pub(super) blocks: u64,
}

impl Extent {
    pub(super) fn end(self) -> u64 {
        self.start + self.blocks
    }

    fn range(self) -> Range<u64> {
        self.start..self.end()
    }
}

/// A volume's geometry.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) block_bytes: u32,
    pub(super) total_blocks: u32,
    pub(super) allocation: Extent,
    pub(super) extents: Extent,
    pub(super) attributes: Extent,
    pub(super) catalog: Extent,
    /// The first block of the search for free blocks.
    pub(super) next_allocation: u32,
    catalog_node_bytes: u16,
}

/// Nodes of the extents tree.
const EXTENTS_NODE_BYTES: u16 = 4096;
/// Nodes of the attributes tree.
const ATTRIBUTES_NODE_BYTES: u16 = 8192;

/// The key's own length has 16 bits.
const BIG_KEYS: u32 = 2;
/// Keys of index nodes have variable length.
const VARIABLE_INDEX_KEYS: u32 = 4;
const CASE_FOLDING: u8 = 0xcf;
const BINARY_COMPARE: u8 = 0xbc;

impl Layout {
    /// The geometry of a volume of `size` bytes, which must be valid.
    pub(super) fn new(size: u64, block_bytes: Option<u32>) -> Self {
        let block_bytes = block_bytes.unwrap_or_else(|| default_block_bytes(size));
        let block = u64::from(block_bytes);
        let sectors = size / SECTOR_BYTES;
        let total = size / block;
        let small = block_bytes < DEFAULT_BLOCK_BYTES || size < LARGE_BYTES;
        let catalog_node_bytes = if small { 4096 } else { 8192 };
        let clump = |kind, node| clump_bytes(kind, sectors, u64::from(node), block) / block;

        let after = |before: Extent, blocks| Extent {
            start: before.end(),
            blocks,
        };
        let boot = Extent {
            start: 0,
            blocks: boot_blocks(block),
        };
        let allocation = after(boot, total.div_ceil(8).div_ceil(block));
        let extents = after(allocation, clump(TreeKind::Extents, EXTENTS_NODE_BYTES));
        let attributes = after(extents, clump(TreeKind::Attributes, ATTRIBUTES_NODE_BYTES));
        let mut catalog = after(attributes, clump(TreeKind::Catalog, catalog_node_bytes));
        let end = total - tail_blocks(block);
        let room = ROOM_CLUMPS * attributes.blocks;
        if total * block >= ROOM_BYTES && catalog.end() + room <= end {
            catalog.start += room;
        }
        let mut next = catalog.end() + ROOM_CLUMPS * catalog.blocks;
        if total * block >= HOT_BYTES {
            // Five thousandths, in steps of 1 KiB.
            next += (total * block / 1024 * 5).min(HOT_MAX_BYTES) / block;
        }
        if next >= end {
            next = catalog.end();
        }
        let number = |blocks| u32::try_from(blocks).expect("a volume has fewer than 2^32 blocks");
        Self {
            block_bytes,
            total_blocks: number(total),
            allocation,
            extents,
            attributes,
            catalog,
            next_allocation: number(next),
            catalog_node_bytes,
        }
    }

    /// The offset of `extent` in bytes.
    pub(super) fn offset(&self, extent: Extent) -> u64 {
        extent.start * u64::from(self.block_bytes)
    }

    /// The length of `extent` in bytes.
    pub(super) fn bytes(&self, extent: Extent) -> u64 {
        extent.blocks * u64::from(self.block_bytes)
    }

    /// The blocks in use.
    pub(super) fn used(&self) -> [Range<u64>; 3] {
        let block = u64::from(self.block_bytes);
        let total = u64::from(self.total_blocks);
        [
            0..self.attributes.end(),
            self.catalog.range(),
            total - tail_blocks(block)..total,
        ]
    }

    /// The tree of extents outside the catalog: empty.
    pub(super) fn extents_tree(&self) -> Tree {
        Tree {
            max_key_bytes: 10,
            attributes: BIG_KEYS,
            ..self.tree(self.extents, EXTENTS_NODE_BYTES)
        }
    }

    /// The tree of extended attributes: empty.
    pub(super) fn attributes_tree(&self) -> Tree {
        Tree {
            max_key_bytes: 266,
            attributes: BIG_KEYS | VARIABLE_INDEX_KEYS,
            ..self.tree(self.attributes, ATTRIBUTES_NODE_BYTES)
        }
    }

    /// The tree of files and directories: the root directory.
    pub(super) fn catalog_tree(&self, variant: Variant, label: &[u16], created: u32) -> Tree {
        Tree {
            max_key_bytes: 516,
            attributes: BIG_KEYS | VARIABLE_INDEX_KEYS,
            key_compare: match variant {
                Variant::HfsPlus => CASE_FOLDING,
                Variant::Hfsx => BINARY_COMPARE,
            },
            leaf: Some(catalog_leaf(variant, label, created)),
            ..self.tree(self.catalog, self.catalog_node_bytes)
        }
    }

    fn tree(&self, extent: Extent, node_bytes: u16) -> Tree {
        let file_bytes = self.bytes(extent);
        Tree {
            node_bytes,
            file_bytes,
            clump_bytes: u32::try_from(file_bytes).expect("a clump has at most 512 MiB"),
            max_key_bytes: 0,
            key_compare: 0,
            attributes: 0,
            leaf: None,
        }
    }
}

/// Up to and including the volume header, in the third sector.
fn boot_blocks(block: u64) -> u64 {
    (3 * SECTOR_BYTES).div_ceil(block)
}

/// For the header's copy and the reserved sector after it.
fn tail_blocks(block: u64) -> u64 {
    (2 * SECTOR_BYTES).div_ceil(block)
}

const ROOT_PARENT_ID: u32 = 1;
const ROOT_ID: u32 = 2;
const FOLDER: u16 = 1;
const FOLDER_THREAD: u16 = 3;
const FOLDER_BYTES: usize = 88;
/// HFSX counts the directories in a directory.
const HAS_FOLDER_COUNT: u16 = 0x10;
/// Writable by its owner, root, and readable by all.
const MODE: u16 = 0o040_755;
/// The encoding used last: Unicode.
const ENCODING_UNICODE: u32 = 0x7e;

pub(super) fn catalog_leaf(variant: Variant, label: &[u16], created: u32) -> Leaf {
    let mut folder = Record::new(FOLDER_BYTES);
    folder.put_be16(0, FOLDER);
    folder.put_be32(8, ROOT_ID);
    // Created; contents and attributes changed; read.
    folder.put_be32(12, created);
    folder.put_be32(16, created);
    folder.put_be32(20, created);
    folder.put_be32(24, created);
    folder.put_be16(42, MODE);
    folder.put_be32(80, ENCODING_UNICODE);
    if variant == Variant::Hfsx {
        folder.put_be16(2, HAS_FOLDER_COUNT);
    }
    let name = name_bytes(label);
    let mut thread = Record::new(8 + name.len());
    thread.put_be16(0, FOLDER_THREAD);
    thread.put_be32(4, ROOT_PARENT_ID);
    thread.put(8, &name);
    let mut leaf = Leaf::default();
    leaf.push(&key(ROOT_PARENT_ID, label), folder.as_bytes());
    leaf.push(&key(ROOT_ID, &[]), thread.as_bytes());
    leaf
}

fn key(parent: u32, name: &[u16]) -> Vec<u8> {
    let name = name_bytes(name);
    let length = u16::try_from(4 + name.len()).expect("names have at most 255 units");
    [&length.to_be_bytes()[..], &parent.to_be_bytes(), &name].concat()
}

/// A name preceded by its length in units.
fn name_bytes(name: &[u16]) -> Vec<u8> {
    let length = u16::try_from(name.len()).expect("names have at most 255 units");
    std::iter::once(&length)
        .chain(name)
        .flat_map(|unit| unit.to_be_bytes())
        .collect()
}

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

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    HfsPlus,
    Hfsx,
}
