//! Names of volumes: up to 27 characters of `MacRoman`.

use unicode_normalization::UnicodeNormalization;

/// The default name.
pub(super) const DEFAULT: &str = "untitled";
/// The rule for names.
pub(super) const RULE: &str = "1 to 27 characters of MacRoman, without ':' and NUL";

const CHARS_MAX: usize = 27;

/// `MacRoman` from 0x80 on, with the euro sign of Mac OS 8.5.
const UPPER_HALF: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø\
    ¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// `label` as stored; `None` if it is not a valid name.
pub(super) fn stored(label: &str) -> Option<Vec<u8>> {
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
        assert_eq!(stored("e\u{301}"), Some(vec![0x8e]));
        assert_eq!(stored("\u{a0}"), Some(vec![0xca]));
        assert_eq!(stored("\u{f8ff}ˇ"), Some(vec![0xf0, 0xff]));
        // NFC maps the ohm sign to the letter; both are one character here.
        assert_eq!(stored("\u{2126}"), Some(vec![0xbd]));
    }

    #[test]
    fn a_name_has_1_to_27_characters_and_no_colon() {
        assert!(stored(&"x".repeat(27)).is_some());
        assert!(stored(&"x".repeat(28)).is_none());
        assert!(stored("").is_none());
        assert!(stored("a:b").is_none());
        assert!(stored("日本").is_none());
    }
}
