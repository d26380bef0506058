//! Signatures on a device or an image: file systems, partition tables, volumes, swap.
//!
//! fslab reads them itself, because a device with a signature is not formatted unless the user
//! agreed, and without `blkid` a full device must not look empty. In doubt, a signature is
//! reported. Offsets are those of the published on-disk formats.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Serialize;

use fslab_model::Failure;

use crate::host::unreadable;

/// A signature found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Signature {
    /// A short name; the entry's name for a file system of the catalogue.
    pub name: &'static str,
    /// A description for use in a sentence: `an ext4 file system`.
    pub title: &'static str,
    /// Its offset in bytes.
    pub offset: u64,
}

/// Bytes at a fixed place.
struct Magic {
    found: Signature,
    bytes: &'static [u8],
}

const fn magic(
    name: &'static str,
    title: &'static str,
    offset: u64,
    bytes: &'static [u8],
) -> Magic {
    Magic {
        found: Signature {
            name,
            title,
            offset,
        },
        bytes,
    }
}

/// Containers of an entire device, and partition tables. Checked first, because their content may
/// have signatures, too.
const CONTAINERS: &[Magic] = &[
    magic("luks", "a LUKS volume", 0, b"LUKS\xba\xbe"),
    magic(
        "luks",
        "a LUKS volume's second header",
        16_384,
        b"SKUL\xba\xbe",
    ),
    magic("lvm2", "an LVM physical volume", 0, b"LABELONE"),
    magic("lvm2", "an LVM physical volume", 512, b"LABELONE"),
    magic("lvm2", "an LVM physical volume", 1024, b"LABELONE"),
    magic("lvm2", "an LVM physical volume", 1536, b"LABELONE"),
    magic("md", "a member of an md RAID", 0, MD_MAGIC),
    magic("md", "a member of an md RAID", 4096, MD_MAGIC),
    magic("gpt", "a GPT partition table", 512, GPT_MAGIC),
    magic("gpt", "a GPT partition table", 4096, GPT_MAGIC),
    magic(
        "bcache",
        "a bcache device",
        4120,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca",
    ),
    magic("bitlocker", "a BitLocker volume", 3, b"-FVE-FS-"),
    magic(
        "bluestore",
        "a Ceph BlueStore device",
        0,
        b"bluestore block device",
    ),
    magic("apfs", "an APFS container", 32, b"NXSB"),
];

