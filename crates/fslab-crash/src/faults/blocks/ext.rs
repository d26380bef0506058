//! ext2, ext3 and ext4: superblock, descriptors, bitmaps and inode tables of each group, and the
//! blocks of each inode. Format: kernel.org, "ext4 Data Structures and Algorithms".
//!
//! The blocks of inodes are extents, or block pointers.

use std::io;

use super::image::{DiskImage, SECTOR_BYTES, number};
use super::kind::{BlockKind, BlockUnit, is_none, unit, unrecognised};
use super::ranges::Ranges;

const MAGIC: u16 = 0xef53;
const INCOMPAT_META_BG: u32 = 0x10;
const INCOMPAT_64BIT: u32 = 0x80;
const RO_SPARSE_SUPER: u32 = 0x1;
/// Most groups: of the largest disks that are judged there are some hundred.
const GROUPS_MAX: u64 = 1 << 16;
const JOURNAL_MAGIC: u32 = 0xc03b_3998;

/// How an ext2, ext3 or ext4 lies on its disk.
pub struct Ext {
    block_bytes: u64,
    ranges: Ranges,
}

/// What a superblock says.
pub(super) struct Super {
    pub(super) block_bytes: u64,
    pub(super) inode_bytes: u64,
    pub(super) inodes_per_group: u64,
    pub(super) journal_inode: u32,
    pub(super) blocks: u64,
    first_data_block: u64,
    blocks_per_group: u64,
    descriptor_bytes: u64,
    has_meta_groups: bool,
    is_sparse: bool,
    reserved_blocks: u64,
}

/// A group's places.
pub(super) struct Group {
    block_bitmap: u64,
    inode_bitmap: u64,
    pub(super) inode_table: u64,
}

impl Super {
    fn read(image: &mut DiskImage) -> io::Result<Self> {
        let bytes = image.bytes(1024, 1024)?;
        let shift = number::le32(&bytes, 0x18);
        if number::le16(&bytes, 0x38) != MAGIC || shift > 6 {
            return Err(is_none("ext2, ext3 or ext4"));
        }
        let incompat = number::le32(&bytes, 0x60);
        let is_wide = incompat & INCOMPAT_64BIT != 0;
        let high = match is_wide {
            true => u64::from(number::le32(&bytes, 0x150)),
            false => 0,
        };
        let inode_bytes = match number::le32(&bytes, 0x4c) {
            0 => 128,
            _ => u64::from(number::le16(&bytes, 0x58)),
        };
        let found = Self {
            block_bytes: 1024 << shift,
            inode_bytes,
            inodes_per_group: number::le32(&bytes, 0x28).into(),
            journal_inode: number::le32(&bytes, 0xe0),
            blocks: high << 32 | u64::from(number::le32(&bytes, 4)),
            first_data_block: number::le32(&bytes, 0x14).into(),
            blocks_per_group: number::le32(&bytes, 0x20).into(),
            descriptor_bytes: match is_wide {
                true => u64::from(number::le16(&bytes, 0xfe)).max(32),
                false => 32,
            },
            has_meta_groups: incompat & INCOMPAT_META_BG != 0,
            is_sparse: number::le32(&bytes, 0x64) & RO_SPARSE_SUPER != 0,
            reserved_blocks: number::le16(&bytes, 0xce).into(),
        };
        let is_sound = found.blocks_per_group > 0
            && (128..=found.block_bytes).contains(&found.inode_bytes)
            && found.groups() <= GROUPS_MAX
            && found.inodes_per_group * found.inode_bytes
                <= found.blocks_per_group * found.block_bytes;
        match is_sound {
            true => Ok(found),
            false => Err(is_none("sound superblock of ext2, ext3 or ext4")),
        }
    }

    fn groups(&self) -> u64 {
        let blocks = self.blocks.saturating_sub(self.first_data_block);
        blocks.div_ceil(self.blocks_per_group)
    }

    fn descriptor_blocks(&self) -> u64 {
        (self.groups() * self.descriptor_bytes).div_ceil(self.block_bytes)
    }

