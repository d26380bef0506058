//! The formatter `hpfs`: its options and the order of its writes.

use fslab_model::{Bytes, Failure};

use crate::{FormatOptions, Formatter, Volume};

use super::code_page;
use super::layout::{self, BLOCK_SECTORS, Layout, SECTOR_BYTES};
use super::sectors::{self, LABEL_BYTES};

/// The default label, which OS/2 does not have.
const LABEL_DEFAULT: &str = "HPFS";

/// Largest write of adjacent bitmaps.
const PIECE_BYTES: usize = 1 << 20;

/// OS/2's High Performance File System.
#[derive(Debug)]
pub(crate) struct Hpfs;

impl Formatter for Hpfs {
    fn name(&self) -> &'static str {
        "hpfs"
    }

    fn title(&self) -> &'static str {
        "HPFS"
    }

    fn block_sizes(&self) -> &'static [u32] {
        &[]
    }

    fn label_rule(&self) -> &'static str {
        "1 to 11 printable ASCII characters except \" * + , . / : ; < = > ? [ \\ ] |, without a blank \
         at either end"
    }

    fn accepts_label(&self, label: &str) -> bool {
        (1..=LABEL_BYTES).contains(&label.len())
            && label.trim_matches(' ') == label
            && label
                .bytes()
                .all(|byte| matches!(byte, b' '..=b'~') && !b"\"*+,./:;<=>?[\\]|".contains(&byte))
    }

    fn limits(&self, _block_bytes: Option<u32>) -> (Bytes, Bytes) {
        layout::limits()
    }

    fn write(&self, volume: &Volume, options: &FormatOptions) -> Result<(), Failure> {
        let layout = Layout::new(volume.size());
        let offset = |sector: u32| u64::from(sector) * SECTOR_BYTES;
        let label = options.label.as_deref().unwrap_or(LABEL_DEFAULT);
        // A checker would take old directory blocks for lost ones.
        let centre = layout.centre();
        volume.zero(offset(centre.start), offset(centre.end - centre.start))?;
        let records = [
            (0, sectors::boot(&layout, label, options)),
            (16, sectors::super_block(&layout)),
            (17, sectors::spare_block(&layout)),
            (layout.bitmap_list(), sectors::bitmap_list(&layout)),
            (layout.hotfix_list(), sectors::hotfix_list(&layout)),
            (layout.code_page_directory(), code_page::directory(&layout)),
            (layout.code_page_data(), code_page::data()),
            (
                layout.directory_bitmap(),
                sectors::directory_bitmap(&layout),
            ),
            (
                layout.root_dnode(),
                sectors::root_dnode(&layout, options.created_unix_s),
            ),
            (layout.root_fnode(), sectors::root_fnode(&layout)),
        ];
        for (sector, record) in records {
            volume.write_at(offset(sector), record.as_bytes())?;
        }
        write_bitmaps(volume, &layout)
    }
}

fn write_bitmaps(volume: &Volume, layout: &Layout) -> Result<(), Failure> {
    let offset = |sector: u32| u64::from(sector) * SECTOR_BYTES;
    let mut piece = Vec::new();
    for band in 0..layout.bands() {
        piece.extend_from_slice(sectors::bitmap(layout, band).as_bytes());
        let next = layout.bitmap(band) + BLOCK_SECTORS;
        let is_last = band + 1 == layout.bands() || layout.bitmap(band + 1) != next;
        if is_last || piece.len() >= PIECE_BYTES {
            volume.write_at(offset(next) - piece.len() as u64, &piece)?;
            piece.clear();
        }
    }
    Ok(())
}
