//! The layout of a volume, from its size and block size alone.
//!
//! Sizes and places are in fragments, the unit of UFS's own addresses. The size of a cylinder group
//! is found by the algorithm of FreeBSD's newfs, so that equal volumes have equal groups.

/// Fragments per block: the maximum of the bitmaps, and newfs's default.
pub(super) const FRAGS_PER_BLOCK: u32 = 8;
/// Inodes 0 and 1 are never used, and 2 is the root.
pub(super) const ROOT_INODE: u32 = 2;
/// The space of each superblock.
pub(super) const SUPERBLOCK_BYTES: u32 = 8192;
/// Length of `struct cg`, after which the maps begin.
pub(super) const HEADER_BYTES: u32 = 168;
/// The same with the compiler's padding, which newfs reserves.
const HEADER_PADDED_BYTES: u32 = 176;
/// Bytes of free counts per group.
pub(super) const SUMMARY_BYTES: u32 = 16;
/// Longest free cluster that is counted separately.
pub(super) const CLUSTER_SUMS: u32 = 16;
/// newfs's density: one inode per so many fragments.
const FRAGS_PER_INODE: u32 = 2;
/// newfs enlarges groups only while there are more of them than this.
const GROUPS_MIN: u64 = 4;
/// UFS1 has the number of inodes per group in a signed 16-bit field.
const UFS1_INODES_MAX: u32 = 0x7fff;
/// The fewest data blocks of a volume and of a group.
const DATA_BLOCKS_MIN: u32 = 16;

/// Which of the two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// 32-bit addresses, inodes of 128 bytes.
    Ufs1,
    /// 64-bit addresses, inodes of 256 bytes.
    Ufs2,
}

impl Version {
    pub(super) fn superblock_offset(self) -> u32 {
        match self {
            Self::Ufs1 => 8192,
            Self::Ufs2 => 65536,
        }
    }

    pub(super) fn inode_bytes(self) -> u32 {
        match self {
            Self::Ufs1 => 128,
            Self::Ufs2 => 256,
        }
    }

    pub(super) fn address_bytes(self) -> u32 {
        match self {
            Self::Ufs1 => 4,
            Self::Ufs2 => 8,
        }
    }

    /// Bytes before a group's maps: UFS1 has counts by cylinder there, of a single one.
    pub(super) fn cylinder_table_bytes(self) -> u32 {
        match self {
            Self::Ufs1 => 6,
            Self::Ufs2 => 0,
        }
    }

    /// UFS1's addresses are signed, and Linux computes the start of a group in 32 bits.
    pub(super) fn frags_max(self) -> u64 {
        match self {
            Self::Ufs1 => (1 << 31) - 1,
            Self::Ufs2 => (1 << 32) - 1,
        }
    }
}

/// The geometry of one volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) version: Version,
    pub(super) block: u32,
    pub(super) fragment: u32,
    /// The size of the file system.
    pub(super) frags: u64,
    /// From the start of a group to its copy of the superblock.
    pub(super) superblock_at: u32,
    /// From the start of a group to its header and maps.
    pub(super) maps_at: u32,
    /// From the start of a group to its inodes.
    pub(super) inodes_at: u32,
    /// From the start of a group to the end of its inodes.
    pub(super) data_at: u32,
    pub(super) inodes_per_group: u32,
    pub(super) frags_per_group: u32,
    pub(super) groups: u32,
}

impl Layout {
    /// The geometry of `size` bytes; `None` if below [`Layout::bytes_min`].
    pub(super) fn new(version: Version, block: u32, size: u64) -> Option<Self> {
        let mut layout = Self::prelude(version, block);
        layout.frags = size / u64::from(layout.fragment);
        if size < Self::bytes_min(version, block) || layout.frags > version.frags_max() {
            return None;
        }
        layout.size_groups();
        layout.enlarge_last_group();
        layout.data_at = layout.data_at();
        Some(layout)
    }

    /// The smallest volume with this block size.
    pub(super) fn bytes_min(version: Version, block: u32) -> u64 {
        let layout = Self::prelude(version, block);
        let frags = layout.inodes_at + (1 + 2 + DATA_BLOCKS_MIN) * FRAGS_PER_BLOCK;
        u64::from(frags) * u64::from(layout.fragment)
    }

    /// The largest volume with this block size.
    pub(super) fn bytes_max(version: Version, block: u32) -> u64 {
        version.frags_max() * u64::from(block / FRAGS_PER_BLOCK)
    }

    /// The part that depends on the block size alone.
    fn prelude(version: Version, block: u32) -> Self {
        let fragment = block / FRAGS_PER_BLOCK;
        let whole_blocks = |bytes: u32| bytes.div_ceil(block) * FRAGS_PER_BLOCK;
        let superblock_at = whole_blocks(version.superblock_offset() + SUPERBLOCK_BYTES);
        let maps_at = superblock_at + whole_blocks(SUPERBLOCK_BYTES);
        Self {
            version,
            block,
            fragment,
            frags: 0,
            superblock_at,
            maps_at,
            inodes_at: maps_at + FRAGS_PER_BLOCK,
            data_at: 0,
            inodes_per_group: 0,
            frags_per_group: 0,
            groups: 0,
        }
    }

    pub(super) fn inodes_per_block(&self) -> u32 {
        self.block / self.version.inode_bytes()
    }