    fn group(&self, group: u64, descriptors: &[u8]) -> Group {
        let at = (group * self.descriptor_bytes) as usize;
        let place = |low: usize, high: usize| {
            let high = match self.descriptor_bytes {
                64.. => u64::from(number::le32(descriptors, at + high)),
                _ => 0,
            };
            high << 32 | u64::from(number::le32(descriptors, at + low))
        };
        Group {
            block_bitmap: place(0, 0x20),
            inode_bitmap: place(4, 0x24),
            inode_table: place(8, 0x28),
        }
    }

    fn has_copy(&self, group: u64) -> bool {
        let is_power = |base: u64| {
            let mut power = base;
            while power < group {
                power *= base;
            }
            power == group
        };
        !self.is_sparse || group <= 1 || [3, 5, 7].into_iter().any(is_power)
    }
}

impl Ext {
    /// The layout of an image.
    pub(super) fn read(image: &mut DiskImage) -> io::Result<Self> {
        let about = Super::read(image)?;
        let mut ranges = Ranges::default();
        let table = about.descriptor_blocks();
        let first = about.first_data_block + 1;
        let bytes = image.bytes(
            first * about.block_bytes,
            (table * about.block_bytes) as usize,
        )?;
        let groups: Vec<Group> = (0..about.groups())
            .map(|it| about.group(it, &bytes))
            .collect();
        for (number, group) in (0..).zip(&groups) {
            ranges.add(group.block_bitmap, 1, BlockKind::Bitmap, "block bitmap");
            ranges.add(group.inode_bitmap, 1, BlockKind::Bitmap, "inode bitmap");
            let inodes = about.inodes_per_group * about.inode_bytes;
            let blocks = inodes.div_ceil(about.block_bytes);
            ranges.add(group.inode_table, blocks, BlockKind::Inode, "inode table");
            if about.has_meta_groups || !about.has_copy(number) {
                continue;
            }
            let place = about.first_data_block + number * about.blocks_per_group;
            let (superblock, descriptors) = match number {
                0 => ("superblock", "group descriptors"),
                _ => ("superblock copy", "copy of group descriptors"),
            };
            ranges.add(place, 1, BlockKind::Superblock, superblock);
            ranges.add(place + 1, table, BlockKind::Descriptor, descriptors);
            let reserved = place + 1 + table;
            let detail = "reserved group descriptors";
            ranges.add(
                reserved,
                about.reserved_blocks,
                BlockKind::Descriptor,
                detail,
            );
        }
        // Blocks of 1 KiB: the boot block is before the superblock.
        let superblock = 1024 / about.block_bytes;
        ranges.add(superblock, 1, BlockKind::Superblock, "superblock");
        Inodes {
            about: &about,
            ranges: &mut ranges,
        }
        .add_all(&groups, image)?;
        Ok(Self {
            block_bytes: about.block_bytes,
            ranges,
        })
    }

    /// The unit of a sector.
    pub(super) fn unit_of(&self, sector: u64, image: &mut DiskImage) -> io::Result<BlockUnit> {
        let block = sector * SECTOR_BYTES / self.block_bytes;
        let offset = block * self.block_bytes;
        match self.ranges.of(block) {
            Some((BlockKind::Journal, _)) => {
                let bytes = image.bytes(offset, 12)?;
                let detail = journal_detail(&bytes);
                Ok(unit(BlockKind::Journal, detail, offset, self.block_bytes))
            }
            Some((kind, detail)) => Ok(unit(kind, detail, offset, self.block_bytes)),
            None => unrecognised(sector, self.block_bytes, image),
        }
    }
}

fn journal_detail(bytes: &[u8]) -> &'static str {
    if number::be32(bytes, 0) != JOURNAL_MAGIC {
        return "journal block";
    }
    match number::be32(bytes, 4) {
        1 => "journal descriptor",
        2 => "journal commit",
        3 | 4 => "journal superblock",
        5 => "journal revocation",
        _ => "journal block",
    }
}

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
