//! The formatter `affs`: its options and the order of its writes.

use fslab_model::{Bytes, Failure};

use crate::{FormatOptions, Formatter, Volume};

use super::blocks::{self, LABEL_BYTES_MAX};
use super::layout::{self, BLOCK_SIZES, Layout};

/// The default of the Amiga's own formatter.
const LABEL_DEFAULT: &str = "Empty";

/// Approximate size of a write of bitmap blocks: one by one they would take minutes.
const PIECE_BYTES: usize = 1 << 20;

/// The Amiga's Fast File System.
#[derive(Debug)]
pub(crate) struct Affs;

impl Formatter for Affs {
    fn name(&self) -> &'static str {
        "affs"
    }

    fn title(&self) -> &'static str {
        "AFFS"
    }

    fn block_sizes(&self) -> &'static [u32] {
        &BLOCK_SIZES
    }

    fn label_rule(&self) -> &'static str {
        "1 to 30 characters of Latin-1, no '/' and ':' and no control characters"
    }

    fn accepts_label(&self, label: &str) -> bool {
        latin1(label).is_some_and(|label| {
            (1..=LABEL_BYTES_MAX).contains(&label.len())
                && label
                    .iter()
                    .all(|byte| !matches!(byte, 0..=0x1f | 0x7f..=0x9f | b'/' | b':'))
        })
    }

    fn limits(&self, block_bytes: Option<u32>) -> (Bytes, Bytes) {
        let [smallest, .., largest] = BLOCK_SIZES;
        match block_bytes {
            Some(block_bytes) => layout::limits(block_bytes),
            None => (layout::limits(smallest).0, layout::limits(largest).1),
        }
    }

    fn write(&self, volume: &Volume, options: &FormatOptions) -> Result<(), Failure> {
        let size = volume.size();
        let block_bytes = options
            .block_bytes
            .unwrap_or_else(|| layout::default_block_bytes(size));
        let layout = Layout::new(size, block_bytes);
        let label = latin1(options.label.as_deref().unwrap_or(LABEL_DEFAULT))
            .expect("the label was accepted, or is the default");
        // A reader would find an older root block of another block size before this one.
        let candidates = layout::root_candidates(size);
        volume.zero(candidates.start, candidates.end - candidates.start)?;
        volume.write_at(0, blocks::boot(&layout).as_bytes())?;
        let root = blocks::root(&layout, &label, options.created_unix_s);
        volume.write_at(layout.offset(layout.root), root.as_bytes())?;
        let bitmaps = (0..layout.bitmaps).map(|index| blocks::bitmap(&layout, index));
        let extensions = (0..layout.extensions).map(|index| blocks::extension(&layout, index));
        let mut offset = layout.offset(layout.bitmap(0));
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        for block in bitmaps.chain(extensions) {
            piece.extend_from_slice(block.as_bytes());
            if piece.len() >= PIECE_BYTES {
                volume.write_at(offset, &piece)?;
                offset += piece.len() as u64;
                piece.clear();
            }
        }
        volume.write_at(offset, &piece)
    }
}

/// `text` in Latin-1, the Amiga's character set; `None` if it has other characters.
fn latin1(text: &str) -> Option<Vec<u8>> {
    text.chars()
        .map(|character| u8::try_from(u32::from(character)).ok())
        .collect()
}
