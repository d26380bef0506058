//! B-tree files: a header node with the map of nodes in use, at most one leaf, and map nodes if the
//! header's map is too short.
//!
//! ```text
//!     node 0      header: descriptor, header record, 128 bytes for the user, map
//!     node 1      leaf, if the tree has records
//!     next ones   map nodes, chained from the header
//!     the rest    free, zero
//! ```

use fslab_model::Failure;

use crate::Volume;
use crate::record::Record;

const DESCRIPTOR_BYTES: usize = 14;
const HEADER_RECORD_BYTES: usize = 106;
const USER_RECORD_BYTES: usize = 128;
/// Offset of the header's map.
const MAP_OFFSET: usize = DESCRIPTOR_BYTES + HEADER_RECORD_BYTES + USER_RECORD_BYTES;

const KIND_LEAF: u8 = 0xff;
const KIND_HEADER: u8 = 1;
const KIND_MAP: u8 = 2;

/// Smallest volume, in sectors, with a clump from the table: 1 GiB.
const TABLE_SECTORS: u64 = 1 << 21;
/// Clumps in MiB of volumes below 2 GiB, 4 GiB, 8 GiB and so on: attributes, catalog, extents.
/// Apple's table (`newfs_hfs`, and the Linux driver's for growing a tree).
const CLUMPS_MIB: [[u64; 3]; 15] = [
    [4, 4, 4],
    [6, 6, 4],
    [8, 8, 4],
    [11, 11, 5],
    [64, 32, 5],
    [84, 49, 6],
    [111, 74, 7],
    [147, 111, 8],
    [194, 169, 9],
    [256, 256, 11],
    [294, 294, 14],
    [338, 338, 16],
    [388, 388, 20],
    [446, 446, 25],
    [512, 512, 32],
];

/// The trees of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formatters) enum TreeKind {
    /// Extended attributes.
    Attributes,
    /// Files and directories.
    Catalog,
    /// Extents that the catalog's records cannot hold.
    Extents,
}

/// The initial size of a tree, by which it also grows: 0.8 % of a volume below 1 GiB, above by a
/// table; a multiple of nodes and of allocation blocks.
pub(in crate::formatters) fn clump_bytes(
    kind: TreeKind,
    sectors: u64,
    node_bytes: u64,
    block_bytes: u64,
) -> u64 {
    let wanted = if sectors < TABLE_SECTORS {
        (sectors * 4).max(8 * node_bytes)
    } else {
        let doublings = (sectors >> 22)
            .checked_ilog2()
            .map_or(0, |log| log as usize + 1);
        let column = match kind {
            TreeKind::Attributes => 0,
            TreeKind::Catalog => 1,
            TreeKind::Extents => 2,
        };
        CLUMPS_MIB[doublings.min(CLUMPS_MIB.len() - 1)][column] << 20
    };
    let unit = node_bytes.max(block_bytes);
    (wanted / unit * unit).max(unit)
}

/// The only leaf of a tree: its records, each a key and its data, of even length.
#[derive(Clone, Debug, Default)]
pub(in crate::formatters) struct Leaf {
    records: Vec<Vec<u8>>,
}

impl Leaf {
    /// Adds a record; its key must be above the previous ones.
    pub(in crate::formatters) fn push(&mut self, key: &[u8], data: &[u8]) {
        let mut record = key.to_vec();
        // Data begins at an even offset; HFS has keys of odd length.
        record.resize(key.len().next_multiple_of(2), 0);
        record.extend_from_slice(data);
        record.resize(record.len().next_multiple_of(2), 0);
        self.records.push(record);
    }

    fn node(&self, node_bytes: usize) -> Record {
        let mut node = descriptor(node_bytes, KIND_LEAF, 1, self.records.len(), 0);
        let mut offset = DESCRIPTOR_BYTES;
        put_offset(&mut node, node_bytes, 0, offset);
        for (index, record) in self.records.iter().enumerate() {
            node.put(offset, record);
            offset += record.len();
            put_offset(&mut node, node_bytes, index + 1, offset);
        }
        node
    }
}

