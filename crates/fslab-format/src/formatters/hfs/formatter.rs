//! The formatter `hfs`, after Inside Macintosh: Files, chapter 2.
//!
//! Names of volumes have up to 27 characters of `MacRoman`.

use fslab_model::{Bytes, Failure};
use unicode_normalization::UnicodeNormalization;

use super::layout::{self, Layout, master_directory_block};
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
        LABEL_RULE
    }

    fn accepts_label(&self, label: &str) -> bool {
        stored_label(label).is_some()
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
        let label = options.label.as_deref().unwrap_or(LABEL_DEFAULT);
        let label = stored_label(label).expect("the label was checked before");

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

/// The default name.
const LABEL_DEFAULT: &str = "untitled";
/// The rule for names.
const LABEL_RULE: &str = "1 to 27 characters of MacRoman, without ':' and NUL";

const CHARS_MAX: usize = 27;

/// `MacRoman` from 0x80 on, with the euro sign of Mac OS 8.5.
const UPPER_HALF: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø\
    ¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// `label` as stored; `None` if it is not a valid name.
fn stored_label(label: &str) -> Option<Vec<u8>> {
    let name: Vec<u8> = label.nfc().map(mac_roman).collect::<Option<_>>()?;
    (1..=CHARS_MAX).contains(&name.len()).then_some(name)
}

fn mac_roman(char: char) -> Option<u8> {
    match char {
        ':' | '\0' => None,
        '\0'..='\x7f' => u8::try_from(char).ok(),
        _ => {
            let index = UPPER_HALF.chars().position(|known| known == char)?;
            u8::try_from(0x80 + index).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_half_is_complete() {
        assert_eq!(UPPER_HALF.chars().count(), 128);
        assert_eq!(stored_label("e\u{301}"), Some(vec![0x8e]));
        assert_eq!(stored_label("\u{a0}"), Some(vec![0xca]));
        assert_eq!(stored_label("\u{f8ff}ˇ"), Some(vec![0xf0, 0xff]));
        // NFC maps the ohm sign to the letter; both are one character here.
        assert_eq!(stored_label("\u{2126}"), Some(vec![0xbd]));
    }

    #[test]
    fn a_name_has_1_to_27_characters_and_no_colon() {
        assert!(stored_label(&"x".repeat(27)).is_some());
        assert!(stored_label(&"x".repeat(28)).is_none());
        assert!(stored_label("").is_none());
        assert!(stored_label("a:b").is_none());
        assert!(stored_label("日本").is_none());
    }
}
