//! What tells whether a file has a data block of its own, and which of it can be believed.
//!
//! A kind of evidence is believed on a file system where it finds blocks in a file that must have
//! some, and says something of every file that was tried.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use fslab_sys::{block_address, extents};

/// What was seen of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) size: u64,
    /// Whether FIEMAP says that it has no block; `None` where it says nothing.
    pub(super) by_extents: Option<bool>,
    /// The same of FIBMAP.
    pub(super) by_map: Option<bool>,
    /// `st_blocks`.
    pub(super) blocks: u64,
}

/// A kind of evidence, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    Extents,
    Map,
    Blocks,
}

impl Evidence {
    pub(super) const ALL: [Self; 3] = [Self::Extents, Self::Map, Self::Blocks];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Extents => "FIEMAP",
            Self::Map => "FIBMAP",
            Self::Blocks => "st_blocks",
        }
    }

    /// Whether the file has no block of its own, as this evidence says.
    pub(super) fn judge(self, seen: &Seen) -> Option<bool> {
        match self {
            Self::Extents => seen.by_extents,
            Self::Map => seen.by_map,
            Self::Blocks => Some(seen.blocks == 0),
        }
    }

    /// Whether it can be believed: `reference` is a file that must have blocks.
    pub(super) fn is_believed(self, reference: &Seen, all: &[Seen]) -> bool {
        self.judge(reference) == Some(false) && all.iter().all(|it| self.judge(it).is_some())
    }
}

impl Seen {
    /// Looks at `file`, which was written and synced.
    ///
    /// # Errors
    /// That of fstat(2).
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let blocks = metadata.blocks();
        let by_extents = extents(file).ok().and_then(|found| {
            if found.is_empty() {
                // Data without any extent: only where it has no block does that make sense.
                return (blocks == 0).then_some(true);
            }
            Some(found.iter().any(|extent| extent.flags.is_inline()))
        });
        let by_map = match block_address(file, 0) {
            Ok(address) => Some(address.is_none()),
            // Drivers that know of data in the inode answer with EINVAL, which the kernel takes
            // for the number of a block, and finds too large.
            Err(error) if error.raw_os_error() == Some(ERANGE) => Some(true),
            Err(_) => None,
        };
        Ok(Self {
            size: metadata.len(),
            by_extents,
            by_map,
            blocks,
        })
    }
}

const ERANGE: i32 = 34;

#[cfg(test)]
mod tests {
    use super::*;

    const REFERENCE: Seen = Seen {
        size: 65_536,
        by_extents: Some(false),
        by_map: Some(false),
        blocks: 128,
    };

    #[test]
    fn evidence_that_finds_no_block_where_one_must_be_is_not_believed() {
        let blind = Seen {
            by_map: Some(true),
            blocks: 0,
            ..REFERENCE
        };
        assert!(Evidence::Extents.is_believed(&blind, &[]));
        assert!(!Evidence::Map.is_believed(&blind, &[]));
        assert!(!Evidence::Blocks.is_believed(&blind, &[]));
    }

    #[test]
    fn evidence_that_says_nothing_of_a_file_is_not_believed() {
        let silent = Seen {
            by_extents: None,
            ..REFERENCE
        };
        assert!(!Evidence::Extents.is_believed(&REFERENCE, &[REFERENCE, silent]));
        assert!(Evidence::Map.is_believed(&REFERENCE, &[REFERENCE, silent]));
    }
}
