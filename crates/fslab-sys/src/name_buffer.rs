//! A path or name as a C string that is rewritten in place.
//!
//! No byte of the text is zero, and a zero byte follows it: every method keeps that, so that a C
//! string of it needs no search for its end, which would cost as much as the rest of an operation
//! on a name.

use std::ffi::CStr;

/// Digits that [`eight_digits`] gives.
const DIGITS: usize = 8;
/// First number with more digits.
const BEYOND_DIGITS: u64 = 100_000_000;

/// A text without zero bytes; starts empty.
#[derive(Clone, Debug)]
pub struct NameBuffer {
    /// The text and the zero byte.
    bytes: Vec<u8>,
}

impl NameBuffer {
    /// An empty text. Up to `capacity` bytes, nothing is allocated later.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity + 1);
        bytes.push(0);
        Self { bytes }
    }

    /// Length of the text in bytes.
    #[inline]
    pub fn length(&self) -> usize {
        self.bytes.len() - 1
    }

    /// Shortens the text to `length` bytes; a shorter text stays as it is.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        if length < self.length() {
            self.bytes[length] = 0;
            self.bytes.truncate(length + 1);
        }
    }

    /// Appends `text`.
    ///
    /// # Panics
    /// If it has a zero byte.
    pub fn push(&mut self, text: &[u8]) {
        assert!(!text.contains(&0), "a name with a zero byte");
        self.append(text);
    }

    /// Appends `letter`, and `number` in decimal with leading zeros up to `width` digits, at most
    /// 20.
    ///
    /// # Panics
    /// If `letter` is zero.
    pub fn push_numbered(&mut self, letter: u8, number: u64, width: usize) {
        assert!(letter != 0, "a name with a zero byte");
        self.append(&[letter]);
        self.push_number(number, width);
    }

    /// Replaces the text from `start` by `letter` and the number, as if truncated there and
    /// appended. A number of eight digits that replaces another is written over it.
    ///
    /// # Panics
    /// If `letter` is zero.
    #[inline]
    pub fn renumber(&mut self, start: usize, letter: u8, number: u64, width: usize) {
        let end = start + 1 + DIGITS;
        let fits = width == DIGITS && number < BEYOND_DIGITS && self.length() == end;
        if fits && letter != 0 {
            let text = &mut self.bytes[start..end];
            text[0] = letter;
            text[1..].copy_from_slice(&eight_digits(number));
        } else {
            self.truncate(start);
            self.push_numbered(letter, number, width);
        }
    }

    /// Appends `number` in decimal with leading zeros up to `width` digits, at most 20.
    pub fn push_number(&mut self, number: u64, width: usize) {
        let mut digits = [b'0'; 20];
        let (mut rest, mut at) = (number, digits.len());
        while rest > 0 {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.append(&digits[at.min(digits.len() - width)..]);
    }

    /// The text as a C string.
    #[inline]
    pub fn as_c_str(&self) -> &CStr {
        debug_assert!(CStr::from_bytes_with_nul(&self.bytes).is_ok());
        // SAFETY: the last byte is zero, and no other is: see the invariant of this file.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.bytes) }
    }

    /// Appends a text without zero bytes.
    #[inline]
    fn append(&mut self, text: &[u8]) {
        self.bytes.pop();
        self.bytes.extend_from_slice(text);
        self.bytes.push(0);
    }
}

/// The eight decimal digits of `number`, which is below 10^8: it is halved to numbers of four
/// digits, of two, of one, and the parts are divided at once, each in its lane of one word. A
/// division by a constant is a multiplication and a shift, exact for numbers this small.
///
/// The method is described in Khuong, "How to print integers really fast", 2017.
#[inline]
fn eight_digits(number: u64) -> [u8; DIGITS] {
    debug_assert!(number < BEYOND_DIGITS);
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 5_243) >> 19) & 0x0000_007f_0000_007f;
    let pairs = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = tens | ((pairs - tens * 10) << 8);
    (digits | 0x3030_3030_3030_3030).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &NameBuffer) -> &str {
        name.as_c_str().to_str().expect("ASCII")
    }

    #[test]
    fn every_number_of_eight_digits_is_printed_as_by_the_library() {
        // Every number of four digits in both halves, and the borders.
        let halves = (0..10_000).flat_map(|half| [half, half * 10_000, half * 10_001]);
        for number in halves.chain([BEYOND_DIGITS - 1]) {
            let digits = eight_digits(number);
            assert_eq!(digits, *format!("{number:08}").as_bytes(), "{number}");
        }
    }

    #[test]
    fn a_number_has_leading_zeros_and_as_many_digits_as_it_needs() {
        let mut name = NameBuffer::with_capacity(4);
        name.push_numbered(b'f', 1_234, 8);
        assert_eq!(text(&name), "f00001234");
        name.truncate(0);
        name.push_numbered(b'd', 12, 4);
        name.push(b"/");
        name.push_numbered(b'f', u64::MAX, 8);
        assert_eq!(text(&name), "d0012/f18446744073709551615");
        name.truncate(5);
        name.push_number(0, 1);
        assert_eq!(text(&name), "d00120");
    }

    #[test]
    fn a_new_number_replaces_what_follows_the_start_whatever_its_length() {
        let mut name = NameBuffer::with_capacity(0);
        name.push(b"d0/");
        for (letter, number) in [
            (b'f', 0),
            (b'r', 99_999_999),
            (b'f', BEYOND_DIGITS),
            (b'l', 7),
        ] {
            name.renumber(3, letter, number, 8);
            let expected = format!("d0/{}{number:08}", char::from(letter));
            assert_eq!(text(&name), expected);
        }
        name.renumber(0, b'd', 12, 4);
        assert_eq!(text(&name), "d0012");
    }

    #[test]
    fn a_text_is_shortened_and_never_lengthened_by_a_truncation() {
        let mut name = NameBuffer::with_capacity(0);
        name.push(b"abc");
        name.truncate(7);
        assert_eq!((text(&name), name.length()), ("abc", 3));
        name.truncate(1);
        assert_eq!((text(&name), name.length()), ("a", 1));
    }

    #[test]
    #[should_panic(expected = "a name with a zero byte")]
    fn a_zero_byte_is_refused() {
        NameBuffer::with_capacity(8).push(b"a\0b");
    }
}