/// A B-tree file.
#[derive(Clone, Debug)]
pub(in crate::formatters) struct Tree {
    /// Length of a node.
    pub(in crate::formatters) node_bytes: u16,
    /// Length of the file: a multiple of the node and of the allocation block.
    pub(in crate::formatters) file_bytes: u64,
    /// The increment of growth.
    pub(in crate::formatters) clump_bytes: u32,
    /// Length of the longest key, without its own length field.
    pub(in crate::formatters) max_key_bytes: u16,
    /// The comparison of names: 0 if the tree has only one.
    pub(in crate::formatters) key_compare: u8,
    /// Flags of the header record.
    pub(in crate::formatters) attributes: u32,
    /// The records, if there are any.
    pub(in crate::formatters) leaf: Option<Leaf>,
}

impl Tree {
    /// Writes the complete file at `offset`.
    pub(in crate::formatters) fn write(&self, volume: &Volume, offset: u64) -> Result<(), Failure> {
        volume.zero(offset, self.file_bytes)?;
        for (index, node) in self.nodes().iter().enumerate() {
            let at = offset + index as u64 * u64::from(self.node_bytes);
            volume.write_at(at, node.as_bytes())?;
        }
        Ok(())
    }

    /// The nodes in use, from node 0 on.
    fn nodes(&self) -> Vec<Record> {
        let node_bytes = usize::from(self.node_bytes);
        let map_nodes = self.map_nodes();
        let leaves = u64::from(self.leaf.is_some());
        let mut used = 1 + leaves + map_nodes;
        let first_map = 1 + leaves;
        let next = if map_nodes > 0 { first_map } else { 0 };
        let mut header = descriptor(node_bytes, KIND_HEADER, 0, 3, next);
        self.put_header_record(&mut header, used);
        let map_bytes = self.header_map_bytes();
        for (index, offset) in [
            DESCRIPTOR_BYTES,
            DESCRIPTOR_BYTES + HEADER_RECORD_BYTES,
            MAP_OFFSET,
            MAP_OFFSET + map_bytes,
        ]
        .into_iter()
        .enumerate()
        {
            put_offset(&mut header, node_bytes, index, offset);
        }
        used -= put_ones(&mut header, MAP_OFFSET, map_bytes, used);
        let mut nodes = vec![header];
        nodes.extend(self.leaf.iter().map(|leaf| leaf.node(node_bytes)));
        for index in 0..map_nodes {
            let last = index + 1 == map_nodes;
            let next = if last { 0 } else { first_map + index + 1 };
            let mut node = descriptor(node_bytes, KIND_MAP, 0, 1, next);
            let map_bytes = self.node_map_bytes();
            put_offset(&mut node, node_bytes, 0, DESCRIPTOR_BYTES);
            put_offset(&mut node, node_bytes, 1, DESCRIPTOR_BYTES + map_bytes);
            used -= put_ones(&mut node, DESCRIPTOR_BYTES, map_bytes, used);
            nodes.push(node);
        }
        nodes
    }

    fn put_header_record(&self, node: &mut Record, used: u64) {
        let total = self.total_nodes();
        if let Some(leaf) = &self.leaf {
            let records = u32::try_from(leaf.records.len()).expect("a leaf has a few records");
            node.put_be16(14, 1);
            node.put_be32(16, 1);
            node.put_be32(20, records);
            node.put_be32(24, 1);
            node.put_be32(28, 1);
        }
        let count = |nodes: u64| u32::try_from(nodes).expect("a tree begins with below 2^32 nodes");
        node.put_be16(32, self.node_bytes);
        node.put_be16(34, self.max_key_bytes);
        node.put_be32(36, count(total));
        node.put_be32(40, count(total - used));
        node.put_be32(46, self.clump_bytes);
        node.put_u8(51, self.key_compare);
        node.put_be32(52, self.attributes);
    }

