//! JFS: fixed places at the beginning of the disk, the log by the superblock, inodes by the number
//! of their fileset. Format: "JFS Layout" of IBM, and jfs_filsys.h for the places.

use std::io;

use super::image::{DiskImage, SECTOR_BYTES, number};
use super::kind::{BlockKind, BlockUnit, is_none, unit, unrecognised};
use super::ranges::Ranges;

const BLOCK_BYTES: u64 = 4096;
const SUPERBLOCK: u64 = 0x8000;
/// The number of the only fileset.
const FILESET: u32 = 16;
const INODE_BYTES: usize = 512;

/// How a JFS lies on its disk.
pub struct Jfs {
    ranges: Ranges,
    /// The stamp that all inodes of the file system have.
    stamp: u32,
}

impl Jfs {
    /// The layout of an image.
    pub(super) fn read(image: &mut DiskImage) -> io::Result<Self> {
        let bytes = image.bytes(SUPERBLOCK, 512)?;
        let block_bytes = u64::from(number::le32(&bytes, 16));
        if !bytes.starts_with(b"JFS1") || block_bytes != BLOCK_BYTES {
            return Err(is_none("JFS with blocks of 4 KiB"));
        }
        let mut ranges = Ranges::default();
        ranges.add(8, 1, BlockKind::Superblock, "superblock");
        ranges.add(9, 2, BlockKind::Tree, "aggregate inode map");
        ranges.add(11, 4, BlockKind::Inode, "aggregate inodes");
        ranges.add(15, 1, BlockKind::Superblock, "superblock copy");
        // The block map has a bit for each block, in pages with 8,192 of them, and some more pages
        // with their sums.
        let blocks = number::le64(&bytes, 8) * SECTOR_BYTES / BLOCK_BYTES;
        let pages = blocks.div_ceil(8192) + 4;
        ranges.add(16, pages, BlockKind::Bitmap, "block map");
        // A length of 24 bits, then an address of 40.
        let extent = |at: usize| {
            let word = number::le32(&bytes, at);
            let first = u64::from(word >> 24) << 32 | u64::from(number::le32(&bytes, at + 4));
            (first, u64::from(word & 0xff_ffff))
        };
        let (log, log_blocks) = extent(72);
        ranges.add(log, log_blocks, BlockKind::Journal, "log page");
        let (check, check_blocks) = extent(80);
        ranges.add(check, check_blocks, BlockKind::Other, "room of the checker");
        // The first of the aggregate's inodes.
        let inode = image.bytes(11 * BLOCK_BYTES + INODE_BYTES as u64, INODE_BYTES)?;
        Ok(Self {
            ranges,
            stamp: number::le32(&inode, 0),
        })
    }

    /// The unit of a sector.
    pub(super) fn unit_of(&self, sector: u64, image: &mut DiskImage) -> io::Result<BlockUnit> {
        let block = sector * SECTOR_BYTES / BLOCK_BYTES;
        let offset = block * BLOCK_BYTES;
        if let Some((kind, detail)) = self.ranges.of(block) {
            return Ok(unit(kind, detail, offset, BLOCK_BYTES));
        }
        let bytes = image.bytes(offset, BLOCK_BYTES as usize)?;
        let mut inodes = bytes.chunks_exact(INODE_BYTES);
        let is_inode = |inode: &[u8]| {
            number::le32(inode, 0) == self.stamp && number::le32(inode, 4) == FILESET
        };
        if self.stamp != 0 && inodes.any(is_inode) {
            return Ok(unit(BlockKind::Inode, "inodes", offset, BLOCK_BYTES));
        }
        unrecognised(sector, BLOCK_BYTES, image)
    }
}
