//! The features of a made file system, as its superblock has them: what mkfs chose by default
//! differs by its version and by the distribution.
//!
//! Names are those of the tools that print them: dumpe2fs(8), mkfs.xfs(8), dump.f2fs(8) and
//! btrfs-inspect-internal(8). What a driver or a program sets later is left out.

use std::io::{self, Read, Seek, SeekFrom};

/// A bit of a word of a superblock, and its name.
type Bit = (u32, &'static str);

/// A word of features.
#[derive(Debug)]
struct Word {
    /// Its offset on the device.
    offset: u64,
    is_big_endian: bool,
    bits: &'static [Bit],
}

/// A number of the superblock that mkfs chooses, and that does not depend on the size.
#[derive(Debug)]
struct Number {
    name: &'static str,
    offset: u64,
    bytes: usize,
    is_big_endian: bool,
}

/// Where a file system has its features.
#[derive(Debug)]
pub struct FeatureTable {
    words: &'static [Word],
    numbers: &'static [Number],
}

const fn little(offset: u64, bits: &'static [Bit]) -> Word {
    Word {
        offset,
        is_big_endian: false,
        bits,
    }
}

const fn big(offset: u64, bits: &'static [Bit]) -> Word {
    Word {
        offset,
        is_big_endian: true,
        bits,
    }
}

/// ext2, ext3 and ext4. The drivers set `large_file`, `needs_recovery` and `orphan_present`.
pub(crate) static EXT: FeatureTable = FeatureTable {
    words: &[
        little(
            1024 + 92,
            &[
                (0x4, "has_journal"),
                (0x8, "ext_attr"),
                (0x10, "resize_inode"),
                (0x20, "dir_index"),
                (0x200, "sparse_super2"),
                (0x400, "fast_commit"),
                (0x800, "stable_inodes"),
                (0x1000, "orphan_file"),
            ],
        ),
        little(
            1024 + 96,
            &[
                (0x2, "filetype"),
                (0x10, "meta_bg"),
                (0x40, "extent"),
                (0x80, "64bit"),
                (0x100, "mmp"),
                (0x200, "flex_bg"),
                (0x400, "ea_inode"),
                (0x2000, "metadata_csum_seed"),
                (0x4000, "large_dir"),
                (0x8000, "inline_data"),
                (0x1_0000, "encrypt"),
                (0x2_0000, "casefold"),
            ],
        ),
        little(
            1024 + 100,
            &[
                (0x1, "sparse_super"),
                (0x8, "huge_file"),
                (0x10, "uninit_bg"),
                (0x20, "dir_nlink"),
                (0x40, "extra_isize"),
                (0x100, "quota"),
                (0x200, "bigalloc"),
                (0x400, "metadata_csum"),
                (0x2000, "project"),
                (0x8000, "verity"),
            ],
        ),
    ],
    numbers: &[Number {
        name: "inode_size",
        offset: 1024 + 88,
        bytes: 2,
        is_big_endian: false,
    }],
};

/// XFS of version 5.
pub(crate) static XFS: FeatureTable = FeatureTable {
    words: &[
        big(
            212,
            &[
                (0x1, "finobt"),
                (0x2, "rmapbt"),
                (0x4, "reflink"),
                (0x8, "inobtcount"),
            ],
        ),
        big(
            216,
            &[
                (0x1, "ftype"),
                (0x2, "sparse"),
                (0x8, "bigtime"),
                (0x20, "nrext64"),
                (0x40, "exchange"),
                (0x80, "parent"),
                (0x100, "metadir"),
                (0x200, "zoned"),
            ],
        ),
    ],
    numbers: &[Number {
        name: "inode_size",
        offset: 104,
        bytes: 2,
        is_big_endian: true,
    }],
};

/// Btrfs. Mount options set those of compression; a first mount may make the free-space tree.
pub(crate) static BTRFS: FeatureTable = FeatureTable {
    words: &[
        little(
            65_536 + 180,
            &[(0x1, "free-space-tree"), (0x8, "block-group-tree")],
        ),
        little(
            65_536 + 188,
            &[
                (0x4, "mixed-bg"),
                (0x20, "big-metadata"),
                (0x40, "extref"),
                (0x80, "raid56"),
                (0x100, "skinny-metadata"),
                (0x200, "no-holes"),
                (0x800, "raid1c34"),
                (0x1000, "zoned"),
                (0x2000, "extent-tree-v2"),
                (0x4000, "raid-stripe-tree"),
                (0x1_0000, "squota"),
            ],
        ),
    ],
    numbers: &[
        Number {
            name: "nodesize",
            offset: 65_536 + 148,
            bytes: 4,
            is_big_endian: false,
        },
        Number {
            name: "csum_type",
            offset: 65_536 + 196,
            bytes: 2,
            is_big_endian: false,
        },
    ],
};

/// F2FS.
pub(crate) static F2FS: FeatureTable = FeatureTable {
    words: &[little(
        1024 + 2180,
        &[
            (0x1, "encrypt"),
            (0x2, "blkzoned"),
            (0x8, "extra_attr"),
            (0x10, "project_quota"),
            (0x20, "inode_checksum"),
            (0x40, "flexible_inline_xattr"),
            (0x80, "quota"),
            (0x100, "inode_crtime"),
            (0x200, "lost_found"),
            (0x400, "verity"),
            (0x800, "sb_checksum"),
            (0x1000, "casefold"),
            (0x2000, "compression"),
            (0x4000, "ro"),
        ],
    )],
    numbers: &[],
};

/// NILFS2.
pub(crate) static NILFS2: FeatureTable = FeatureTable {
    words: &[little(1024 + 264, &[(0x1, "block_count")])],
    numbers: &[Number {
        name: "blocks_per_segment",
        offset: 1024 + 48,
        bytes: 4,
        is_big_endian: false,
    }],
};

impl FeatureTable {
    /// The features on `device`, in the order of the superblock, with a blank between them.
    ///
    /// # Errors
    /// Those of reading, also of a device that ends before the superblock.
    pub fn read(&self, device: &mut (impl Read + Seek)) -> io::Result<String> {
        let mut names: Vec<String> = Vec::new();
        for word in self.words {
            let value = number(device, word.offset, 4, word.is_big_endian)?;
            let set = word.bits.iter().filter(|(bit, _)| value & bit != 0);
            names.extend(set.map(|(_, name)| (*name).to_owned()));
        }
        for it in self.numbers {
            let value = number(device, it.offset, it.bytes, it.is_big_endian)?;
            names.push(format!("{}={value}", it.name));
        }
        Ok(names.join(" "))
    }
}

/// A number of at most four bytes.
fn number(
    device: &mut (impl Read + Seek),
    offset: u64,
    bytes: usize,
    is_big_endian: bool,
) -> io::Result<u32> {
    let mut number = [0; 4];
    device.seek(SeekFrom::Start(offset))?;
    device.read_exact(&mut number[..bytes])?;
    Ok(match is_big_endian {
        true => u32::from_be_bytes(number) >> (8 * (4 - bytes)),
        false => u32::from_le_bytes(number),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn bits_and_numbers_of_either_byte_order_are_read() {
        let mut disk = vec![0; 4096];
        disk[212..216].copy_from_slice(&0x6_u32.to_be_bytes());
        disk[216..220].copy_from_slice(&0x80_u32.to_be_bytes());
        disk[104..106].copy_from_slice(&512_u16.to_be_bytes());
        let read = XFS.read(&mut Cursor::new(&disk)).expect("long enough");
        assert_eq!(read, "rmapbt reflink parent inode_size=512");
        disk[1024 + 92..1024 + 96].copy_from_slice(&0x1004_u32.to_le_bytes());
        disk[1024 + 88..1024 + 90].copy_from_slice(&256_u16.to_le_bytes());
        let read = EXT.read(&mut Cursor::new(&disk)).expect("long enough");
        assert_eq!(read, "has_journal orphan_file inode_size=256");
        assert!(EXT.read(&mut Cursor::new([0; 1100])).is_err());
    }
}
