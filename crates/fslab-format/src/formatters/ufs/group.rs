//! A cylinder group's header and maps (`struct cg`).
//!
//! With eight fragments per block, each byte of the map of free fragments is a block: 0xff is a
//! free one.

use super::layout::{CLUSTER_SUMS, FRAGS_PER_BLOCK, HEADER_BYTES, Layout, ROOT_INODE, Version};
use crate::record::Record;

const MAGIC: u32 = 0x0009_0255;
/// Inode blocks that UFS2 initialises in a new group.
pub(super) const INODE_BLOCKS_READY: u32 = 2;

/// Counts of free and used items of a group, or of all groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) directories: u64,
    pub(super) free_blocks: u64,
    pub(super) free_inodes: u64,
    /// In partially free blocks.
    pub(super) free_frags: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        self.directories += other.directories;
        self.free_blocks += other.free_blocks;
        self.free_inodes += other.free_inodes;
        self.free_frags += other.free_frags;
    }

    /// `struct csum`.
    pub(super) fn summary(&self) -> [u8; 16] {
        let counts = [
            self.directories,
            self.free_blocks,
            self.free_inodes,
            self.free_frags,
        ];
        let mut bytes = [0; 16];
        for (field, count) in bytes.chunks_exact_mut(4).zip(counts) {
            field.copy_from_slice(&(count as u32).to_le_bytes());
        }
        bytes
    }
}

/// One group: its maps and counts.
pub(super) struct Group {
    /// A bit per fragment, set if free.
    free: Vec<u8>,
    pub(super) counts: Counts,
    /// Runs of free fragments in partially free blocks, by length.
    frag_runs: [u32; FRAGS_PER_BLOCK as usize],
    /// Runs of free blocks by length, the last for all longer ones.
    cluster_runs: [u32; CLUSTER_SUMS as usize + 1],
}

impl Group {
    pub(super) fn new(layout: &Layout, group: u32) -> Self {
        let mut free = vec![0; layout.frags_per_group.div_ceil(8) as usize];
        let end = layout.frags_of(group);
        let mut counts = Counts {
            free_inodes: u64::from(layout.inodes_per_group),
            ..Counts::default()
        };
        if group == 0 {
            // In group 0 the boot area and the superblock precede the data.
            let root = layout.root_frag();
            set(&mut free, layout.data_at + layout.summary_frags(), root);
            set(&mut free, root + 1, end);
            counts.directories = 1;
            counts.free_inodes -= u64::from(ROOT_INODE + 1);
        } else {
            set(&mut free, 0, layout.superblock_at);
            set(&mut free, layout.data_at, end);
        }
        let mut new = Self {
            free,
            counts,
            frag_runs: [0; FRAGS_PER_BLOCK as usize],
            cluster_runs: [0; CLUSTER_SUMS as usize + 1],
        };
        new.count_runs();
        new
    }

    fn count_runs(&mut self) {
        let mut cluster = 0;
        for &block in &self.free {
            if block == u8::MAX {
                self.counts.free_blocks += 1;
                cluster += 1;
                continue;
            }
            self.counts.free_frags += u64::from(block.count_ones());
            for run in runs(block) {
                self.frag_runs[run] += 1;
            }
            end_cluster(&mut self.cluster_runs, &mut cluster);
        }
        end_cluster(&mut self.cluster_runs, &mut cluster);
    }

    /// The header and the maps as stored.
    pub(super) fn record(&self, layout: &Layout, group: u32, created_unix_s: u64) -> Record {
        let mut record = Record::new(layout.maps_bytes_rounded() as usize);
        let length = layout.frags_of(group);
        let inodes = layout.inodes_per_group;
        record.put_le32(4, MAGIC);
        record.put_le32(12, group);
        record.put_le32(20, length);
        record.put(24, &self.counts.summary());
        for (index, &count) in self.frag_runs.iter().enumerate() {
            record.put_le32(52 + 4 * index, count);
        }
        match layout.version {
            Version::Ufs1 => {
                record.put_le32(8, created_unix_s as u32);
                record.put_le16(16, 1); // cylinders
                record.put_le16(18, inodes as u16);
                record.put_le32(84, HEADER_BYTES);
                record.put_le32(88, HEADER_BYTES + 4);
                record.put_le32(HEADER_BYTES as usize, self.counts.free_blocks as u32);
                record.put_le16(HEADER_BYTES as usize + 4, self.counts.free_blocks as u16);
            }
            Version::Ufs2 => {
                let ready = INODE_BLOCKS_READY * layout.inodes_per_block();
                record.put_le32(116, inodes);
                record.put_le32(120, ready.min(inodes));
                record.put_le64(136, created_unix_s);
            }
        }
        self.put_maps(&mut record, layout, group);
        record
    }

    fn put_maps(&self, record: &mut Record, layout: &Layout, group: u32) {
        let used_at = (HEADER_BYTES + layout.version.cylinder_table_bytes()) as usize;
        let free_at = used_at + layout.inodes_per_group.div_ceil(8) as usize;
        let clusters_at = layout.cluster_map().0 as usize;
        let sums_at = clusters_at - 4 * self.cluster_runs.len();
        let clusters = self.clusters();
        record.put_le32(92, used_at as u32);
        record.put_le32(96, free_at as u32);
        record.put_le32(100, (clusters_at + clusters.len()) as u32);
        record.put_le32(104, sums_at as u32);
        record.put_le32(108, clusters_at as u32);
        record.put_le32(112, layout.frags_of(group) / FRAGS_PER_BLOCK);
        if group == 0 {
            record.put_u8(used_at, (1 << (ROOT_INODE + 1)) - 1);
        }
        record.put(free_at, &self.free);
        for (length, &count) in self.cluster_runs.iter().enumerate().skip(1) {
            record.put_le32(sums_at + 4 * length, count);
        }
        record.put(clusters_at, &clusters);
    }

    /// A bit per block, set if free.
    fn clusters(&self) -> Vec<u8> {
        let bits = |blocks: &[u8]| {
            let free = blocks
                .iter()
                .enumerate()
                .filter(|&(_, &block)| block == u8::MAX);
            free.fold(0, |byte, (index, _)| byte | 1 << index)
        };
        self.free.chunks(8).map(bits).collect()
    }
}

fn set(free: &mut [u8], from: u32, to: u32) {
    let mut frag = from;
    while frag < to {
        let end = to.min((frag / 8 + 1) * 8);
        let ones = ((1u16 << (end - frag)) - 1) << (frag % 8);
        free[(frag / 8) as usize] |= ones as u8;
        frag = end;
    }
}

/// Lengths of the runs of ones in a byte.
fn runs(byte: u8) -> impl Iterator<Item = usize> {
    let mut rest = byte;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        rest >>= rest.trailing_zeros();
        let run = rest.trailing_ones();
        rest = rest.checked_shr(run).unwrap_or(0);
        Some(run as usize)
    })
}

fn end_cluster(runs: &mut [u32], cluster: &mut usize) {
    if *cluster > 0 {
        runs[(*cluster).min(CLUSTER_SUMS as usize)] += 1;
        *cluster = 0;
    }
}
