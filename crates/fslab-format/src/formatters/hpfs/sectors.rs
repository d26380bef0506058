//! The sectors of an empty HPFS volume as bytes: little-endian, offsets in bytes.

use std::ops::Range;

use crate::FormatOptions;
use crate::record::Record;

use super::layout::{
    BAND_SECTORS, BLOCK_SECTORS, HOTFIX_SPARES, Layout, SECTOR_BYTES, SPARE_DNODES,
};

const SECTOR: usize = SECTOR_BYTES as usize;
const BLOCK: usize = SECTOR * BLOCK_SECTORS as usize;

const SUPER_MAGIC: [u32; 2] = [0xf995_e849, 0xfa53_e9c5];
const SPARE_MAGIC: [u32; 2] = [0xf991_1849, 0xfa52_29c5];
const FNODE_MAGIC: u32 = 0xf7e4_0aae;
const DNODE_MAGIC: u32 = 0x77e4_0aae;

/// HPFS has 0x28 where FAT has 0x29.
const BOOT_SIGNATURE: u8 = 0x28;

/// Jumps over the parameters.
const BOOT_JUMP: [u8; 3] = [0xeb, 0x3c, 0x90];
/// Prints the message, reports to the BIOS that nothing was booted, then halts.
const BOOT_CODE: [u8; 27] = [
    0xfc, 0x31, 0xc0, 0x8e, 0xd8, 0xbe, 0x5a, 0x7c, 0xac, 0x84, 0xc0, 0x74, 0x09, 0xb4, 0x0e, 0xbb,
    0x07, 0x00, 0xcd, 0x10, 0xeb, 0xf2, 0xcd, 0x18, 0xf4, 0xeb, 0xfd,
];
const BOOT_MESSAGE: &[u8] = b"There is no system to start on this HPFS volume.\r\n";
const BOOT_MESSAGE_OFFSET: usize = 0x5a;
/// Zeros in place of a partition table would read as an empty one; this is not a valid state of a
/// partition.
const NO_PARTITION: u8 = 0x01;

/// Length of the label, padded with spaces.
pub(super) const LABEL_BYTES: usize = 11;

const VERSION: u8 = 2;
/// Above 4 GiB a driver must support the third version.
const FUNCTIONAL_VERSION: u8 = 2;
const FUNCTIONAL_VERSION_LARGE: u8 = 3;
const LARGE_SECTORS: u32 = 1 << 23;

/// Formatted without a surface scan.
const SPARE_FLAG_FAST_FORMAT: u8 = 0x20;

/// The first byte after an fnode's own fields.
const FNODE_EXTENDED_ATTRIBUTES: u16 = 0xc4;
const FNODE_EXTENTS: u8 = 8;

const ENTRY_FIRST: u8 = 0x01;
const ENTRY_LAST: u8 = 0x08;
const ATTRIBUTE_DIRECTORY: u8 = 0x10;

/// Offset of the entries of a directory block, and the two entries of an empty one.
const DNODE_ENTRIES: usize = 20;
const FIRST_ENTRY_BYTES: usize = 36;
const LAST_ENTRY_BYTES: usize = 32;

/// The boot sector. The geometry is that of a large disk in a BIOS; no driver reads it.
pub(super) fn boot(layout: &Layout, label: &str, options: &FormatOptions) -> Record {
    let mut sector = Record::new(SECTOR);
    sector.put(0, &BOOT_JUMP);
    sector.put(3, b"OS2 20.0");
    sector.put_le16(11, 512); // bytes in a sector
    sector.put_u8(13, 1); // sectors in a cluster
    sector.put_le16(14, 1); // reserved sectors
    sector.put_u8(21, 0xf8); // medium: hard disk
    sector.put_le16(24, 63); // sectors on a track
    sector.put_le16(26, 255); // heads
    sector.put_le32(32, layout.sectors);
    sector.put_u8(36, 0x80); // drive
    sector.put_u8(38, BOOT_SIGNATURE);
    sector.put(39, &options.identity[..4]);
    sector.put_padded(43, LABEL_BYTES, label.as_bytes(), b' ');
    sector.put(54, b"HPFS    ");
    sector.put(62, &BOOT_CODE);
    sector.put(BOOT_MESSAGE_OFFSET, BOOT_MESSAGE);
    sector.put_u8(446, NO_PARTITION);
    sector.put(510, &[0x55, 0xaa]);
    sector
}

