//! F2FS: areas by the superblock, and in the main area nodes by their footers. Format:
//! "Documentation/filesystems/f2fs.rst", and f2fs_fs.h for the places of the fields.

use std::io;

use super::image::{DiskImage, SECTOR_BYTES, number};
use super::kind::{BlockKind, BlockUnit, is_none, unit, unrecognised};
use super::ranges::Ranges;

const MAGIC: u32 = 0xf2f5_2010;
const BLOCK_BYTES: u64 = 4096;
/// Where the footer of a node is in its block.
const FOOTER: usize = 4072;
/// Where the names of a block of names are, and its entries.
const NAMES: usize = 30 + 214 * 11;
const ENTRIES: usize = 30;

/// How an F2FS lies on its disk.
pub struct F2fs {
    areas: Ranges,
    /// Blocks of the main area.
    main: (u64, u64),
    nodes_max: u32,
}

impl F2fs {
    /// The layout of an image.
    pub(super) fn read(image: &mut DiskImage) -> io::Result<Self> {
        let bytes = image.bytes(1024, 1024)?;
        if number::le32(&bytes, 0) != MAGIC || number::le32(&bytes, 16) != 12 {
            return Err(is_none("F2FS with blocks of 4 KiB"));
        }
        let place = |at: usize| u64::from(number::le32(&bytes, at));
        let blocks = number::le64(&bytes, 36);
        let (checkpoint, sit, nat) = (place(76), place(80), place(84));
        let (summaries, main) = (place(88), place(92));
        let places = [2, checkpoint, sit, nat, summaries, main, blocks];
        if !places.is_sorted() {
            return Err(is_none("F2FS whose areas are in order"));
        }
        let mut areas = Ranges::default();
        areas.add(0, 1, BlockKind::Superblock, "superblock");
        areas.add(1, 1, BlockKind::Superblock, "superblock copy");
        let kinds = [
            (BlockKind::Descriptor, "checkpoint", checkpoint, sit),
            (BlockKind::Bitmap, "segment information", sit, nat),
            (BlockKind::Tree, "node addresses", nat, summaries),
            (BlockKind::Tree, "segment summary", summaries, main),
        ];
        for (kind, detail, begin, end) in kinds {
            areas.add(begin, end - begin, kind, detail);
        }
        // Of each pair of blocks of node addresses one is used, with 455 entries.
        let nodes_max = (summaries - nat).saturating_mul(455) / 2;
        Ok(Self {
            areas,
            main: (main, blocks),
            nodes_max: u32::try_from(nodes_max).unwrap_or(u32::MAX),
        })
    }

    /// The unit of a sector.
    pub(super) fn unit_of(&self, sector: u64, image: &mut DiskImage) -> io::Result<BlockUnit> {
        let block = sector * SECTOR_BYTES / BLOCK_BYTES;
        let offset = block * BLOCK_BYTES;
        if let Some((kind, detail)) = self.areas.of(block) {
            return Ok(unit(kind, detail, offset, BLOCK_BYTES));
        }
        let bytes = image.bytes(offset, BLOCK_BYTES as usize)?;
        let plain = unrecognised(sector, BLOCK_BYTES, image)?;
        let found = match () {
            () if plain.kind == BlockKind::Data => None,
            () if self.is_node(&bytes) => {
                let is_inode = number::le32(&bytes, FOOTER) == number::le32(&bytes, FOOTER + 4);
                Some(match is_inode {
                    true => (BlockKind::Inode, "inode"),
                    false => (BlockKind::Tree, "node of block addresses"),
                })
            }
            () if is_first_names(&bytes) => Some((BlockKind::Directory, "block of names")),
            () => None,
        };
        Ok(found.map_or(plain, |(kind, detail)| {
            unit(kind, detail, offset, BLOCK_BYTES)
        }))
    }

    fn is_node(&self, block: &[u8]) -> bool {
        let (node, inode) = (number::le32(block, FOOTER), number::le32(block, FOOTER + 4));
        let version = number::le64(block, FOOTER + 12);
        let next = u64::from(number::le32(block, FOOTER + 20));
        let (begin, end) = self.main;
        let is_number = |it: u32| it > 0 && it < self.nodes_max;
        is_number(node)
            && is_number(inode)
            && version > 0
            && (next == 0 || (begin..=end).contains(&next))
    }
}

/// True for the first block of a directory's names, which has `.` first.
fn is_first_names(block: &[u8]) -> bool {
    block[0] & 1 == 1 && number::le16(block, ENTRIES + 8) == 1 && block[NAMES] == b'.'
}
