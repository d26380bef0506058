//! The two formatters: options and order of writes.

use fslab_model::{Bytes, Failure};

use super::group::{Counts, Group, INODE_BLOCKS_READY};
use super::layout::{FRAGS_PER_BLOCK, Layout, Version};
use super::{root, superblock};
use crate::record::Record;
use crate::{FormatOptions, Formatter, Volume};

/// newfs has a fragment of an eighth of a block, and Linux supports fragments of 512 to 4096 bytes.
const BLOCK_SIZES: [u32; 4] = [4096, 8192, 16384, 32768];
/// newfs's default for every size. It is also the fastest under Linux, which writes each new
/// fragment as zeros, one by one, before its data.
const BLOCK_DEFAULT: u32 = 32768;
/// The field has 32 bytes, with a final zero.
const LABEL_CHARACTERS_MAX: usize = 31;

/// UFS1.
pub(crate) static UFS1: Ufs = Ufs(Version::Ufs1);
/// UFS2.
pub(crate) static UFS2: Ufs = Ufs(Version::Ufs2);

/// A formatter of one of the two.
pub(crate) struct Ufs(Version);

impl Formatter for Ufs {
    fn name(&self) -> &'static str {
        match self.0 {
            Version::Ufs1 => "ufs1",
            Version::Ufs2 => "ufs2",
        }
    }

    fn title(&self) -> &'static str {
        match self.0 {
            Version::Ufs1 => "UFS1 (4.4BSD)",
            Version::Ufs2 => "UFS2 (FreeBSD)",
        }
    }

    fn block_sizes(&self) -> &'static [u32] {
        &BLOCK_SIZES
    }

    fn label_rule(&self) -> &'static str {
        "1 to 31 characters of A-Z, a-z, 0-9, '-' and '_'"
    }

    fn accepts_label(&self, label: &str) -> bool {
        (1..=LABEL_CHARACTERS_MAX).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    }

    fn limits(&self, block_bytes: Option<u32>) -> (Bytes, Bytes) {
        let block = block_bytes.unwrap_or(BLOCK_DEFAULT);
        let minimum = Layout::bytes_min(self.0, block);
        (Bytes(minimum), Bytes(Layout::bytes_max(self.0, block)))
    }

    fn write(&self, volume: &Volume, options: &FormatOptions) -> Result<(), Failure> {
        let block = options.block_bytes.unwrap_or(BLOCK_DEFAULT);
        let layout = Layout::new(self.0, block, volume.size().0)
            .expect("the size is within the limits of this block size");
        let (total, summary) = write_groups(volume, &layout, options)?;
        volume.write_at(layout.offset(0, layout.data_at), summary.as_bytes())?;
        let directory = root::directory(&layout);
        volume.write_at(layout.offset(0, layout.root_frag()), directory.as_bytes())?;
        let inode = root::inode(&layout, options);
        volume.write_at(root::inode_offset(&layout), inode.as_bytes())?;
        for group in 0..layout.groups {
            write_superblock(volume, &layout, &total, options, Some(group))?;
        }
        let first = u64::from(self.0.superblock_offset());
        if self.0 == Version::Ufs2 {
            let recovery = superblock::recovery(&layout);
            volume.write_at(
                first - recovery.as_bytes().len() as u64,
                recovery.as_bytes(),
            )?;
        }
        // Last, so that an interrupted format leaves no valid volume.
        write_superblock(volume, &layout, &total, options, None)
    }
}

/// Writes all groups' maps, clears their inodes, and adds up the free counts.
fn write_groups(
    volume: &Volume,
    layout: &Layout,
    options: &FormatOptions,
) -> Result<(Counts, Record), Failure> {
    let mut total = Counts::default();
    let mut summary = Record::new((layout.summary_frags() * layout.fragment) as usize);
    for index in 0..layout.groups {
        let group = Group::new(layout, index);
        total.add(&group.counts);
        summary.put(superblock::summary_bytes(index), &group.counts.summary());
        // UFS1 has no count of initialised inodes, so all of them must be.
        let inode_frags = match layout.version {
            Version::Ufs1 => layout.data_at - layout.inodes_at,
            Version::Ufs2 => {
                let ready = INODE_BLOCKS_READY * FRAGS_PER_BLOCK;
                ready.min(layout.data_at - layout.inodes_at)
            }
        };
        let end = layout.offset(index, layout.inodes_at + inode_frags);
        let from = layout.offset(index, layout.superblock_at);
        volume.zero(from, end - from)?;
        let maps = group.record(layout, index, options.created_unix_s);
        volume.write_at(layout.offset(index, layout.maps_at), maps.as_bytes())?;
    }
    Ok((total, summary))
}

/// Writes the copy of a group, or the first superblock.
fn write_superblock(
    volume: &Volume,
    layout: &Layout,
    total: &Counts,
    options: &FormatOptions,
    group: Option<u32>,
) -> Result<(), Failure> {
    let place = group.map_or(u64::from(layout.version.superblock_offset()), |group| {
        layout.offset(group, layout.superblock_at)
    });
    let record = superblock::superblock(layout, total, options, place);
    volume.write_at(place, record.as_bytes())
}
