//! The data of writes, in blocks that are kept once per content.

use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of a block: a multiple of the sector, and the unit of most writes. The last block of a
/// write may be shorter.
pub const BLOCK_BYTES: usize = 4096;

/// A block, by its place in the order of first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// The blocks of a write, by their place among those of all writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockList {
    first: u32,
    count: u32,
}

/// Blocks of data, each once, and which of them writes have.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    blocks: Vec<Arc<[u8]>>,
    known: HashMap<Arc<[u8]>, BlockId>,
    /// The blocks of all writes, one after the other: a separate list would cost a write more
    /// memory than most of them have blocks.
    lists: BlockLists,
}

/// The blocks of writes, one write after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BlockLists(Vec<BlockId>);

impl BlockLists {
    /// Adds the blocks of a write; `None` if there are too many.
    pub(crate) fn add(&mut self, blocks: impl IntoIterator<Item = BlockId>) -> Option<BlockList> {
        let first = u32::try_from(self.0.len()).ok()?;
        self.0.extend(blocks);
        let end = u32::try_from(self.0.len()).ok()?;
        Some(match end - first {
            0 => BlockList::default(),
            count => BlockList { first, count },
        })
    }

    /// The blocks of a list; none of a list of other contents.
    pub(crate) fn get(&self, list: BlockList) -> &[BlockId] {
        let first = list.first as usize;
        let end = first + list.count as usize;
        self.0.get(first..end).unwrap_or_default()
    }
}

impl PartialEq for Contents {
    fn eq(&self, other: &Self) -> bool {
        self.blocks == other.blocks && self.lists == other.lists
    }
}

impl Contents {
    /// Contents without blocks, to which those that `lists` names are still to be added.
    pub(crate) fn of_lists(lists: BlockLists) -> Self {
        Self {
            lists,
            ..Self::default()
        }
    }

    /// Adds the blocks of a write; `None` if there are too many.
    pub fn add_list(&mut self, blocks: impl IntoIterator<Item = BlockId>) -> Option<BlockList> {
        self.lists.add(blocks)
    }

    /// The blocks of all writes, each as often as it is written.
    pub(crate) fn written_blocks(&self) -> usize {
        self.lists.0.len()
    }

    /// The blocks of a write.
    pub fn list(&self, list: BlockList) -> &[BlockId] {
        self.lists.get(list)
    }

    /// The block of `bytes`, added if it is new; `None` if there are too many.
    ///
    /// # Panics
    /// For more bytes than a block has, or none.
    pub fn add(&mut self, bytes: &[u8]) -> Option<BlockId> {
        assert!((1..=BLOCK_BYTES).contains(&bytes.len()), "a block's bytes");
        if let Some(known) = self.known.get(bytes) {
            return Some(*known);
        }
        let id = BlockId(u32::try_from(self.blocks.len()).ok()?);
        let block: Arc<[u8]> = bytes.into();
        self.blocks.push(Arc::clone(&block));
        self.known.insert(block, id);
        Some(id)
    }

    /// A block's bytes; `None` if there is no such block.
    pub fn get(&self, id: BlockId) -> Option<&[u8]> {
        self.blocks.get(id.0 as usize).map(|block| &**block)
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// True if there is no block.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// All blocks, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.blocks.iter().map(|block| &**block)
    }
}

/// Bytes of a sector, which a disk writes entirely or not at all.
pub(crate) const SECTOR_BYTES: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blocks_are_kept_once() {
        let mut contents = Contents::default();
        let first = contents.add(&[1; 4096]);
        let second = contents.add(&[2; 512]);
        assert_eq!(contents.add(&[1; 4096]), first);
        assert_ne!(first, second);
        assert_eq!(contents.len(), 2);
        assert_eq!(contents.get(second.expect("added")), Some(&[2; 512][..]));
        assert_eq!(contents.get(BlockId(2)), None);
    }

    /// A short block is no beginning of a long one.
    #[test]
    fn blocks_of_two_lengths_differ() {
        let mut contents = Contents::default();
        assert_ne!(contents.add(&[0; 512]), contents.add(&[0; 4096]));
    }
}
