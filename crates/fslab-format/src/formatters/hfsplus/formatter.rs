//! The formatters `hfs+` and `hfsx`, after Apple's Technical Note 1150 and `newfs_hfs`.
//!
//! Volumes have no journal, because Linux mounts one with a journal read-only.
//!
//! Names of volumes are UTF-16, decomposed.

use fslab_model::{Bytes, Failure};
use unicode_normalization::char::{canonical_combining_class, decompose_canonical};

use super::layout::{self, Layout, Variant, volume_header};
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
        LABEL_RULE
    }

    fn accepts_label(&self, label: &str) -> bool {
        is_valid_label(label)
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
        let label = stored_label(options.label.as_deref().unwrap_or(LABEL_DEFAULT));

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

/// The default of `newfs_hfs`.
const LABEL_DEFAULT: &str = "untitled";
/// The rule for names.
const LABEL_RULE: &str = "1 to 255 UTF-16 units when decomposed, without ':' and NUL";

const UNITS_MAX: usize = 255;

fn is_valid_label(label: &str) -> bool {
    let units = stored_label(label).len();
    (1..=UNITS_MAX).contains(&units) && !label.contains([':', '\0'])
}

/// `label` as stored.
fn stored_label(label: &str) -> Vec<u16> {
    let mut chars = Vec::new();
    for char in label.chars() {
        if stays_composed(char) {
            chars.push(char);
        } else {
            decompose_canonical(char, |part| chars.push(part));
        }
    }
    // Marks on one letter are sorted by class, stably.
    for marks in chars.chunk_by_mut(|_, next| canonical_combining_class(*next) != 0) {
        marks.sort_by_key(|char| canonical_combining_class(*char));
    }
    String::from_iter(chars).encode_utf16().collect()
}

/// Apple's decomposition is that of Unicode 2.1 without these ranges: no symbols, no compatibility
/// ideographs, and no characters of two units.
fn stays_composed(char: char) -> bool {
    matches!(u32::from(char), 0x2000..=0x2fff | 0xf900..=0xfaff | 0x1_0000..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_decomposed_and_symbols_are_not() {
        let stored = |label| String::from_utf16(&stored_label(label)).unwrap();
        assert_eq!(stored("caf\u{e9}"), "cafe\u{301}");
        assert_eq!(stored("\u{ac00}"), "\u{1100}\u{1161}");
        assert_eq!(stored("\u{2260}\u{f900}"), "\u{2260}\u{f900}");
        // A dot below and an acute accent, in either order.
        assert_eq!(stored("\u{e1}\u{323}"), stored("\u{1ea1}\u{301}"));
    }

    #[test]
    fn a_name_is_as_long_as_it_is_on_the_disk() {
        assert!(is_valid_label(&"x".repeat(255)));
        assert!(!is_valid_label(&"x".repeat(256)));
        assert!(is_valid_label(&"\u{e9}".repeat(127)));
        assert!(!is_valid_label(&"\u{e9}".repeat(128)));
        assert!(!is_valid_label(&"\u{1f600}".repeat(128)));
        assert!(!is_valid_label(""));
        assert!(!is_valid_label("a:b"));
    }
}
