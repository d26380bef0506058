//! Ranges of blocks with their kinds.

use std::collections::BTreeMap;

use super::BlockKind;

/// Ranges that do not overlap; of those that do, the later one counts from its first block on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    /// By first block: the block after the last, and what it is.
    ranges: BTreeMap<u64, (u64, BlockKind, &'static str)>,
}

impl Ranges {
    /// Adds the blocks from `first` on.
    pub(super) fn add(&mut self, first: u64, blocks: u64, kind: BlockKind, detail: &'static str) {
        if let Some(end) = first.checked_add(blocks) {
            self.ranges.insert(first, (end, kind, detail));
        }
    }

    /// What a block is.
    pub(super) fn of(&self, block: u64) -> Option<(BlockKind, &'static str)> {
        let (_, (end, kind, detail)) = self.ranges.range(..=block).next_back()?;
        (block < *end).then_some((*kind, detail))
    }
}
