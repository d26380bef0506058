//! The formatter: the device's geometry, and the places of the superblocks.

use fslab_model::{Bytes, Failure};

use super::superblock;
use crate::{FormatOptions, Formatter, Volume};

const BLOCK_SIZES: [u32; 4] = [512, 1024, 2048, 4096];
const BLOCK_DEFAULT: u32 = 4096;
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
const BUCKET_BYTES_MOST: u64 = 1 << 20;
const NODE_BYTES_MOST: u64 = 256 << 10;
/// Below this the kernel has too few buckets for the trees and the journal.
const SIZE_MIN: Bytes = Bytes::mib(32);
/// The kernel counts buckets in 31 bits, of 1 MiB here.
const SIZE_MAX: Bytes = Bytes(((1 << 31) - 65) * BUCKET_BYTES_MOST);
/// The field's length; a final zero is not required.
const LABEL_BYTES_MAX: usize = 32;

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

pub(crate) struct Bcachefs;

impl Formatter for Bcachefs {
    fn name(&self) -> &'static str {
        "bcachefs"
    }

    fn title(&self) -> &'static str {
        "bcachefs"
    }

    fn block_sizes(&self) -> &'static [u32] {
        &BLOCK_SIZES
    }

    fn label_rule(&self) -> &'static str {
        "1 to 32 bytes, no zero"
    }

    fn accepts_label(&self, label: &str) -> bool {
        (1..=LABEL_BYTES_MAX).contains(&label.len()) && !label.contains('\0')
    }

    fn limits(&self, _block_bytes: Option<u32>) -> (Bytes, Bytes) {
        (SIZE_MIN, SIZE_MAX)
    }

    fn write(&self, volume: &Volume, options: &FormatOptions) -> Result<(), Failure> {
        let block = options.block_bytes.unwrap_or(BLOCK_DEFAULT);
        let geometry = Geometry::new(volume.size().0, block);
        let layout = superblock::layout(&geometry);
        volume.write_at(LAYOUT_SECTOR * SECTOR_BYTES, layout.as_bytes())?;
        for &sector in geometry.superblocks.iter().rev() {
            let place = sector * SECTOR_BYTES;
            volume.zero(place, SUPERBLOCK_SECTORS * SECTOR_BYTES)?;
            let superblock = superblock::superblock(&geometry, sector, options);
            volume.write_at(place, superblock.as_bytes())?;
        }
        Ok(())
    }
}