/// File systems and swap, ordered by offset: remains of an earlier file system after a later mkfs
/// are mostly far from the beginning.
const CONTENTS: &[Magic] = &[
    magic("xfs", "an XFS file system", 0, b"XFSB"),
    magic("squashfs", "a SquashFS image", 0, b"hsqs"),
    magic("cramfs", "a cramfs image", 0, b"\x45\x3d\xcd\x28"),
    magic("affs", "an Amiga file system", 0, b"DOS\x00"),
    magic("affs", "an Amiga file system", 0, b"DOS\x01"),
    magic("affs", "an Amiga file system", 0, b"DOS\x02"),
    magic("affs", "an Amiga file system", 0, b"DOS\x03"),
    magic("affs", "an Amiga file system", 0, b"DOS\x04"),
    magic("affs", "an Amiga file system", 0, b"DOS\x05"),
    magic("affs", "an Amiga file system", 0, b"DOS\x06"),
    magic("affs", "an Amiga file system", 0, b"DOS\x07"),
    magic("ntfs", "an NTFS file system", 3, b"NTFS    "),
    magic("exfat", "an exFAT file system", 3, b"EXFAT   "),
    magic("fat12", "a FAT12 file system", 54, b"FAT12   "),
    magic("fat16", "a FAT16 file system", 54, b"FAT16   "),
    magic("fat", "a FAT file system", 54, b"FAT     "),
    magic("fat32", "a FAT32 file system", 82, b"FAT32   "),
    magic("f2fs", "an F2FS file system", 1024, b"\x10\x20\xf5\xf2"),
    magic("erofs", "an EROFS image", 1024, b"\xe2\xe1\xf5\xe0"),
    magic("hfs", "an HFS file system", 1024, b"BD"),
    magic("hfs+", "an HFS+ file system", 1024, b"H+"),
    magic("hfsx", "an HFSX file system", 1024, b"HX"),
    magic("ocfs2", "an OCFS2 file system", 1024, b"OCFSV2"),
    magic("nilfs2", "a NILFS2 file system", 1030, b"\x34\x34"),
    magic("minix", "a Minix file system", 1040, b"\x7f\x13"),
    magic("minix", "a Minix file system", 1040, b"\x8f\x13"),
    magic("minix", "a Minix file system", 1040, b"\x68\x24"),
    magic("minix", "a Minix file system", 1040, b"\x78\x24"),
    magic("minix", "a Minix file system", 1048, b"\x5a\x4d"),
    magic("ocfs2", "an OCFS2 file system", 2048, b"OCFSV2"),
    magic("swap", "swap space", 4086, b"SWAPSPACE2"),
    magic("swap", "swap space", 4086, b"SWAP-SPACE"),
    magic("suspend", "a suspended system", 4086, b"S1SUSPEND"),
    magic("suspend", "a suspended system", 4086, b"S2SUSPEND"),
    magic("suspend", "a suspended system", 4086, b"LINHIB0001"),
    magic("ocfs2", "an OCFS2 file system", 4096, b"OCFSV2"),
    magic(
        "bcachefs",
        "a bcachefs file system",
        4120,
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9",
    ),
    magic("swap", "swap space", 8182, b"SWAPSPACE2"),
    magic("hpfs", "an HPFS file system", 8192, b"\x49\xe8\x95\xf9"),
    magic("ocfs2", "an OCFS2 file system", 8192, b"OCFSV2"),
    magic(
        "reiserfs-3.5",
        "a ReiserFS 3.5 file system",
        8244,
        b"ReIsErFs",
    ),
    magic("ufs1", "a UFS1 file system", 9564, b"\x54\x19\x01\x00"),
    magic("ufs1", "a UFS1 file system", 9564, b"\x00\x01\x19\x54"),
    magic("swap", "swap space", 16_374, b"SWAPSPACE2"),
    magic("jfs", "a JFS file system", 32_768, b"JFS1"),
    magic("iso9660", "an ISO 9660 file system", 32_769, b"CD001"),
    magic("udf", "a UDF file system", 32_769, b"BEA01"),
    magic("udf", "a UDF file system", 34_817, b"NSR0"),
    magic("swap", "swap space", 65_526, b"SWAPSPACE2"),
    magic("reiser4", "a Reiser4 file system", 65_536, b"ReIsEr4"),
    magic("gfs2", "a GFS2 file system", 65_536, b"\x01\x16\x19\x70"),
    magic(
        "reiserfs-3.5",
        "a ReiserFS 3.5 file system",
        65_588,
        b"ReIsErFs",
    ),
    magic(
        "reiserfs-3.6",
        "a ReiserFS 3.6 file system",
        65_588,
        b"ReIsEr2Fs",
    ),
    // Both formats have this with a non-standard journal.
    magic("reiserfs", "a ReiserFS file system", 65_588, b"ReIsEr3Fs"),
    magic("btrfs", "a Btrfs file system", 65_600, b"_BHRfS_M"),
    magic("ufs2", "a UFS2 file system", 66_908, b"\x19\x01\x54\x19"),
    magic("ufs2", "a UFS2 file system", 66_908, b"\x19\x54\x01\x19"),
];

const MD_MAGIC: &[u8] = b"\xfc\x4e\x2b\xa9";
const GPT_MAGIC: &[u8] = b"EFI PART";
const ZFS_MAGIC: &[u8] = b"\x0c\xb1\xba\x00";

/// The signature of the device, partition or image at `path`; `None` if it has none that is known.
pub fn signature(path: &Path) -> Result<Option<Signature>, Failure> {
    File::open(path)
        .and_then(|mut file| read_signature(&mut file))
        .map_err(unreadable(path))
}

/// The first signature found.
///
/// # Errors
/// Those of reading; a device shorter than a signature's offset does not have it.
pub fn read_signature(device: &mut (impl Read + Seek)) -> io::Result<Option<Signature>> {
    if let Some(found) = find_magic(device, CONTAINERS)? {
        return Ok(Some(found));
    }
    if let Some(found) = find_ext(device)? {
        return Ok(Some(found));
    }
    if let Some(found) = find_magic(device, CONTENTS)? {
        return Ok(Some(found));
    }
    if let Some(found) = find_zfs(device)? {
        return Ok(Some(found));
    }
    if let Some(found) = find_at_end(device)? {
        return Ok(Some(found));
    }
    find_boot_sector(device)
}

fn find_magic(
    device: &mut (impl Read + Seek),
    magics: &'static [Magic],
) -> io::Result<Option<Signature>> {
    for magic in magics {
        if has_bytes(device, magic.found.offset, magic.bytes)? {
            return Ok(Some(magic.found));
        }
    }
    Ok(None)
}

