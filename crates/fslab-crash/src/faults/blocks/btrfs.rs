//! Btrfs: superblocks by their places, and blocks of trees by the file system's identity in their
//! headers. Format: Btrfs documentation, "On-disk Format".

use std::io;

use super::image::{DiskImage, SECTOR_BYTES, number};
use super::kind::{BlockKind, BlockUnit, is_none, unit, unrecognised};

/// Where superblocks are.
const SUPERBLOCKS: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];
const SUPERBLOCK_BYTES: u64 = 4096;
const MAGIC: &[u8] = b"_BHRfS_M";

/// How a Btrfs lies on its disk.
pub struct Btrfs {
    sector_bytes: u64,
    node_bytes: u64,
    /// The identity of the file system; where it was changed, that of its blocks.
    identities: [Vec<u8>; 2],
}

impl Btrfs {
    /// The layout of an image.
    pub(super) fn read(image: &mut DiskImage) -> io::Result<Self> {
        let bytes = image.bytes(SUPERBLOCKS[0], SUPERBLOCK_BYTES as usize)?;
        let sector_bytes = u64::from(number::le32(&bytes, 0x90));
        let node_bytes = u64::from(number::le32(&bytes, 0x94));
        let is_sound = bytes[0x40..].starts_with(MAGIC)
            && (4096..=65536).contains(&sector_bytes)
            && (4096..=65536).contains(&node_bytes);
        if !is_sound {
            return Err(is_none("Btrfs"));
        }
        let identities = [bytes[0x20..0x30].to_vec(), bytes[0x23b..0x24b].to_vec()];
        Ok(Self {
            sector_bytes,
            node_bytes,
            identities,
        })
    }

    /// The unit of a sector.
    pub(super) fn unit_of(&self, sector: u64, image: &mut DiskImage) -> io::Result<BlockUnit> {
        let offset = sector * SECTOR_BYTES;
        let superblock = SUPERBLOCKS
            .iter()
            .find(|it| (**it..*it + SUPERBLOCK_BYTES).contains(&offset));
        if let Some(place) = superblock {
            let detail = match *place == SUPERBLOCKS[0] {
                true => "superblock",
                false => "superblock copy",
            };
            return Ok(unit(
                BlockKind::Superblock,
                detail,
                *place,
                SUPERBLOCK_BYTES,
            ));
        }
        // Chunks begin at multiples of every size of a node.
        let place = offset / self.node_bytes * self.node_bytes;
        let head = image.bytes(place, 0x70)?;
        let identity = &head[0x20..0x30];
        if self.identities.iter().any(|it| it == identity) {
            let (kind, detail) = owner(number::le64(&head, 0x58));
            return Ok(unit(kind, detail, place, self.node_bytes));
        }
        unrecognised(sector, self.sector_bytes, image)
    }
}

/// The tree that a block is of. Inodes, names and extents of files are all in the tree of a
/// subvolume.
fn owner(tree: u64) -> (BlockKind, &'static str) {
    match tree.cast_signed() {
        1 => (BlockKind::Tree, "root tree"),
        2 => (BlockKind::Bitmap, "extent tree"),
        3 => (BlockKind::Descriptor, "chunk tree"),
        4 => (BlockKind::Descriptor, "device tree"),
        5 | 256.. => (BlockKind::Inode, "subvolume tree"),
        7 => (BlockKind::Tree, "checksum tree"),
        9 => (BlockKind::Tree, "UUID tree"),
        10 => (BlockKind::Bitmap, "free space tree"),
        11 => (BlockKind::Descriptor, "block group tree"),
        -6 => (BlockKind::Journal, "log tree"),
        _ => (BlockKind::Tree, "another tree"),
    }
}
