//! What a block is for.

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::image::{DiskImage, SECTOR_BYTES, is_data};

/// What a block is for.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum BlockKind {
    /// The superblock, or a copy of it.
    Superblock,
    /// What describes a part of the disk: group descriptors, headers of allocation groups,
    /// checkpoints.
    Descriptor,
    /// The journal or log.
    Journal,
    /// Inodes.
    Inode,
    /// Names in a directory.
    Directory,
    /// Which blocks and inodes are in use.
    Bitmap,
    /// Any other tree or index.
    Tree,
    /// Data of a file.
    Data,
    /// The cache of the disk, which a flush is about.
    Cache,
    /// Anything that is not recognised.
    Other,
}

impl BlockKind {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The kind in a word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Sectors that the file system reads and writes as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct BlockUnit {
    /// What it is for.
    pub kind: BlockKind,
    /// The name that the format's document has for it.
    pub detail: &'static str,
    /// First sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u64,
}

/// Data, or a block that is not recognised.
pub(super) fn unrecognised(
    sector: u64,
    block_bytes: u64,
    image: &mut DiskImage,
) -> io::Result<BlockUnit> {
    let offset = sector * SECTOR_BYTES / block_bytes * block_bytes;
    let bytes = image.bytes(offset, block_bytes as usize)?;
    let (kind, detail) = match is_data(&bytes) {
        true => (BlockKind::Data, "data"),
        false => (BlockKind::Other, "other"),
    };
    Ok(unit(kind, detail, offset, block_bytes))
}

pub(super) fn unit(kind: BlockKind, detail: &'static str, offset: u64, bytes: u64) -> BlockUnit {
    BlockUnit {
        kind,
        detail,
        sector: offset / SECTOR_BYTES,
        sectors: bytes / SECTOR_BYTES,
    }
}

pub(super) fn is_none(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the image has no {what}"),
    )
}
