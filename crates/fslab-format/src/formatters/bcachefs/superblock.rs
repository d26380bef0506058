//! The superblock (`struct bch_sb`) with its two fields, the device in the old and in the new form,
//! and the list of superblocks (`struct bch_sb_layout`).

use super::geometry::{Geometry, SECTOR_BYTES, SUPERBLOCK_SECTORS};
use crate::FormatOptions;
use crate::record::Record;

const MAGIC: [u8; 16] = [
    0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef,
];
/// 1.13, of Linux 6.12; the minor number has ten bits.
const METADATA_VERSION: u16 = (1 << 10) | 13;

const LAYOUT_AT: usize = 240;
const LAYOUT_BYTES: usize = 512;
/// End of the fixed part and start of the fields.
const FIELDS_AT: usize = LAYOUT_AT + LAYOUT_BYTES;
/// Length and kind, before every field.
const FIELD_HEAD_BYTES: usize = 8;
const KIND_MEMBERS_OLD: u32 = 1;
const KIND_MEMBERS: u32 = 11;
const MEMBER_OLD_BYTES: usize = 56;
const MEMBER_BYTES: usize = 144;
/// The new field includes the length of a member.
const MEMBERS_BYTES: usize = FIELD_HEAD_BYTES + 8 + MEMBER_BYTES;
const MEMBERS_OLD_BYTES: usize = FIELD_HEAD_BYTES + MEMBER_OLD_BYTES;
const SUPERBLOCK_BYTES: usize = FIELDS_AT + MEMBERS_BYTES + MEMBERS_OLD_BYTES;

/// The features of every file system of this version: by bit, new_siphash 7, new_extent_overwrite
/// 9, btree_ptr_v2 11, extents_above_btree_updates 12, btree_updates_journalled 13, new_varint 15,
/// journal_no_flush 16, alloc_v2 17, extents_across_btree_nodes 18.
const FEATURES: [u32; 9] = [7, 9, 11, 12, 13, 15, 16, 17, 18];
const CRC32C: u64 = 1;
const SIPHASH: u64 = 2;
const ON_ERROR_FIX_SAFE: u64 = 1;
/// Journal, trees and files: by bit, 2, 3 and 4.
const DATA_ALLOWED: u64 = 0b11100;

/// The superblock for sector `sector`.
pub(super) fn superblock(geometry: &Geometry, sector: u64, options: &FormatOptions) -> Record {
    let mut record = Record::new(SUPERBLOCK_BYTES);
    record.put_le16(16, METADATA_VERSION);
    record.put_le16(18, METADATA_VERSION);
    record.put(24, &MAGIC);
    record.put(40, &uuid(options, 1));
    record.put(56, &uuid(options, 0));
    let label = options.label.as_deref().unwrap_or_default();
    record.put_padded(72, 32, label.as_bytes(), 0);
    record.put_le64(104, sector);
    record.put_le16(120, sectors(u64::from(geometry.block_bytes)) as u16);
    record.put_u8(123, 1); // devices
    record.put_le32(124, ((SUPERBLOCK_BYTES - FIELDS_AT) / 8) as u32);
    let nanoseconds = u128::from(options.created_unix_s) * 1_000_000_000;
    record.put_le64(128, nanoseconds as u64);
    record.put_le32(136, (nanoseconds >> 64) as u32);
    record.put_le32(140, 1); // times are kept in nanoseconds
    for (index, word) in flags(geometry).into_iter().enumerate() {
        record.put_le64(144 + 8 * index, word);
    }
    let features = FEATURES.iter().fold(0, |bits, bit| bits | 1 << bit);
    record.put_le64(208, features);
    record.put(LAYOUT_AT, layout(geometry).as_bytes());
    put_members(&mut record, geometry, options);
    let sum = crc32c(&record.as_bytes()[16..]);
    record.put_le64(0, u64::from(sum));
    record
}

