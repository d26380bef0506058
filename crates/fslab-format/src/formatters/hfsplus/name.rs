//! Names of volumes: UTF-16, decomposed.

use unicode_normalization::char::{canonical_combining_class, decompose_canonical};

/// The default of `newfs_hfs`.
pub(super) const DEFAULT: &str = "untitled";
/// The rule for names.
pub(super) const RULE: &str = "1 to 255 UTF-16 units when decomposed, without ':' and NUL";

const UNITS_MAX: usize = 255;

pub(super) fn is_valid(label: &str) -> bool {
    let units = stored(label).len();
    (1..=UNITS_MAX).contains(&units) && !label.contains([':', '\0'])
}

/// `label` as stored.
pub(super) fn stored(label: &str) -> Vec<u16> {
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
        let stored = |label| String::from_utf16(&stored(label)).unwrap();
        assert_eq!(stored("caf\u{e9}"), "cafe\u{301}");
        assert_eq!(stored("\u{ac00}"), "\u{1100}\u{1161}");
        assert_eq!(stored("\u{2260}\u{f900}"), "\u{2260}\u{f900}");
        // A dot below and an acute accent, in either order.
        assert_eq!(stored("\u{e1}\u{323}"), stored("\u{1ea1}\u{301}"));
    }

    #[test]
    fn a_name_is_as_long_as_it_is_on_the_disk() {
        assert!(is_valid(&"x".repeat(255)));
        assert!(!is_valid(&"x".repeat(256)));
        assert!(is_valid(&"\u{e9}".repeat(127)));
        assert!(!is_valid(&"\u{e9}".repeat(128)));
        assert!(!is_valid(&"\u{1f600}".repeat(128)));
        assert!(!is_valid(""));
        assert!(!is_valid("a:b"));
    }
}