/// The super block: it changes only during a check.
pub(super) fn super_block(layout: &Layout) -> Record {
    let directory_band = layout.directory_band();
    let mut sector = Record::new(SECTOR);
    sector.put_le32(0, SUPER_MAGIC[0]);
    sector.put_le32(4, SUPER_MAGIC[1]);
    sector.put_u8(8, VERSION);
    let functional = match layout.sectors > LARGE_SECTORS {
        true => FUNCTIONAL_VERSION_LARGE,
        false => FUNCTIONAL_VERSION,
    };
    sector.put_u8(9, functional);
    sector.put_le32(12, layout.root_fnode());
    sector.put_le32(16, layout.sectors);
    sector.put_le32(24, layout.bitmap_list());
    sector.put_le32(32, layout.bad_list());
    sector.put_le32(48, directory_band.end - directory_band.start);
    sector.put_le32(52, directory_band.start);
    sector.put_le32(56, directory_band.end - 1);
    sector.put_le32(60, layout.directory_bitmap());
    sector.put_le32(96, layout.user_ids());
    sector
}

/// The spare block: the state of the volume and its spares.
pub(super) fn spare_block(layout: &Layout) -> Record {
    let mut sector = Record::new(SECTOR);
    sector.put_le32(0, SPARE_MAGIC[0]);
    sector.put_le32(4, SPARE_MAGIC[1]);
    sector.put_u8(8, SPARE_FLAG_FAST_FORMAT);
    sector.put_le32(12, layout.hotfix_list());
    sector.put_le32(20, HOTFIX_SPARES);
    sector.put_le32(24, SPARE_DNODES);
    sector.put_le32(28, SPARE_DNODES);
    sector.put_le32(32, layout.code_page_directory());
    sector.put_le32(36, 1); // code pages
    sector.put_le32(40, checksum(super_block(layout).as_bytes()));
    for index in 0..SPARE_DNODES {
        sector.put_le32(108 + 4 * index as usize, layout.spare_dnode(index));
    }
    // The checksum is computed with its own field zero.
    let sum = checksum(sector.as_bytes());
    sector.put_le32(44, sum);
    sector
}

/// The addresses of all bitmaps.
pub(super) fn bitmap_list(layout: &Layout) -> Record {
    let mut list = Record::new(layout.bitmap_list_sectors() as usize * SECTOR);
    for band in 0..layout.bands() {
        list.put_le32(band as usize * 4, layout.bitmap(band));
    }
    list
}

/// The hot fixes: first the bad sectors, none here, then their replacements.
pub(super) fn hotfix_list(layout: &Layout) -> Record {
    let mut list = Record::new(BLOCK);
    for spare in 0..HOTFIX_SPARES {
        list.put_le32(
            (HOTFIX_SPARES + spare) as usize * 4,
            layout.hotfix_spares() + spare,
        );
    }
    list
}

/// The bitmap of a band: a set bit is a free sector, the lowest bit of a byte is the first.
pub(super) fn bitmap(layout: &Layout, band: u32) -> Record {
    let sectors = layout.band(band);
    let mut bits = Bits::new(BLOCK);
    bits.set(0..sectors.end - sectors.start, true);
    for used in layout.used(band) {
        let clip = |sector: u32| sector.clamp(sectors.start, sectors.end) - sectors.start;
        bits.set(clip(used.start)..clip(used.end), false);
    }
    debug_assert!(sectors.end - sectors.start <= BAND_SECTORS);
    bits.record
}