/// The list of superblocks.
pub(super) fn layout(geometry: &Geometry) -> Record {
    let mut record = Record::new(LAYOUT_BYTES);
    record.put(0, &MAGIC);
    record.put_u8(17, SUPERBLOCK_SECTORS.ilog2() as u8);
    record.put_u8(18, geometry.superblocks.len() as u8);
    for (index, sector) in geometry.superblocks.into_iter().enumerate() {
        record.put_le64(24 + 8 * index, sector);
    }
    record
}

/// The options with the defaults of bcachefs's own formatter. Neither `initialized` (bit 0 of the
/// first word) nor `clean` (bit 1) is set.
fn flags(geometry: &Geometry) -> [u64; 6] {
    let checksums = CRC32C << 2 | CRC32C << 40 | CRC32C << 44;
    let replicas = 1 << 48 | 1 << 52;
    let copying_reserve_percent = 8;
    let acl = 1 << 56;
    let promote_whole_extents = 1 << 63;
    let node = sectors(geometry.node_bytes) << 12;
    let encoded_extent_sectors_log2 = 7;
    let (inodes_32_bit, replicas_required) = (1 << 8, 1 << 20 | 1 << 24);
    let (shard_inodes, inodes_in_key_cache) = (1 << 28, 1 << 29);
    let (flush_delay_ms, reclaim_delay_ms) = (1000, 100);
    let transaction_names = 1 << 32;
    let allocator_stuck_s = 30;
    [
        checksums
            | ON_ERROR_FIX_SAFE << 8
            | node
            | copying_reserve_percent << 28
            | replicas
            | acl
            | promote_whole_extents,
        SIPHASH | inodes_32_bit | encoded_extent_sectors_log2 << 14 | replicas_required,
        0,
        shard_inodes | inodes_in_key_cache | flush_delay_ms << 30,
        reclaim_delay_ms | transaction_names,
        allocator_stuck_s << 16,
    ]
}

fn put_members(record: &mut Record, geometry: &Geometry, options: &FormatOptions) {
    let member = member(geometry, options);
    put_field_head(record, FIELDS_AT, MEMBERS_BYTES, KIND_MEMBERS);
    record.put_le16(FIELDS_AT + FIELD_HEAD_BYTES, MEMBER_BYTES as u16);
    record.put(FIELDS_AT + FIELD_HEAD_BYTES + 8, member.as_bytes());
    let old = FIELDS_AT + MEMBERS_BYTES;
    put_field_head(record, old, MEMBERS_OLD_BYTES, KIND_MEMBERS_OLD);
    record.put(
        old + FIELD_HEAD_BYTES,
        &member.as_bytes()[..MEMBER_OLD_BYTES],
    );
}

fn put_field_head(record: &mut Record, at: usize, bytes: usize, kind: u32) {
    record.put_le32(at, (bytes / 8) as u32);
    record.put_le32(at + 4, kind);
}

/// The device.
fn member(geometry: &Geometry, options: &FormatOptions) -> Record {
    let mut record = Record::new(MEMBER_BYTES);
    let durability_plus_one = 2;
    record.put(0, &uuid(options, 2));
    record.put_le64(16, geometry.buckets);
    record.put_le16(26, sectors(geometry.bucket_bytes) as u16);
    record.put_le64(40, DATA_ALLOWED << 15 | durability_plus_one << 28);
    record
}

fn sectors(bytes: u64) -> u64 {
    bytes / SECTOR_BYTES
}

/// A UUID of version 4 from the volume's identity; `role` distinguishes the volume's, the internal
/// and the device's.
fn uuid(options: &FormatOptions, role: u8) -> [u8; 16] {
    let mut bytes = options.identity;
    bytes[15] ^= role;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}

/// CRC-32C (Castagnoli), least significant bit first.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |sum: u32| {
        if sum & 1 == 1 {
            sum >> 1 ^ 0x82f6_3b78
        } else {
            sum >> 1
        }
    };
    let add = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum));
    !bytes.iter().fold(u32::MAX, add)
}