    /// Bytes of a group's header and maps.
    pub(super) fn maps_bytes(&self) -> u32 {
        let blocks = self.frags_per_group / FRAGS_PER_BLOCK;
        let cylinders = self.version.cylinder_table_bytes();
        let maps = self.inodes_per_group.div_ceil(8) + self.frags_per_group.div_ceil(8);
        // Four bytes to align the sums, and four because their array counts from 1.
        HEADER_PADDED_BYTES + 8 + cylinders + maps + CLUSTER_SUMS * 4 + blocks.div_ceil(8)
    }

    /// The same in complete fragments.
    pub(super) fn maps_bytes_rounded(&self) -> u32 {
        self.maps_bytes().next_multiple_of(self.fragment)
    }

    fn set_group(&mut self, frags: u32) {
        self.frags_per_group = frags;
        let inodes = frags.div_ceil(FRAGS_PER_INODE);
        self.inodes_per_group = inodes.next_multiple_of(self.inodes_per_block());
    }

    fn data_at(&self) -> u32 {
        let per_frag = self.inodes_per_block() / FRAGS_PER_BLOCK;
        self.inodes_at + self.inodes_per_group / per_frag
    }

    /// Starts with the smallest group that the density allows, and enlarges it while its maps fit
    /// into a block and the volume has enough groups.
    fn size_groups(&mut self) {
        let whole = self.frags.next_multiple_of(u64::from(FRAGS_PER_BLOCK));
        let least = u64::from(FRAGS_PER_INODE * self.inodes_per_block()).min(whole) as u32;
        let with_inodes = self.inodes_at + FRAGS_PER_BLOCK;
        self.set_group(least.max(with_inodes));
        // Small blocks have few inodes each, so a group of them alone would be only headers.
        let with_data = self.data_at() + DATA_BLOCKS_MIN * FRAGS_PER_BLOCK;
        self.set_group(
            least
                .max(with_data)
                .min(whole.min(u64::from(u32::MAX)) as u32),
        );
        loop {
            let (before, maps) = (self.frags_per_group, self.maps_bytes());
            let few = self.frags / u64::from(before) < GROUPS_MIN;
            if few || maps >= self.block {
                break;
            }
            self.set_group(before + FRAGS_PER_BLOCK);
            let crowded = self.maps_bytes() > self.block
                || (self.version == Version::Ufs1 && self.inodes_per_group > UFS1_INODES_MAX);
            if crowded {
                self.set_group(before);
                break;
            }
        }
    }

    /// Begin and end of a group's map of free blocks, from the start of its header.
    ///
    /// Its array of sums counts from 1, so four bytes before it belong to the preceding field.
    pub(super) fn cluster_map(&self) -> (u32, u32) {
        let maps = self.inodes_per_group.div_ceil(8) + self.frags_per_group.div_ceil(8);
        let before = HEADER_BYTES + self.version.cylinder_table_bytes() + maps;
        let begin = before.next_multiple_of(4) + CLUSTER_SUMS * 4;
        (
            begin,
            begin + (self.frags_per_group / FRAGS_PER_BLOCK).div_ceil(8),
        )
    }

    /// True if that map crosses a fragment's boundary, where Linux 6.12 miscounts clusters: for a
    /// cluster that extends back across the boundary it looks past the end of its buffer.
    fn splits_cluster_map(&self) -> bool {
        let (begin, end) = self.cluster_map();
        begin / self.fragment != (end - 1) / self.fragment
    }

    /// Reduces the groups until the last one is complete or has space for its own inodes; leaves
    /// the remainder unused if no size does that.
    fn enlarge_last_group(&mut self) {
        while self.splits_cluster_map() {
            self.set_group(self.frags_per_group - FRAGS_PER_BLOCK);
        }
        let wanted = self.frags_per_group;
        loop {
            let rest = self.frags % u64::from(self.frags_per_group);
            let needed = u64::from(self.data_at().next_multiple_of(FRAGS_PER_BLOCK));
            if (rest == 0 || rest >= needed) && !self.splits_cluster_map() {
                break;
            }
            let smaller = self.frags_per_group - FRAGS_PER_BLOCK;
            if smaller < self.data_at() + 2 * FRAGS_PER_BLOCK || smaller < wanted / 2 {
                self.set_group(wanted);
                self.frags -= self.frags % u64::from(wanted);
                break;
            }
            self.set_group(smaller);
        }
        self.groups = self.frags.div_ceil(u64::from(self.frags_per_group)) as u32;
    }

    /// Fragments of the table of all groups' free counts, at the start of group 0's data.
    pub(super) fn summary_frags(&self) -> u32 {
        (self.groups * SUMMARY_BYTES).div_ceil(self.fragment)
    }

    /// The root directory's fragment: the first one of the first free block.
    pub(super) fn root_frag(&self) -> u32 {
        (self.data_at + self.summary_frags()).next_multiple_of(FRAGS_PER_BLOCK)
    }

    /// The length of group `group`: the last may be shorter than the others.
    pub(super) fn frags_of(&self, group: u32) -> u32 {
        let start = u64::from(group) * u64::from(self.frags_per_group);
        (self.frags - start).min(u64::from(self.frags_per_group)) as u32
    }

    /// The offset in bytes of fragment `frag` of group `group`.
    pub(super) fn offset(&self, group: u32, frag: u32) -> u64 {
        let start = u64::from(group) * u64::from(self.frags_per_group);
        (start + u64::from(frag)) * u64::from(self.fragment)
    }

    /// Fragments for files, free or not: without headers, inodes and the summary.
    pub(super) fn data_frags(&self) -> u64 {
        let headers = u64::from(self.groups) * u64::from(self.data_at - self.superblock_at);
        let lead = u64::from(self.superblock_at) + u64::from(self.summary_frags());
        self.frags - lead - headers
    }
}
