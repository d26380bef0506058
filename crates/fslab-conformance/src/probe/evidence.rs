//! Three ways to determine whether a file is stored inline (without a data block), and which of
//! them are reliable on a file system.
//!
//! A kind of evidence is reliable if it finds blocks in a file that must have some, and has an
//! answer for each file tried.

use fslab_sys::os::MetadataExt;
use std::fs::File;
use std::io;

use fslab_sys::{block_address, extents};

/// What was observed of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Observation {
    pub(super) size: u64,
    /// True if FIEMAP reports no block; `None` without an answer.
    pub(super) by_fiemap: Option<bool>,
    /// The same by FIBMAP.
    pub(super) by_fibmap: Option<bool>,
    /// `st_blocks`.
    pub(super) blocks: u64,
}

/// A kind of evidence, in order of preference.
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

    /// True if the file is inline by this evidence; `None` without an answer.
    pub(super) fn is_inline(self, seen: &Observation) -> Option<bool> {
        match self {
            Self::Extents => seen.by_fiemap,
            Self::Map => seen.by_fibmap,
            Self::Blocks => Some(seen.blocks == 0),
        }
    }

    /// True if it is reliable here; `reference` is a file that must have blocks.
    pub(super) fn is_reliable(self, reference: &Observation, all: &[Observation]) -> bool {
        self.is_inline(reference) == Some(false)
            && all.iter().all(|it| self.is_inline(it).is_some())
    }
}

impl Observation {
    /// Observes `file`, which was written and synced.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let blocks = metadata.blocks();
        let by_fiemap = extents(file).ok().and_then(|found| {
            if found.is_empty() {
                // No extent for data: an answer only if st_blocks agrees.
                return (blocks == 0).then_some(true);
            }
            Some(found.iter().any(|extent| extent.flags.is_inline()))
        });
        let by_fibmap = match block_address(file, 0) {
            Ok(address) => Some(address.is_none()),
            // A driver with inline data returns EINVAL from bmap; the kernel takes it for a block
            // number, which is out of range.
            Err(error) if error.raw_os_error() == Some(ERANGE) => Some(true),
            Err(_) => None,
        };
        Ok(Self {
            size: metadata.len(),
            by_fiemap,
            by_fibmap,
            blocks,
        })
    }
}

const ERANGE: i32 = 34;

#[cfg(test)]
mod tests {
    use super::*;

    const REFERENCE: Observation = Observation {
        size: 65_536,
        by_fiemap: Some(false),
        by_fibmap: Some(false),
        blocks: 128,
    };

    #[test]
    fn evidence_that_finds_no_block_in_the_reference_is_not_reliable() {
        let blind = Observation {
            by_fibmap: Some(true),
            blocks: 0,
            ..REFERENCE
        };
        assert!(Evidence::Extents.is_reliable(&blind, &[]));
        assert!(!Evidence::Map.is_reliable(&blind, &[]));
        assert!(!Evidence::Blocks.is_reliable(&blind, &[]));
    }

    #[test]
    fn evidence_without_an_answer_for_a_file_is_not_reliable() {
        let silent = Observation {
            by_fiemap: None,
            ..REFERENCE
        };
        assert!(!Evidence::Extents.is_reliable(&REFERENCE, &[REFERENCE, silent]));
        assert!(Evidence::Map.is_reliable(&REFERENCE, &[REFERENCE, silent]));
    }
}