    fn total_nodes(&self) -> u64 {
        self.file_bytes / u64::from(self.node_bytes)
    }

    /// Without the four offsets at the end.
    fn header_map_bytes(&self) -> usize {
        usize::from(self.node_bytes) - MAP_OFFSET - 8
    }

    /// Without the two offsets at the end, and a multiple of four as in Apple's and Linux's.
    fn node_map_bytes(&self) -> usize {
        usize::from(self.node_bytes) - DESCRIPTOR_BYTES - 6
    }

    fn map_nodes(&self) -> u64 {
        let beyond = self
            .total_nodes()
            .saturating_sub(self.header_map_bytes() as u64 * 8);
        beyond.div_ceil(self.node_map_bytes() as u64 * 8)
    }
}

fn descriptor(node_bytes: usize, kind: u8, height: u8, records: usize, next: u64) -> Record {
    let mut node = Record::new(node_bytes);
    node.put_be32(
        0,
        u32::try_from(next).expect("map nodes are among the first"),
    );
    node.put_u8(8, kind);
    node.put_u8(9, height);
    node.put_be16(
        10,
        u16::try_from(records).expect("a node has a few records"),
    );
    node
}

/// Offsets of records are at a node's end, the first one last.
fn put_offset(node: &mut Record, node_bytes: usize, index: usize, offset: usize) {
    let value = u16::try_from(offset).expect("nodes have at most 32 KiB");
    node.put_be16(node_bytes - 2 * (index + 1), value);
}

/// Sets the first `wanted` bits of a map, or all of it, and returns their number.
fn put_ones(node: &mut Record, offset: usize, map_bytes: usize, wanted: u64) -> u64 {
    let ones = wanted.min(map_bytes as u64 * 8);
    let whole = (ones / 8) as usize;
    node.put(offset, &vec![0xff; whole]);
    if !ones.is_multiple_of(8) {
        node.put_u8(offset + whole, !(0xff >> (ones % 8)));
    }
    ones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clumps_are_those_of_apples_table() {
        let catalog = |bytes: u64| clump_bytes(TreeKind::Catalog, bytes / 512, 8192, 4096) >> 10;
        assert_eq!(catalog(1 << 20), 64);
        assert_eq!(catalog(100 << 20), 800);
        assert_eq!(catalog(1 << 30), 4 << 10);
        assert_eq!(catalog((2 << 30) - 512), 4 << 10);
        assert_eq!(catalog(2 << 30), 6 << 10);
        assert_eq!(catalog(16 << 30), 32 << 10);
        assert_eq!(catalog(1 << 40), 294 << 10);
        assert_eq!(catalog(1 << 50), 512 << 10);
        let attributes = clump_bytes(TreeKind::Attributes, 16 << 21, 8192, 4096);
        assert_eq!(attributes, 64 << 20);
    }

    #[test]
    fn map_nodes_cover_every_node_once() {
        for total in [1_u64, 8, 2048, 2049, 2048 + 3936, 2048 + 3937, 692_224] {
            let tree = Tree {
                node_bytes: 512,
                file_bytes: total.max(8) * 512,
                clump_bytes: 512,
                max_key_bytes: 37,
                key_compare: 0,
                attributes: 0,
                leaf: None,
            };
            let nodes = tree.nodes();
            let ones = |bytes: &[u8]| bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
            let header = nodes[0].as_bytes();
            let maps = nodes[1..]
                .iter()
                .map(|node| ones(&node.as_bytes()[14..506]))
                .sum::<u32>();
            assert_eq!(ones(&header[248..504]) + maps, nodes.len() as u32);
            let covered = 2048 + (nodes.len() as u64 - 1) * 492 * 8;
            assert!(covered >= tree.total_nodes());
            assert!(nodes.len() == 1 || covered - 492 * 8 < tree.total_nodes());
        }
    }
}