/// ext2, ext3 and ext4 share a magic number; the feature sets distinguish them.
fn find_ext(device: &mut (impl Read + Seek)) -> io::Result<Option<Signature>> {
    const SUPERBLOCK: u64 = 1024;
    const HAS_JOURNAL: u32 = 0x4;
    const IS_JOURNAL_DEVICE: u32 = 0x8;
    // Features of ext3: filetype, recover, meta_bg; sparse_super, large_file, btree_dir.
    const INCOMPATIBLE_OF_EXT3: u32 = 0x2 | 0x4 | 0x10;
    const READ_ONLY_OF_EXT3: u32 = 0x1 | 0x2 | 0x4;

    let mut superblock = [0; 104];
    if !read_at(device, SUPERBLOCK, &mut superblock)? || superblock[56..58] != *b"\x53\xef" {
        return Ok(None);
    }
    let word = |at: usize| {
        let bytes = [0, 1, 2, 3].map(|byte| superblock[at + byte]);
        u32::from_le_bytes(bytes)
    };
    let (compatible, incompatible, read_only) = (word(92), word(96), word(100));
    let (name, title) = if incompatible & IS_JOURNAL_DEVICE != 0 {
        ("ext-journal", "an external journal of ext3 or ext4")
    } else if incompatible & !INCOMPATIBLE_OF_EXT3 != 0 || read_only & !READ_ONLY_OF_EXT3 != 0 {
        ("ext4", "an ext4 file system")
    } else if compatible & HAS_JOURNAL != 0 {
        ("ext3", "an ext3 file system")
    } else {
        ("ext2", "an ext2 file system")
    };
    Ok(Some(Signature {
        name,
        title,
        offset: SUPERBLOCK + 56,
    }))
}

/// The first label of a ZFS pool has a ring of uberblocks, any of which may be the first in use.
fn find_zfs(device: &mut (impl Read + Seek)) -> io::Result<Option<Signature>> {
    const RING: std::ops::Range<u64> = 128 << 10..256 << 10;
    const SLOT: usize = 1 << 10;
    for offset in RING.step_by(SLOT) {
        if has_bytes(device, offset, ZFS_MAGIC)? {
            return Ok(Some(Signature {
                name: "zfs",
                title: "a member of a ZFS pool",
                offset,
            }));
        }
    }
    Ok(None)
}

/// Signatures at offsets from the end of the device.
fn find_at_end(device: &mut (impl Read + Seek)) -> io::Result<Option<Signature>> {
    let size = device.seek(SeekFrom::End(0))?;
    let md_0_90 = (size & !0xffff).checked_sub(0x1_0000);
    let md_1_0 = (size / 512)
        .checked_sub(16)
        .map(|sector| (sector & !7) * 512);
    let gpt_backup = (size / 512).checked_sub(1).map(|sector| sector * 512);
    let gpt_backup_of_4k = (size / 4096).checked_sub(1).map(|sector| sector * 4096);
    for (offset, bytes, name, title) in [
        (md_0_90, MD_MAGIC, "md", "a member of an md RAID"),
        (md_1_0, MD_MAGIC, "md", "a member of an md RAID"),
        (gpt_backup, GPT_MAGIC, "gpt", "a GPT partition table's copy"),
        (
            gpt_backup_of_4k,
            GPT_MAGIC,
            "gpt",
            "a GPT partition table's copy",
        ),
    ] {
        let Some(offset) = offset else { continue };
        if has_bytes(device, offset, bytes)? {
            return Ok(Some(Signature {
                name,
                title,
                offset,
            }));
        }
    }
    Ok(None)
}

/// A boot sector of none of the file systems above: a partition table, or a boot loader.
fn find_boot_sector(device: &mut (impl Read + Seek)) -> io::Result<Option<Signature>> {
    let mut sector = [0; 512];
    if !read_at(device, 0, &mut sector)? || sector[510..] != *b"\x55\xaa" {
        return Ok(None);
    }
    let partitions = || sector[446..510].chunks(16);
    let is_table = partitions().all(|entry| matches!(entry[0], 0 | 0x80))
        && partitions().any(|entry| entry[4] != 0);
    let (name, title) = if is_table {
        ("mbr", "an MBR partition table")
    } else {
        ("boot-sector", "a boot sector")
    };
    Ok(Some(Signature {
        name,
        title,
        offset: 510,
    }))
}

