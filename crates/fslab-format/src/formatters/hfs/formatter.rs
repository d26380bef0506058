//! The formatter `hfs`, after Inside Macintosh: Files, chapter 2.

use fslab_model::{Bytes, Failure};

use super::layout::{self, Layout};
use super::mdb::master_directory_block;
use super::name;
use crate::formatters::mac::{BLOCK_SIZES, Bitmap, mac_seconds};
use crate::{FormatOptions, Formatter, Volume};

/// The offset of the master directory block, and of its copy from the end.
const MDB_OFFSET: u64 = 1024;

/// HFS: at most 65,535 allocation blocks, and files below 2 GiB.
#[derive(Debug)]
pub(crate) struct Hfs;

impl Formatter for Hfs {
    fn name(&self) -> &'static str {
        "hfs"
    }

    fn title(&self) -> &'static str {
        "HFS"
    }

    fn block_sizes(&self) -> &'static [u32] {
        &BLOCK_SIZES
    }

    fn label_rule(&self) -> &'static str {
        name::RULE
    }

    fn accepts_label(&self, label: &str) -> bool {
        name::stored(label).is_some()
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
        let label = options.label.as_deref().unwrap_or(name::DEFAULT);
        let label = name::stored(label).expect("the label was checked before");

        let mut bitmap = Bitmap::default();
        bitmap.set(0..layout.used_blocks());
        bitmap.write(volume, layout::BITMAP_OFFSET, layout.bitmap_bytes())?;
        layout
            .extents_tree()
            .write(volume, layout.extents_offset())?;
        layout
            .catalog_tree(&label, created)
            .write(volume, layout.catalog_offset())?;

        let mdb = master_directory_block(&layout, &label, created, options.identity);
        volume.write_at(size - MDB_OFFSET, mdb.as_bytes())?;
        volume.write_at(MDB_OFFSET, mdb.as_bytes())
    }
}
