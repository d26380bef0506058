//! The layout of an empty AFFS volume, in blocks. No I/O.
//!
//! The root block is found by the volume's size alone: a reader takes the middle, and tries one
//! block size after the other. So this arithmetic must agree exactly with that of the Amiga and of
//! the kernel.

use std::ops::Range;

use fslab_model::Bytes;

/// Block sizes that the kernel tries, in ascending order.
pub(super) const BLOCK_SIZES: [u32; 4] = [512, 1024, 2048, 4096];

/// Blocks at the front, outside the bitmaps.
pub(super) const RESERVED_BLOCKS: u32 = 2;

/// Addresses of bitmap blocks in the root block.
pub(super) const ROOT_BITMAPS: u32 = 25;

/// The fewest blocks; even an empty file or directory takes one.
const BLOCKS_MIN: u64 = 256;

/// The kernel counts sectors of 512 bytes in a signed 32-bit integer.
const SECTORS_MAX: u64 = (1 << 31) - 1;

/// The kernel has 8 bytes for each bitmap block in one allocation of at most 4 MiB.
const BITMAPS_MAX: u64 = (4 << 20) / 8;

/// Most blocks of a volume before the next larger block size is the default.
const BLOCKS_PREFERRED: u64 = 1 << 27;

const SECTOR_BYTES: u64 = 512;

/// The layout of one volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) block_bytes: u32,
    /// Complete blocks on the volume.
    pub(super) blocks: u32,
    /// The root block; bitmap and extension blocks follow it.
    pub(super) root: u32,
    /// The number of bitmap blocks.
    pub(super) bitmaps: u32,
    /// The number of extension blocks.
    pub(super) extensions: u32,
}

impl Layout {
    /// The layout of a volume with a valid size.
    pub(super) fn new(size: Bytes, block_bytes: u32) -> Self {
        let blocks = u32::try_from(size.0 / u64::from(block_bytes))
            .expect("the limits keep the count of blocks below 2^31");
        let bitmaps = (blocks - RESERVED_BLOCKS).div_ceil(bitmap_bits(block_bytes));
        let extensions = bitmaps
            .saturating_sub(ROOT_BITMAPS)
            .div_ceil(extension_entries(block_bytes));
        Self {
            block_bytes,
            blocks,
            root: (RESERVED_BLOCKS + blocks - 1) / 2,
            bitmaps,
            extensions,
        }
    }

    /// The block of the bitmap with this index.
    pub(super) fn bitmap(&self, index: u32) -> u32 {
        self.root + 1 + index
    }

    /// The block of the extension with this index.
    pub(super) fn extension(&self, index: u32) -> u32 {
        self.root + 1 + self.bitmaps + index
    }

    /// The blocks in use on the empty volume.
    pub(super) fn used(&self) -> Range<u32> {
        self.root..self.extension(self.extensions)
    }

    /// The offset of a block in bytes.
    pub(super) fn offset(&self, block: u32) -> u64 {
        u64::from(block) * u64::from(self.block_bytes)
    }
}

/// Blocks that one bitmap block describes; its first word is the checksum.
pub(super) fn bitmap_bits(block_bytes: u32) -> u32 {
    block_bytes * 8 - 32
}

/// Addresses of bitmap blocks in one extension block; its last word is the address of the next.
pub(super) fn extension_entries(block_bytes: u32) -> u32 {
    block_bytes / 4 - 1
}

/// The smallest and the largest volume with this block size.
pub(super) fn limits(block_bytes: u32) -> (Bytes, Bytes) {
    let block = u64::from(block_bytes);
    // The middle is computed from one sector more than the volume has.
    let by_sectors = match block {
        SECTOR_BYTES => SECTORS_MAX - 1,
        _ => SECTORS_MAX,
    };
    let by_bitmaps = u64::from(RESERVED_BLOCKS) + BITMAPS_MAX * u64::from(bitmap_bits(block_bytes));
    let maximum = (by_sectors * SECTOR_BYTES).min(by_bitmaps * block);
    (Bytes(BLOCKS_MIN * block), Bytes(maximum))
}

/// The default block size: the Amiga's 512 bytes up to 64 GiB. Beyond there would be too many
/// bitmaps, because the kernel reads all of them when it mounts.
pub(super) fn default_block_bytes(size: Bytes) -> u32 {
    let [rest @ .., largest] = BLOCK_SIZES;
    rest.into_iter()
        .find(|block| size.0 <= BLOCKS_PREFERRED * u64::from(*block))
        .unwrap_or(largest)
}

/// The bytes in which a reader looks for the root block with any block size; the kernel also looks
/// one block further.
pub(super) fn root_candidates(size: Bytes) -> Range<u64> {
    let spans = BLOCK_SIZES.map(|block| {
        let block = u64::from(block);
        let middle = size.0 / block / 2;
        (middle * block, (middle + 3) * block)
    });
    let start = spans.iter().map(|span| span.0).min().unwrap_or(0);
    let end = spans.iter().map(|span| span.1).max().unwrap_or(0);
    start..end.min(size.0)
}
