//! What a member of an array of md says of its array: the superblock of format 1.2, struct
//! mdp_superblock_1 of Linux.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Where the superblock begins, its magic number, and the array's UUID and name in it.
const SUPERBLOCK_AT: u64 = 4096;
const MAGIC: [u8; 4] = 0xA92B_4EFC_u32.to_le_bytes();
const UUID: Range<usize> = 16..32;
const NAME: Range<usize> = 32..64;

/// A member of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayMember {
    /// The array's UUID.
    pub array: [u8; 16],
    /// The array's name, without the host before its colon.
    pub name: String,
}

impl ArrayMember {
    /// The member on the device at `path`; `None` without a superblock.
    pub fn on(path: &Path) -> io::Result<Option<Self>> {
        let mut superblock = [0; NAME.end];
        let mut device = File::open(path)?;
        device.seek(SeekFrom::Start(SUPERBLOCK_AT))?;
        device.read_exact(&mut superblock)?;
        Ok(Self::in_superblock(&superblock))
    }

    fn in_superblock(superblock: &[u8; NAME.end]) -> Option<Self> {
        if superblock[..MAGIC.len()] != MAGIC {
            return None;
        }
        let name = String::from_utf8_lossy(&superblock[NAME]);
        let name = name.trim_end_matches('\0');
        let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
        Some(Self {
            array: superblock[UUID].try_into().ok()?,
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_array_is_read_without_its_host() {
        let mut superblock = [0; NAME.end];
        assert_eq!(ArrayMember::in_superblock(&superblock), None);
        superblock[..4].copy_from_slice(&MAGIC);
        superblock[16..32].copy_from_slice(&[7; 16]);
        let named =
            |superblock: &[u8; NAME.end]| ArrayMember::in_superblock(superblock).map(|it| it.name);
        superblock[32..46].copy_from_slice(b"box:fslab_sd_1");
        assert_eq!(named(&superblock).as_deref(), Some("fslab_sd_1"));
        superblock[32..46].copy_from_slice(b"fslab_sd_1\0\0\0\0");
        assert_eq!(named(&superblock).as_deref(), Some("fslab_sd_1"));
        let member = ArrayMember::in_superblock(&superblock).expect("a member");
        assert_eq!(member.array, [7; 16]);
    }
}
