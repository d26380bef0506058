//! The superblock (`struct fs`), the same in both formats except for fields that UFS1 has from
//! 4.2BSD, and its recovery record.

use super::group::Counts;
use super::layout::{CLUSTER_SUMS, FRAGS_PER_BLOCK, Layout, SUMMARY_BYTES, Version};
use crate::FormatOptions;
use crate::record::Record;

/// Bytes of `struct fs`.
const STRUCT_BYTES: u32 = 1376;
const MAGIC_UFS1: u32 = 0x0001_1954;
const MAGIC_UFS2: u32 = 0x1954_0119;
/// Percent reserved for root; below 6 Linux optimises for space instead of speed.
const MINFREE_PERCENT: u32 = 8;
/// Largest transfer of FreeBSD.
const TRANSFER_BYTES_MAX: u32 = 1 << 20;
/// Hints for directories: average file size, and files per directory.
const AVERAGE_FILE_BYTES: u32 = 16384;
const AVERAGE_FILES_PER_DIRECTORY: u32 = 64;
/// The flags are in the new field, not in the old byte.
const FLAGS_UPDATED: u8 = 0x80;
/// Inodes and directory entries of 4.4BSD.
const INODE_FORMAT_44: u32 = 2;
const DIRECT_BLOCKS: u64 = 12;
const INDIRECT_LEVELS: u32 = 3;

fn magic(version: Version) -> u32 {
    match version {
        Version::Ufs1 => MAGIC_UFS1,
        Version::Ufs2 => MAGIC_UFS2,
    }
}

/// Bytes of a superblock, in complete fragments.
pub(super) fn superblock_bytes(layout: &Layout) -> u32 {
    STRUCT_BYTES.next_multiple_of(layout.fragment)
}

/// The superblock at byte `place`: the first one, or a copy.
pub(super) fn superblock(
    layout: &Layout,
    total: &Counts,
    options: &FormatOptions,
    place: u64,
) -> Record {
    let mut record = Record::new(superblock_bytes(layout) as usize);
    put_geometry(&mut record, layout);
    put_policy(&mut record, layout);
    if layout.version == Version::Ufs1 {
        put_old_fields(&mut record, layout, total, options);
    }
    let id = options.identity;
    record.put_le32(144, options.created_unix_s as u32);
    record.put_le32(148, u32::from_le_bytes([id[0], id[1], id[2], id[3]]));
    record.put_u8(209, 1); // unmounted in order
    record.put_u8(211, FLAGS_UPDATED);
    let label = options.label.as_deref().unwrap_or_default();
    record.put_padded(680, 32, label.as_bytes(), 0);
    record.put_le64(872, layout.frags); // of the device, as far as the file system goes
    record.put_le64(992, place);
    record.put_le64(1000, u64::from(layout.version.superblock_offset()));
    let counts = [
        total.directories,
        total.free_blocks,
        total.free_inodes,
        total.free_frags,
    ];
    for (index, count) in counts.into_iter().enumerate() {
        record.put_le64(1008 + 8 * index, count);
    }
    record.put_le64(1072, options.created_unix_s);
    record.put_le64(1080, layout.frags);
    record.put_le64(1088, layout.data_frags());
    record.put_le64(1096, u64::from(layout.data_at));
    record.put_le32(1372, magic(layout.version));
    record
}

fn put_geometry(record: &mut Record, layout: &Layout) {
    let version = layout.version;
    record.put_le32(8, layout.superblock_at);
    record.put_le32(12, layout.maps_at);
    record.put_le32(16, layout.inodes_at);
    record.put_le32(20, layout.data_at);
    record.put_le32(44, layout.groups);
    record.put_le32(48, layout.block);
    record.put_le32(52, layout.fragment);
    record.put_le32(56, FRAGS_PER_BLOCK);
    record.put_le32(72, !(layout.block - 1));
    record.put_le32(76, !(layout.fragment - 1));
    record.put_le32(80, layout.block.ilog2());
    record.put_le32(84, layout.fragment.ilog2());
    record.put_le32(96, FRAGS_PER_BLOCK.ilog2());
    record.put_le32(100, (layout.fragment / 512).ilog2());
    record.put_le32(104, superblock_bytes(layout));
    let indirect = layout.block / version.address_bytes();
    record.put_le32(116, indirect);
    record.put_le32(120, layout.inodes_per_block());
    record.put_le32(156, layout.summary_frags() * layout.fragment);
    record.put_le32(160, layout.maps_bytes_rounded());
    record.put_le32(184, layout.inodes_per_group);
    record.put_le32(188, layout.frags_per_group);
    record.put_le32(860, layout.block); // the largest extent
    record.put_le32(1316, CLUSTER_SUMS);
    record.put_le32(1320, 15 * version.address_bytes()); // a symbolic link in the inode itself
    record.put_le64(1328, file_bytes_max(layout.block, indirect));
    record.put_le64(1336, u64::from(layout.block - 1));
    record.put_le64(1344, u64::from(layout.fragment - 1));
}

fn file_bytes_max(block: u32, indirect: u32) -> u64 {
    let (block, indirect) = (u64::from(block), u64::from(indirect));
    let blocks: u64 = (1..=INDIRECT_LEVELS).map(|level| indirect.pow(level)).sum();
    block * (DIRECT_BLOCKS + blocks) - 1
}

fn put_policy(record: &mut Record, layout: &Layout) {
    record.put_le32(60, MINFREE_PERCENT);
    record.put_le32(88, TRANSFER_BYTES_MAX / layout.block);
    record.put_le32(92, layout.block / 8);
    let metadata = layout.frags_per_group * MINFREE_PERCENT / 200;
    record.put_le64(880, u64::from(metadata / FRAGS_PER_BLOCK * FRAGS_PER_BLOCK));
    record.put_le32(1196, AVERAGE_FILE_BYTES);
    record.put_le32(1200, AVERAGE_FILES_PER_DIRECTORY);
}

/// Fields that UFS2 moved or dropped: 32-bit sizes, and a disk with one track per cylinder and one
/// cylinder per group.
fn put_old_fields(record: &mut Record, layout: &Layout, total: &Counts, options: &FormatOptions) {
    let sectors_per_frag = layout.fragment / 512;
    let sectors = layout.frags_per_group * sectors_per_frag;
    record.put_le32(28, u32::MAX);
    record.put_le32(32, options.created_unix_s as u32);
    record.put_le32(36, layout.frags as u32);
    record.put_le32(40, layout.data_frags() as u32);
    record.put_le32(68, 60);
    record.put_le32(124, sectors_per_frag);
    record.put_le32(132, sectors);
    record.put_le32(136, 1);
    record.put_le32(152, layout.data_at);
    record.put_le32(168, sectors);
    record.put_le32(172, sectors);
    record.put_le32(176, layout.groups);
    record.put_le32(180, 1);
    record.put(192, &total.summary());
    record.put_le32(1324, INODE_FORMAT_44);
    record.put_le32(1356, 1);
    record.put_le32(1360, 1);
}

/// The record by which fsck finds the copies of a lost superblock: the last bytes before a UFS2
/// superblock.
pub(super) fn recovery(layout: &Layout) -> Record {
    let mut record = Record::new(20);
    record.put_le32(0, magic(layout.version));
    record.put_le32(4, (layout.fragment / 512).ilog2());
    record.put_le32(8, layout.superblock_at);
    record.put_le32(12, layout.frags_per_group);
    record.put_le32(16, layout.groups);
    record
}

/// Bytes of the table of counts for `groups` groups.
pub(super) fn summary_bytes(groups: u32) -> usize {
    (groups * SUMMARY_BYTES) as usize
}
