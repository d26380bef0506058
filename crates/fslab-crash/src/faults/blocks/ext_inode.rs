//! The blocks of the inodes of ext2, ext3 and ext4: extents, or block pointers.

use std::io;

use super::ext::{Group, Super};
use super::image::{DiskImage, number};
use super::kind::BlockKind;
use super::ranges::Ranges;

const ROOT: u64 = 2;
const FIRST_INODE: u64 = 11;
const EXTENTS: u32 = 0x8_0000;
const INLINE_DATA: u32 = 0x1000_0000;
const EXTENT_MAGIC: u16 = 0xf30a;
/// Deepest tree of extents, and of pointers.
const DEPTH_MAX: u16 = 5;
/// Most blocks of trees and pointers that are read.
const NODES_MAX: usize = 1 << 16;

/// Adds the blocks of inodes to ranges.
pub(super) struct Inodes<'a> {
    pub(super) about: &'a Super,
    pub(super) ranges: &'a mut Ranges,
}

/// What the blocks of an inode are.
#[derive(Clone, Copy)]
struct Content {
    kind: BlockKind,
    detail: &'static str,
}

impl Inodes<'_> {
    pub(super) fn add_all(&mut self, groups: &[Group], image: &mut DiskImage) -> io::Result<()> {
        let mut nodes_left = NODES_MAX;
        let size = self.about.inode_bytes as usize;
        for (group, place) in (0_u64..).zip(groups) {
            let bytes = self.about.inodes_per_group as usize * size;
            let offset = place.inode_table.saturating_mul(self.about.block_bytes);
            let table = image.bytes(offset, bytes)?;
            for (index, inode) in (0_u64..).zip(table.chunks_exact(size)) {
                let number = group * self.about.inodes_per_group + index + 1;
                self.add(number, inode, image, &mut nodes_left)?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        inode_number: u64,
        inode: &[u8],
        image: &mut DiskImage,
        nodes_left: &mut usize,
    ) -> io::Result<()> {
        let (mode, links) = (number::le16(inode, 0), number::le16(inode, 0x1a));
        let flags = number::le32(inode, 0x20);
        let is_journal = inode_number == u64::from(self.about.journal_inode);
        let (kind, detail) = match mode & 0xf000 {
            _ if is_journal => (BlockKind::Journal, "journal block"),
            // Of the reserved ones, only the root has blocks that are not counted elsewhere.
            _ if inode_number < FIRST_INODE && inode_number != ROOT => return Ok(()),
            0x4000 => (BlockKind::Directory, "directory"),
            0x8000 => (BlockKind::Data, "data"),
            _ => return Ok(()),
        };
        if links == 0 || flags & INLINE_DATA != 0 {
            return Ok(());
        }
        let content = Content { kind, detail };
        let map = &inode[0x28..0x28 + 60];
        if flags & EXTENTS != 0 {
            return self.add_extents(map, content, DEPTH_MAX, image, nodes_left);
        }
        for at in 0..12 {
            self.add_block(number::le32(map, at * 4), content);
        }
        for depth in 1..=3 {
            let block = number::le32(map, (11 + depth) * 4);
            self.add_pointers(block, depth, content, image, nodes_left)?;
        }
        Ok(())
    }

    fn add_block(&mut self, block: u32, content: Content) {
        if block > 0 && u64::from(block) < self.about.blocks {
            self.ranges
                .add(block.into(), 1, content.kind, content.detail);
        }
    }

    fn add_pointers(
        &mut self,
        block: u32,
        depth: usize,
        content: Content,
        image: &mut DiskImage,
        nodes_left: &mut usize,
    ) -> io::Result<()> {
        if block == 0 || u64::from(block) >= self.about.blocks || *nodes_left == 0 {
            return Ok(());
        }
        *nodes_left -= 1;
        let index = Content {
            kind: BlockKind::Tree,
            detail: "indirect block",
        };
        self.add_block(block, index);
        let offset = u64::from(block) * self.about.block_bytes;
        let bytes = image.bytes(offset, self.about.block_bytes as usize)?;
        for at in 0..bytes.len() / 4 {
            let next = number::le32(&bytes, at * 4);
            match depth {
                1 => self.add_block(next, content),
                _ => self.add_pointers(next, depth - 1, content, image, nodes_left)?,
            }
        }
        Ok(())
    }

    fn add_extents(
        &mut self,
        node: &[u8],
        content: Content,
        depth_left: u16,
        image: &mut DiskImage,
        nodes_left: &mut usize,
    ) -> io::Result<()> {
        let (entries, depth) = (number::le16(node, 2), number::le16(node, 6));
        if number::le16(node, 0) != EXTENT_MAGIC || depth_left == 0 {
            return Ok(());
        }
        for entry in node[12..].chunks_exact(12).take(entries.into()) {
            if depth == 0 {
                // From 32,768 on, an extent is not yet written.
                let blocks = match number::le16(entry, 4) {
                    length @ 0..=0x8000 => length,
                    length => length - 0x8000,
                };
                let high = u64::from(number::le16(entry, 6));
                let first = high << 32 | u64::from(number::le32(entry, 8));
                if first < self.about.blocks {
                    self.ranges
                        .add(first, blocks.into(), content.kind, content.detail);
                }
                continue;
            }
            let high = u64::from(number::le16(entry, 8));
            let block = high << 32 | u64::from(number::le32(entry, 4));
            if block >= self.about.blocks || *nodes_left == 0 {
                continue;
            }
            *nodes_left -= 1;
            self.ranges.add(block, 1, BlockKind::Tree, "extent tree");
            let offset = block * self.about.block_bytes;
            let bytes = image.bytes(offset, self.about.block_bytes as usize)?;
            self.add_extents(&bytes, content, depth_left - 1, image, nodes_left)?;
        }
        Ok(())
    }
}
