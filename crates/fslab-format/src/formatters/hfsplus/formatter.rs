//! The formatters `hfs+` and `hfsx`, after Apple's Technical Note 1150 and `newfs_hfs`.
//!
//! Volumes have no journal, because Linux mounts one with a journal read-only.

use fslab_model::{Bytes, Failure};

use super::header::volume_header;
use super::layout::{self, Layout};
use super::name;
use crate::formatters::mac::{BLOCK_SIZES, Bitmap, mac_seconds};
use crate::{FormatOptions, Formatter, Volume};

/// HFS+, with case-insensitive names.
pub(crate) static HFS_PLUS: HfsPlus = HfsPlus {
    variant: Variant::HfsPlus,
};
/// HFSX, with case-sensitive names.
pub(crate) static HFSX: HfsPlus = HfsPlus {
    variant: Variant::Hfsx,
};

/// The offset of the volume header, and of its copy from the end.
const HEADER_OFFSET: u64 = 1024;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    HfsPlus,
    Hfsx,
}

/// The formatter of both.
#[derive(Debug)]
pub(crate) struct HfsPlus {
    variant: Variant,
}

impl Formatter for HfsPlus {
    fn name(&self) -> &'static str {
        match self.variant {
            Variant::HfsPlus => "hfs+",
            Variant::Hfsx => "hfsx",
        }
    }

    fn title(&self) -> &'static str {
        match self.variant {
            Variant::HfsPlus => "HFS+",
            Variant::Hfsx => "HFSX",
        }
    }

    fn block_sizes(&self) -> &'static [u32] {
        &BLOCK_SIZES
    }

    fn label_rule(&self) -> &'static str {
        name::RULE
    }

    fn accepts_label(&self, label: &str) -> bool {
        name::is_valid(label)
    }

    fn limits(&self, block_bytes: Option<u32>) -> (Bytes, Bytes) {
        (
            Bytes(layout::min_bytes(block_bytes)),
            Bytes(layout::max_bytes(block_bytes)),
        )
    }

    fn write(&self, volume: &Volume, options: &FormatOptions) -> Result<(), Failure> {
        let size = volume.size().0;
        let layout = Layout::new(size, options.block_bytes);
        let created = mac_seconds(options.created_unix_s);
        let label = name::stored(options.label.as_deref().unwrap_or(name::DEFAULT));

        let mut bitmap = Bitmap::default();
        for blocks in layout.used() {
            bitmap.set(blocks);
        }
        let allocation = layout.allocation;
        bitmap.write(volume, layout.offset(allocation), layout.bytes(allocation))?;
        let offset = |extent| layout.offset(extent);
        layout
            .extents_tree()
            .write(volume, offset(layout.extents))?;
        layout
            .attributes_tree()
            .write(volume, offset(layout.attributes))?;
        layout
            .catalog_tree(self.variant, &label, created)
            .write(volume, offset(layout.catalog))?;

        let free = u64::from(layout.total_blocks) - bitmap.count();
        let free = u32::try_from(free).expect("free blocks are some of all blocks");
        let header = volume_header(self.variant, &layout, free, created, options.identity);
        volume.write_at(size - HEADER_OFFSET, header.as_bytes())?;
        volume.write_at(HEADER_OFFSET, header.as_bytes())
    }
}
