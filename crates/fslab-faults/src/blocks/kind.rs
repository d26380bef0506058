//! What a block is for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a block is for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
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
    /// All, in the order of the rows of a matrix.
    pub const ALL: [Self; 10] = [
        Self::Superblock,
        Self::Descriptor,
        Self::Journal,
        Self::Inode,
        Self::Directory,
        Self::Bitmap,
        Self::Tree,
        Self::Data,
        Self::Cache,
        Self::Other,
    ];

    /// The kind in a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Superblock => "superblock",
            Self::Descriptor => "descriptor",
            Self::Journal => "journal",
            Self::Inode => "inode",
            Self::Directory => "directory",
            Self::Bitmap => "bitmap",
            Self::Tree => "tree",
            Self::Data => "data",
            Self::Cache => "cache",
            Self::Other => "other",
        }
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