fn has_bytes(device: &mut (impl Read + Seek), offset: u64, bytes: &[u8]) -> io::Result<bool> {
    let mut found = vec![0; bytes.len()];
    Ok(read_at(device, offset, &mut found)? && found == bytes)
}

/// Fills `buffer` from `offset`; `false` if the device is too short.
fn read_at(device: &mut (impl Read + Seek), offset: u64, buffer: &mut [u8]) -> io::Result<bool> {
    match device.seek(SeekFrom::Start(offset)) {
        // Seeking beyond the end of a block device fails with EINVAL.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(false),
        sought => sought?,
    };
    match device.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn device_with(pieces: &[(u64, &[u8])]) -> Cursor<Vec<u8>> {
        let mut bytes = vec![0; 1 << 20];
        for (offset, piece) in pieces {
            let offset = usize::try_from(*offset).expect("a small offset");
            bytes[offset..offset + piece.len()].copy_from_slice(piece);
        }
        Cursor::new(bytes)
    }

    fn name_of(pieces: &[(u64, &[u8])]) -> Option<&'static str> {
        let found = read_signature(&mut device_with(pieces)).expect("memory is readable");
        found.map(|found| found.name)
    }

    #[test]
    fn every_magic_of_the_tables_is_found_in_its_place() {
        for magic in CONTAINERS.iter().chain(CONTENTS) {
            let found = read_signature(&mut device_with(&[(magic.found.offset, magic.bytes)]));
            assert_eq!(found.expect("readable"), Some(magic.found));
        }
    }

    #[test]
    fn contents_stand_in_the_order_of_their_offsets() {
        assert!(CONTENTS.is_sorted_by_key(|magic| magic.found.offset));
    }

    #[test]
    fn the_ext_family_is_distinguished_by_its_features() {
        let ext = |compatible: u8, incompatible: u8, read_only: u8| {
            name_of(&[
                (1080, b"\x53\xef"),
                (1116, &[compatible]),
                (1120, &[incompatible]),
                (1124, &[read_only]),
            ])
        };
        assert_eq!(ext(0x38, 0x02, 0x03), Some("ext2"));
        assert_eq!(ext(0x3c, 0x06, 0x03), Some("ext3"));
        assert_eq!(ext(0x3c, 0xc2, 0x03), Some("ext4"));
        assert_eq!(ext(0x38, 0x02, 0x08), Some("ext4"));
        assert_eq!(ext(0x00, 0x08, 0x00), Some("ext-journal"));
    }

    #[test]
    fn signatures_counted_from_the_end_are_found() {
        let size = 1_u64 << 20;
        for (offset, bytes, name) in [
            (size - 0x1_0000, MD_MAGIC, "md"),
            (size - 8192, MD_MAGIC, "md"),
            (size - 512, GPT_MAGIC, "gpt"),
            (size - 4096, GPT_MAGIC, "gpt"),
            (129 << 10, ZFS_MAGIC, "zfs"),
        ] {
            assert_eq!(name_of(&[(offset, bytes)]), Some(name));
        }
    }

    #[test]
    fn a_partition_table_and_a_boot_sector_differ() {
        let end: (u64, &[u8]) = (510, b"\x55\xaa");
        assert_eq!(name_of(&[end]), Some("boot-sector"));
        assert_eq!(name_of(&[end, (450, b"\x83")]), Some("mbr"));
        assert_eq!(
            name_of(&[end, (446, b"\x12"), (450, b"\x83")]),
            Some("boot-sector")
        );
        assert_eq!(name_of(&[end, (82, b"FAT32   ")]), Some("fat32"));
        assert_eq!(
            name_of(&[end, (450, b"\xee"), (512, GPT_MAGIC)]),
            Some("gpt")
        );
    }

    #[test]
    fn an_empty_device_carries_nothing() {
        assert_eq!(name_of(&[]), None);
        let none = read_signature(&mut Cursor::new(Vec::new())).expect("readable");
        assert_eq!(none, None);
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error_that_names_it() {
        let error = signature(Path::new("/no/such/device")).expect_err("missing");
        assert_eq!(error.message, "cannot read /no/such/device");
    }

    proptest! {
        #[test]
        fn no_device_however_short_makes_reading_fail(
            bytes in prop::collection::vec(any::<u8>(), 0..5000)
        ) {
            prop_assert!(read_signature(&mut Cursor::new(bytes)).is_ok());
        }
    }
}