/// The bitmap of the directory band, a bit for each directory block in it.
pub(super) fn directory_bitmap(layout: &Layout) -> Record {
    let band = layout.directory_band();
    let mut bits = Bits::new(BLOCK);
    bits.set(0..(band.end - band.start) / BLOCK_SECTORS, true);
    bits.record
}

/// The fnode of the root directory, its own parent, without a name.
pub(super) fn root_fnode(layout: &Layout) -> Record {
    let mut sector = Record::new(SECTOR);
    sector.put_le32(0, FNODE_MAGIC);
    sector.put_le32(28, layout.root_fnode());
    sector.put_u8(55, 1); // a directory
    // A directory's only extent is its top directory block.
    sector.put_u8(60, FNODE_EXTENTS - 1);
    sector.put_u8(61, 1);
    sector.put_le16(62, 8 + 12);
    sector.put_le32(64, u32::MAX);
    sector.put_le32(72, layout.root_dnode());
    sector.put_le16(184, FNODE_EXTENDED_ATTRIBUTES);
    sector
}

/// The only block of the root directory: the entry for itself and the end entry.
pub(super) fn root_dnode(layout: &Layout, created_unix_s: u64) -> Record {
    let created = u32::try_from(created_unix_s).unwrap_or(u32::MAX);
    let mut block = Record::new(BLOCK);
    let (first, last) = (DNODE_ENTRIES, DNODE_ENTRIES + FIRST_ENTRY_BYTES);
    let end = last + LAST_ENTRY_BYTES;
    block.put_le32(0, DNODE_MAGIC);
    block.put_le32(4, narrow(end).into());
    block.put_le32(8, 1); // topmost in its directory
    block.put_le32(12, layout.root_fnode());
    block.put_le32(16, layout.root_dnode());
    block.put_le16(first, narrow(FIRST_ENTRY_BYTES));
    block.put_u8(first + 2, ENTRY_FIRST);
    block.put_u8(first + 3, ATTRIBUTE_DIRECTORY);
    block.put_le32(first + 4, layout.root_fnode());
    for date in [8, 16, 20] {
        block.put_le32(first + date, created);
    }
    block.put_u8(first + 30, 2);
    block.put(first + 31, &[1, 1]);
    block.put_le16(last, narrow(LAST_ENTRY_BYTES));
    block.put_u8(last + 2, ENTRY_LAST);
    block.put_u8(last + 30, 1);
    block.put_u8(last + 31, 0xff);
    block
}

/// OS/2's checksum of code pages, super block and spare block.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0_u32, |sum, byte| {
        sum.wrapping_add(u32::from(*byte)).rotate_left(7)
    })
}

fn narrow(length: usize) -> u16 {
    u16::try_from(length).expect("lengths in a directory block are below 2048")
}

/// A string of bits, the lowest of a byte first.
struct Bits {
    record: Record,
}

impl Bits {
    fn new(bytes: usize) -> Self {
        Self {
            record: Record::new(bytes),
        }
    }

    fn set(&mut self, bits: Range<u32>, value: bool) {
        let Range { start, end } = bits;
        if start >= end {
            return;
        }
        let whole = start.next_multiple_of(8)..end / 8 * 8;
        if whole.start >= whole.end {
            return (start..end).for_each(|bit| self.set_one(bit, value));
        }
        let (first, length) = (whole.start / 8, (whole.end - whole.start) / 8);
        let fill = if value { 0xff } else { 0 };
        self.record
            .put_padded(first as usize, length as usize, &[], fill);
        (start..whole.start)
            .chain(whole.end..end)
            .for_each(|bit| self.set_one(bit, value));
    }

    fn set_one(&mut self, bit: u32, value: bool) {
        let byte = bit as usize / 8;
        let mask = 1 << (bit % 8);
        let old = self.record.as_bytes()[byte];
        self.record
            .put_u8(byte, if value { old | mask } else { old & !mask });
    }
}
