//! The root directory: its inode and its one fragment.

use super::layout::{Layout, ROOT_INODE, Version};
use crate::FormatOptions;
use crate::record::Record;

/// Directories consist of pieces of this size, and no entry crosses their boundaries.
const DIRECTORY_PIECE_BYTES: u16 = 512;
const MODE: u16 = 0o040_755;
/// From its own `.` and `..`.
const LINKS: u16 = 2;
const TYPE_DIRECTORY: u8 = 4;

/// The fragment with the entries `.` and `..`.
pub(super) fn directory(layout: &Layout) -> Record {
    let mut record = Record::new(layout.fragment as usize);
    put_entry(&mut record, 0, 12, b".");
    put_entry(&mut record, 12, DIRECTORY_PIECE_BYTES - 12, b"..");
    record
}

fn put_entry(record: &mut Record, at: usize, length: u16, name: &[u8]) {
    record.put_le32(at, ROOT_INODE);
    record.put_le16(at + 4, length);
    record.put_u8(at + 6, TYPE_DIRECTORY);
    record.put_u8(at + 7, name.len() as u8);
    record.put(at + 8, name);
}

/// The inode (`struct ufs1_dinode`, `struct ufs2_dinode`).
pub(super) fn inode(layout: &Layout, options: &FormatOptions) -> Record {
    let mut record = Record::new(layout.version.inode_bytes() as usize);
    let id = options.identity;
    let generation = u32::from_le_bytes([id[4], id[5], id[6], id[7]]);
    let sectors = layout.fragment / 512;
    let now = options.created_unix_s;
    record.put_le16(0, MODE);
    record.put_le16(2, LINKS);
    match layout.version {
        Version::Ufs1 => {
            record.put_le64(8, u64::from(DIRECTORY_PIECE_BYTES));
            for at in [16, 24, 32] {
                record.put_le32(at, now as u32);
            }
            record.put_le32(40, layout.root_frag());
            record.put_le32(104, sectors);
            record.put_le32(108, generation);
        }
        Version::Ufs2 => {
            record.put_le64(16, u64::from(DIRECTORY_PIECE_BYTES));
            record.put_le64(24, u64::from(sectors));
            for at in [32, 40, 48, 56] {
                record.put_le64(at, now);
            }
            record.put_le32(80, generation);
            record.put_le64(112, u64::from(layout.root_frag()));
        }
    }
    record
}

/// The offset of the inode in bytes.
pub(super) fn inode_offset(layout: &Layout) -> u64 {
    layout.offset(0, layout.inodes_at) + u64::from(ROOT_INODE * layout.version.inode_bytes())
}
