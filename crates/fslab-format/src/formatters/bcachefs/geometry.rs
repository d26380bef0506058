//! Sizes and places on a device.

pub(super) const SECTOR_BYTES: u64 = 512;

/// The list of superblocks, used if the first one is lost.
pub(super) const LAYOUT_SECTOR: u64 = 7;

/// The first superblock.
pub(super) const SUPERBLOCK_SECTOR: u64 = 8;

/// The space of a superblock, which may grow: 1 MiB.
pub(super) const SUPERBLOCK_SECTORS: u64 = 2048;

/// The fewest buckets that the kernel accepts.
const BUCKETS_MIN: u64 = 64;

/// The minimum of bcachefs's own formatter, except on small devices.
const BUCKET_BYTES_LEAST: u64 = 128 << 10;

const NODE_BYTES_MOST: u64 = 256 << 10;

/// The device's description in the superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) block_bytes: u32,
    pub(super) bucket_bytes: u64,
    /// Size of a tree's node.
    pub(super) node_bytes: u64,
    pub(super) buckets: u64,
    /// The sectors of the superblocks.
    pub(super) superblocks: [u64; 3],
}

impl Geometry {
    pub(super) fn new(size: u64, block_bytes: u32) -> Self {
        let bucket_bytes = bucket_bytes(size);
        let second = SUPERBLOCK_SECTOR + SUPERBLOCK_SECTORS;
        let last = size / SECTOR_BYTES - SUPERBLOCK_SECTORS;
        let bucket_sectors = bucket_bytes / SECTOR_BYTES;
        Self {
            block_bytes,
            bucket_bytes,
            node_bytes: bucket_bytes.min(NODE_BYTES_MOST),
            buckets: size / bucket_bytes,
            superblocks: [
                SUPERBLOCK_SECTOR,
                second,
                last / bucket_sectors * bucket_sectors,
            ],
        }
    }
}

/// The bucket size by device size, as in bcachefs's own formatter.
fn bucket_bytes(size: u64) -> u64 {
    let least = (size / (BUCKETS_MIN * BUCKET_BYTES_LEAST)).max(1);
    let scale = (least.ilog2() / 4).max(1).ilog2();
    (BUCKET_BYTES_LEAST << scale).min(BUCKET_BYTES_MOST)
}

pub(super) const BUCKET_BYTES_MOST: u64 = 1 << 20;
