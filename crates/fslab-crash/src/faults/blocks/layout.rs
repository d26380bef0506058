//! Chooses the layout of a file system, and finds the units that a disk's accesses are about.

use std::collections::BTreeMap;
use std::io;

use super::btrfs::Btrfs;
use super::ext::Ext;
use super::f2fs::F2fs;
use super::image::DiskImage;
use super::jfs::Jfs;
use super::kind::{BlockUnit, unrecognised};
use super::xfs::Xfs;
use crate::faults::{AccessKind, DiskAccess};

/// Bytes of a unit of a file system whose layout is not known.
const PLAIN_BYTES: u64 = 4096;
/// Sectors of the parts into which a long access is looked at, at most.
const LOOKED_AT_MAX: usize = 1 << 20;

/// How a file system lies on its disk.
pub enum BlockMap {
    /// ext2, ext3 and ext4.
    Ext(Ext),
    Xfs(Xfs),
    Btrfs(Btrfs),
    /// F2FS.
    F2fs(F2fs),
    Jfs(Jfs),
    /// Any other.
    Plain,
}

impl BlockMap {
    /// The layout of the file system `fs`, from its image.
    ///
    /// # Errors
    /// Those of reading; `InvalidData` if the image has no such file system.
    pub fn read(fs: &str, image: &mut DiskImage) -> io::Result<Self> {
        Ok(match fs {
            "ext2" | "ext3" | "ext4" => Self::Ext(Ext::read(image)?),
            "xfs" => Self::Xfs(Xfs::read(image)?),
            "btrfs" => Self::Btrfs(Btrfs::read(image)?),
            "f2fs" => Self::F2fs(F2fs::read(image)?),
            "jfs" => Self::Jfs(Jfs::read(image)?),
            _ => Self::Plain,
        })
    }

    /// True if only data is recognised.
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// The unit that has a sector.
    pub fn unit_of(&self, sector: u64, image: &mut DiskImage) -> io::Result<BlockUnit> {
        match self {
            Self::Ext(layout) => layout.unit_of(sector, image),
            Self::Xfs(layout) => layout.unit_of(sector, image),
            Self::Btrfs(layout) => layout.unit_of(sector, image),
            Self::F2fs(layout) => layout.unit_of(sector, image),
            Self::Jfs(layout) => layout.unit_of(sector, image),
            Self::Plain => unrecognised(sector, PLAIN_BYTES, image),
        }
    }
}

/// The units that reads and writes were about, in the order of their first access, each with the
/// kinds of its accesses.
pub fn units_of(
    map: &BlockMap,
    image: &mut DiskImage,
    accesses: &[DiskAccess],
) -> io::Result<Vec<(BlockUnit, Vec<AccessKind>)>> {
    let mut found: Vec<(BlockUnit, Vec<AccessKind>)> = Vec::new();
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
    let mut looked_at = 0;
    let moving = [AccessKind::Read, AccessKind::Write];
    for access in accesses.iter().filter(|it| moving.contains(&it.kind)) {
        let mut sector = access.sector;
        let end = access.sector.saturating_add(access.sectors);
        while sector < end && looked_at < LOOKED_AT_MAX {
            looked_at += 1;
            // The last unit that begins before the sector has it, or none has been found.
            let known = places.range(..=sector).next_back().map(|(_, place)| *place);
            let known = known.filter(|place| {
                let unit = &found[*place].0;
                sector < unit.sector + unit.sectors
            });
            let place = match known {
                Some(place) => place,
                None => {
                    let unit = map.unit_of(sector, image)?;
                    places.insert(unit.sector, found.len());
                    found.push((unit, Vec::new()));
                    found.len() - 1
                }
            };
            let (unit, kinds) = &mut found[place];
            if !kinds.contains(&access.kind) {
                kinds.push(access.kind);
            }
            sector = (unit.sector + unit.sectors).max(sector + 1);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::SectorOrigin;
    use crate::faults::BlockKind;

    #[test]
    fn accesses_are_cut_into_units_and_data_is_recognised_everywhere() {
        let mut bytes = vec![0; 64 << 10];
        let origin = SectorOrigin {
            script: 1,
            file: 2,
            step: 3,
            place: 4,
        };
        bytes[8192 + 512..8192 + 1024].copy_from_slice(&origin.bytes());
        let mut source = Cursor::new(bytes);
        let mut image = DiskImage::new(&mut source);
        let access = |kind, sector, sectors| DiskAccess {
            kind,
            is_faulty: false,
            sector,
            sectors,
        };
        let accesses = [
            access(AccessKind::Read, 8, 16),
            access(AccessKind::Flush, 0, 0),
            access(AccessKind::Write, 16, 1),
        ];
        let map = BlockMap::read("minix", &mut image).expect("any");
        let found = units_of(&map, &mut image, &accesses).expect("read");
        let short: Vec<_> = found
            .iter()
            .map(|(unit, kinds)| (unit.kind, unit.sector, unit.sectors, kinds.len()))
            .collect();
        assert_eq!(
            short,
            [(BlockKind::Other, 8, 8, 1), (BlockKind::Data, 16, 8, 2)]
        );
    }
}
