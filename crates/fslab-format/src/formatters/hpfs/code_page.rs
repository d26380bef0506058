//! Code page 850: the directory of code pages and the table for comparing names.

use crate::record::Record;

use super::layout::{Layout, SECTOR_BYTES};
use super::sectors::checksum;

const DIRECTORY_MAGIC: u32 = 0x4945_21f7;
const DATA_MAGIC: u32 = 0x8945_21f7;

const COUNTRY_UNITED_STATES: u16 = 1;
const CODE_PAGE: u16 = 850;

/// Offset of the tables in their sector, after space for three addresses.
const TABLE_OFFSET: u16 = 26;

/// Header, upper half of the table and the pair of zeros that ends the ranges of double bytes.
const TABLE_BYTES: usize = 6 + 128 + 2;

/// Lower-case letters of code page 850 above ASCII, and their upper case. Dotless i and y with
/// diaeresis have theirs in ASCII, as in OS/2.
const UPPER_CASE: [(u8, u8); 32] = [
    (0x81, 0x9a),
    (0x82, 0x90),
    (0x83, 0xb6),
    (0x84, 0x8e),
    (0x85, 0xb7),
    (0x86, 0x8f),
    (0x87, 0x80),
    (0x88, 0xd2),
    (0x89, 0xd3),
    (0x8a, 0xd4),
    (0x8b, 0xd8),
    (0x8c, 0xd7),
    (0x8d, 0xde),
    (0x91, 0x92),
    (0x93, 0xe2),
    (0x94, 0x99),
    (0x95, 0xe3),
    (0x96, 0xea),
    (0x97, 0xeb),
    (0x98, b'Y'),
    (0x9b, 0x9d),
    (0xa0, 0xb5),
    (0xa1, 0xd6),
    (0xa2, 0xe0),
    (0xa3, 0xe9),
    (0xa4, 0xa5),
    (0xc6, 0xc7),
    (0xd0, 0xd1),
    (0xd5, b'I'),
    (0xe4, 0xe5),
    (0xe7, 0xe8),
    (0xec, 0xed),
];

/// The sector with the list of code pages.
pub(super) fn directory(layout: &Layout) -> Record {
    let mut sector = Record::new(SECTOR_BYTES as usize);
    sector.put_le32(0, DIRECTORY_MAGIC);
    sector.put_le32(4, 1);
    sector.put_le16(16, COUNTRY_UNITED_STATES);
    sector.put_le16(18, CODE_PAGE);
    sector.put_le32(20, checksum(table().as_bytes()));
    sector.put_le32(24, layout.code_page_data());
    sector
}

/// The sector with the table.
pub(super) fn data() -> Record {
    let table = table();
    let mut sector = Record::new(SECTOR_BYTES as usize);
    sector.put_le32(0, DATA_MAGIC);
    sector.put_le16(4, 1);
    sector.put_le32(8, checksum(table.as_bytes()));
    sector.put_le16(20, TABLE_OFFSET);
    sector.put(usize::from(TABLE_OFFSET), table.as_bytes());
    sector
}

fn table() -> Record {
    let mut table = Record::new(TABLE_BYTES);
    table.put_le16(0, COUNTRY_UNITED_STATES);
    table.put_le16(2, CODE_PAGE);
    for byte in 0x80..=0xff {
        let upper = UPPER_CASE
            .iter()
            .find(|(lower, _)| *lower == byte)
            .map_or(byte, |(_, upper)| *upper);
        table.put_u8(6 + usize::from(byte & 0x7f), upper);
    }
    table
}
