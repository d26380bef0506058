//! Positions of a file's data on its device: FIEMAP (ioctl_fiemap(2)), or FIBMAP, block by block,
//! on file systems without it.
//!
//! Addresses are those of the file system. Those of Btrfs are logical, and contiguous where the
//! addresses on the device are.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::status::check;

use crate::{Extent, ExtentFlags};

/// `_IOWR('f', 11, struct fiemap)`, whose fixed part has 32 bytes.
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
/// `_IO(0, 1)`.
const FIBMAP: libc::c_ulong = 1;
/// `_IO(0, 2)`.
const FIGETBSZ: libc::c_ulong = 2;
/// Write the file back first: data that is not allocated yet has no address.
const FIEMAP_FLAG_SYNC: u32 = 1;
/// Extents per call.
const BATCH: usize = 256;

/// The head of `struct fiemap`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Head {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Request {
    head: Head,
    extents: [RawExtent; BATCH],
}

/// The extents of `file` in file order by FIEMAP, without holes. Dirty data is written back first.
///
/// # Errors
/// That of ioctl(2): EOPNOTSUPP or ENOTTY if the file system has no FIEMAP.
pub fn extents(file: &File) -> io::Result<Vec<Extent>> {
    let mut found: Vec<Extent> = Vec::new();
    let mut request = Request {
        head: Head::default(),
        extents: [RawExtent::default(); BATCH],
    };
    let mut start = 0;
    loop {
        request.head = Head {
            start,
            length: u64::MAX - start,
            flags: FIEMAP_FLAG_SYNC,
            extent_count: BATCH as u32,
            ..Head::default()
        };
        // SAFETY: `request` is a struct fiemap with room for as many extents as it declares, and
        // outlives the call.
        let status = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut request) };
        check(status)?;
        let mapped = request.head.mapped_extents as usize;
        let batch = &request.extents[..mapped.min(BATCH)];
        found.extend(batch.iter().map(RawExtent::read));
        let Some(last) = found.last().filter(|_| !batch.is_empty()) else {
            return Ok(found);
        };
        let end = last.logical.saturating_add(last.length);
        // An extent of length 0 would be returned forever.
        if last.flags.is_last() || end <= start {
            return Ok(found);
        }
        start = end;
    }
}

impl RawExtent {
    fn read(&self) -> Extent {
        Extent {
            logical: self.logical,
            physical: self.physical,
            length: self.length,
            flags: ExtentFlags(self.flags),
        }
    }
}

/// Block size of the file system of `file`, the unit of [`block_address`].
pub fn map_block_bytes(file: &File) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the call writes an int to `bytes`, which outlives it.
    let status = unsafe { libc::ioctl(file.as_raw_fd(), FIGETBSZ, &raw mut bytes) };
    check(status)?;
    u64::try_from(bytes)
        .ok()
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a block of no bytes"))
}

/// The device block of block `number` of `file` by FIBMAP; `None` for a hole or inline data.
///
/// # Errors
/// That of ioctl(2): EPERM without root; EINVAL, ENOTTY or EOPNOTSUPP if the file system has no
/// FIBMAP.
pub fn block_address(file: &File, number: u32) -> io::Result<Option<u32>> {
    let mut block = number;
    // SAFETY: the call reads and writes an int at `block`, which outlives it.
    let status = unsafe { libc::ioctl(file.as_raw_fd(), FIBMAP, &raw mut block) };
    check(status)?;
    Ok((block != 0).then_some(block))
}

/// The extents of `file` in file order, composed of its blocks by FIBMAP. They have no flags, since
/// FIBMAP reports none.
pub fn extents_by_block(file: &File) -> io::Result<Vec<Extent>> {
    file.sync_all()?;
    let block_bytes = map_block_bytes(file)?;
    let length = file.metadata()?.len();
    let blocks = u32::try_from(length.div_ceil(block_bytes))
        .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let mut found: Vec<Extent> = Vec::new();
    for number in 0..blocks {
        let Some(block) = block_address(file, number)? else {
            continue;
        };
        let logical = u64::from(number) * block_bytes;
        let physical = u64::from(block) * block_bytes;
        match found.last_mut() {
            Some(last)
                if last.logical + last.length == logical
                    && last.physical + last.length == physical =>
            {
                last.length += block_bytes;
            }
            _ => found.push(Extent {
                logical,
                physical,
                length: block_bytes,
                flags: ExtentFlags::default(),
            }),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_sizes_of_the_kernel() {
        assert_eq!((size_of::<Head>(), size_of::<RawExtent>()), (32, 56));
        assert_eq!(size_of::<Request>(), 32 + 56 * BATCH);
    }

    #[test]
    fn data_without_an_address_is_known_by_its_flags() {
        assert!(ExtentFlags(0x801).has_address());
        assert!(ExtentFlags(0x801).is_last());
        for flag in [0x2, 0x4, 0x8, 0x200] {
            assert!(!ExtentFlags(flag).has_address(), "{flag:x}");
        }
        assert!(ExtentFlags(0x301).is_inline());
    }

    /// On a file system with neither, as in some containers, it prints that it was skipped.
    #[test]
    fn both_methods_find_all_bytes_of_a_file() {
        let path = std::env::temp_dir().join(format!("fslab-extents-{}", std::process::id()));
        std::fs::write(&path, vec![7_u8; 1 << 20]).expect("writes");
        let file = File::open(&path).expect("opens");
        std::fs::remove_file(&path).expect("is there");
        let bytes = |found: &[Extent]| found.iter().map(|it| it.length).sum::<u64>();
        let mut errors = Vec::new();
        match extents(&file) {
            Ok(found) => {
                assert_eq!(bytes(&found), 1 << 20, "{found:?}");
                assert!(found.last().is_some_and(|it| it.flags.is_last()));
            }
            Err(error) => errors.push(format!("FIEMAP: {error}")),
        }
        match extents_by_block(&file) {
            Ok(found) => assert_eq!(bytes(&found), 1 << 20, "{found:?}"),
            Err(error) => errors.push(format!("FIBMAP: {error}")),
        }
        let mark = if errors.len() == 2 {
            "skipped"
        } else {
            "not checked"
        };
        for error in errors {
            eprintln!("{mark}: {error}");
        }
    }
}
