//! XFS: headers of allocation groups by their place, the log by the superblock, and all other
//! blocks by the magic number that each has. Format: "XFS Algorithms & Data Structures".

use std::io;

use super::image::{DiskImage, SECTOR_BYTES, number};
use super::kind::{BlockKind, BlockUnit, is_none, unit, unrecognised};

const RECORD_MAGIC: u32 = 0xfeed_babe;

/// How an XFS lies on its disk.
pub struct Xfs {
    block_bytes: u64,
    sector_bytes: u64,
    group_blocks: u64,
    /// First block of the log on the disk, and the block after it.
    log: (u64, u64),
}

impl Xfs {
    /// The layout of an image.
    pub(super) fn read(image: &mut DiskImage) -> io::Result<Self> {
        let bytes = image.bytes(0, 512)?;
        let block_bytes = u64::from(number::be32(&bytes, 4));
        let sector_bytes = u64::from(number::be16(&bytes, 102));
        let group_blocks = u64::from(number::be32(&bytes, 84));
        let shift = u32::from(bytes[124]);
        let is_sound = bytes.starts_with(b"XFSB")
            && (512..=65536).contains(&block_bytes)
            && (512..=32768).contains(&sector_bytes)
            && group_blocks > 0
            && shift < 32;
        if !is_sound {
            return Err(is_none("XFS"));
        }
        // A block's number is that of its group and that within it.
        let start = number::be64(&bytes, 48);
        let begin = (start >> shift) * group_blocks + (start & ((1 << shift) - 1));
        let blocks = match start {
            // The log is on another device.
            0 => 0,
            _ => u64::from(number::be32(&bytes, 96)),
        };
        Ok(Self {
            block_bytes,
            sector_bytes,
            group_blocks,
            log: (begin, begin.saturating_add(blocks)),
        })
    }

    /// The unit of a sector.
    pub(super) fn unit_of(&self, sector: u64, image: &mut DiskImage) -> io::Result<BlockUnit> {
        let offset = sector * SECTOR_BYTES;
        let header = offset % (self.group_blocks * self.block_bytes) / self.sector_bytes;
        let own = offset / self.sector_bytes * self.sector_bytes;
        let headers = [
            (BlockKind::Superblock, "superblock"),
            (BlockKind::Descriptor, "AGF"),
            (BlockKind::Descriptor, "AGI"),
            (BlockKind::Descriptor, "AGFL"),
        ];
        if let Some((kind, detail)) = headers.get(header as usize) {
            let detail = match (kind, own) {
                (BlockKind::Superblock, 1..) => "superblock copy",
                _ => detail,
            };
            return Ok(unit(*kind, detail, own, self.sector_bytes));
        }
        let block = offset / self.block_bytes;
        let place = block * self.block_bytes;
        let bytes = image.bytes(place, self.block_bytes as usize)?;
        if (self.log.0..self.log.1).contains(&block) {
            let detail = match number::be32(&bytes, 0) {
                RECORD_MAGIC => "log record header",
                _ => "log block",
            };
            return Ok(unit(BlockKind::Journal, detail, place, self.block_bytes));
        }
        match by_magic(&bytes) {
            Some((kind, detail)) => Ok(unit(kind, detail, place, self.block_bytes)),
            None => unrecognised(sector, self.block_bytes, image),
        }
    }
}

fn by_magic(bytes: &[u8]) -> Option<(BlockKind, &'static str)> {
    if bytes.starts_with(b"IN") {
        return Some((BlockKind::Inode, "inodes"));
    }
    let found = match &bytes[..4] {
        b"AB3B" | b"ABTB" => (BlockKind::Bitmap, "free space by block"),
        b"AB3C" | b"ABTC" => (BlockKind::Bitmap, "free space by size"),
        b"IAB3" | b"IABT" => (BlockKind::Bitmap, "inode B-tree"),
        b"FIB3" | b"FIBT" => (BlockKind::Bitmap, "free inode B-tree"),
        b"RMB3" => (BlockKind::Tree, "reverse map"),
        b"R3FC" => (BlockKind::Tree, "reference counts"),
        b"BMA3" | b"BMAP" => (BlockKind::Tree, "extent map"),
        b"XDB3" | b"XD2B" => (BlockKind::Directory, "directory block"),
        b"XDD3" | b"XD2D" => (BlockKind::Directory, "directory data"),
        b"XDF3" | b"XD2F" => (BlockKind::Directory, "directory free space"),
        b"XSLM" => (BlockKind::Data, "symbolic link"),
        // Leaves and nodes have their magic number after two pointers.
        _ => match number::be16(bytes, 8) {
            0x3df1 | 0x3dff | 0xd2f1 | 0xd2ff => (BlockKind::Directory, "directory leaf"),
            0x3ebe | 0xfebe => (BlockKind::Directory, "directory node"),
            0x3bee | 0xfbee => (BlockKind::Tree, "attribute leaf"),
            _ => return None,
        },
    };
    Some(found)
}
