//! Texts in XML and HTML: characters with a meaning there, and characters that may not be there.
//!
//! XML 1.0 allows no control character but tab and line breaks, and neither U+FFFE nor U+FFFF, not
//! even as a reference: a document with one of them is not well-formed, and is refused
//! (section 2.2, production `Char`). HTML has the same characters as errors.

/// The text escaped for HTML and SVG, attributes included.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// A complete document, in which U+FFFD replaces the characters that no document may have. Every
/// document of this crate passes through here once it is complete.
pub(crate) fn document(text: String) -> String {
    match text.contains(is_forbidden) {
        true => text.replace(is_forbidden, "\u{fffd}"),
        false => text,
    }
}

/// True for the characters that are not in `Char` of XML 1.0. Halves of surrogate pairs are not
/// either, and are in no text of Rust.
pub(crate) fn is_forbidden(letter: char) -> bool {
    !matches!(letter,
        '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_characters_are_those_of_xml_1_0() {
        for letter in [
            '\0', '\u{1}', '\u{b}', '\u{c}', '\u{1b}', '\u{1f}', '\u{fffe}', '\u{ffff}',
        ] {
            assert!(is_forbidden(letter), "{letter:?}");
        }
        for letter in [
            '\t',
            '\n',
            '\r',
            ' ',
            '\u{7f}',
            '\u{85}',
            'ß',
            '\u{fffd}',
            '\u{10ffff}',
        ] {
            assert!(!is_forbidden(letter), "{letter:?}");
        }
        let text = "a\u{fffe}b\u{ffff}c\u{1b}".to_owned();
        assert_eq!(document(text), "a\u{fffd}b\u{fffd}c\u{fffd}");
    }
}
