//! The input: the bytes of one file, with its name.

use std::borrow::Cow;

use fslab_model::Subject;

use crate::error::Fault;

/// One output of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's name, for errors and facts; or `standard input`.
    pub name: String,
    /// Its bytes.
    pub content: Vec<u8>,
    /// The subject given by the user, which overrides the file's.
    pub subject: Option<Subject>,
}

impl Source {
    /// The text, without a byte order mark and with line feeds as line ends.
    ///
    /// UTF-16 is known by its byte order mark. Invalid UTF-8 and control characters become the
    /// replacement character: names of machines and paths may have any bytes, figures are ASCII.
    pub(crate) fn text(&self) -> Result<Cow<'_, str>, Fault> {
        let mut text = match &*self.content {
            [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes)?.into(),
            [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes)?.into(),
            [0xef, 0xbb, 0xbf, rest @ ..] => narrow(rest, 3)?,
            content => narrow(content, 0)?,
        };
        if text.trim().is_empty() {
            return Err(Fault::new("", "it is empty").hint(
                "import what the tool wrote to standard output; an empty file often means that \
                 the command failed",
            ));
        }
        // Most outputs need no change, and may be large: they are not copied.
        if memchr::memchr(b'\r', text.as_bytes()).is_some() {
            text = text.replace("\r\n", "\n").replace('\r', "\n").into();
        }
        if has_control(text.as_bytes()) {
            text = text
                .replace(|c: char| u8::try_from(c).is_ok_and(is_control), "\u{fffd}")
                .into();
        }
        Ok(text)
    }
}

/// Text of UTF-8, `offset` bytes into the file.
fn narrow(content: &[u8], offset: usize) -> Result<Cow<'_, str>, Fault> {
    if let Some(at) = memchr::memchr(0, content) {
        return Err(match is_wide(content) {
            true => Fault::new("", "it is UTF-16 without a byte order mark")
                .hint("convert it: iconv -f UTF-16LE -t UTF-8, or -f UTF-16BE"),
            false => binary(offset + at),
        });
    }
    if let (Ok(text), false) = (std::str::from_utf8(content), has_control(content)) {
        return Ok(text.into());
    }
    // Names are at most a tenth of an output.
    let is_odd = |byte: &u8| !byte.is_ascii() || is_control(*byte);
    let odd = content.iter().filter(|byte| is_odd(byte)).count();
    if odd * 10 > content.len() {
        let first = content.iter().position(is_odd).unwrap_or_default();
        return Err(binary(offset + first));
    }
    Ok(String::from_utf8_lossy(content))
}

/// Text of UTF-16, as PowerShell writes it.
fn wide(content: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, Fault> {
    let (units, rest) = content.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Fault::truncated(
            "",
            "it is UTF-16 with an odd number of bytes",
        ));
    }
    let units = units.iter().map(|bytes| unit(*bytes));
    let text: String = char::decode_utf16(units)
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    match text.find('\0') {
        Some(at) => Err(binary(2 + 2 * at)),
        None => Ok(text),
    }
}

/// True if every second byte of the beginning is 0, as in ASCII of UTF-16.
fn is_wide(content: &[u8]) -> bool {
    const LOOKED_AT: usize = 64;
    let begin = &content[..content.len().min(LOOKED_AT) & !1];
    let zeros = |first: usize| begin.iter().skip(first).step_by(2).all(|byte| *byte == 0);
    let others = |first: usize| begin.iter().skip(first).step_by(2).all(|byte| *byte != 0);
    begin.len() >= 4 && (zeros(1) && others(0) || zeros(0) && others(1))
}

/// Looks at blocks: without an early end the compiler makes it many bytes at once.
fn has_control(content: &[u8]) -> bool {
    let has = |block: &[u8]| {
        block
            .iter()
            .fold(false, |has, byte| has | is_control(*byte))
    };
    content.chunks(4096).any(has)
}

/// A control character that is no part of a text, unlike those of lines and terminals.
fn is_control(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c' | b'\x1b' | b'\x08')
}

fn binary(offset: usize) -> Fault {
    Fault::foreign(format!(
        "it is not text: the byte at offset {offset} is invalid"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content: &[u8]) -> Result<String, Fault> {
        let source = Source {
            name: "f".into(),
            content: content.into(),
            subject: None,
        };
        source.text().map(Cow::into_owned)
    }

    #[test]
    fn line_ends_and_byte_order_marks_of_other_systems_are_no_part_of_the_text() {
        assert_eq!(text(b"\xef\xbb\xbfa\r\nb\rc\n"), Ok("a\nb\nc\n".into()));
    }

    #[test]
    fn what_is_no_text_is_refused_by_the_offset() {
        let fault = |content: &[u8]| text(content).expect_err("no text");
        assert_eq!(fault(b"a\0b"), binary(1));
        assert_eq!(fault(b"a\xff\xfe\xfd"), binary(1));
        assert_eq!(fault(b"\x01\x02\x03abc"), binary(0));
        assert_eq!(fault(b"\xef\xbb\xbfa\0b"), binary(4));
        assert_eq!(fault(b"\xff\xfea\0\0\0"), binary(4));
        let wide = fault(b"{\0\"\0a\0").to_string();
        assert_eq!(wide, "it is UTF-16 without a byte order mark");
        let odd = fault(b"\xff\xfea\0b").to_string();
        assert!(odd.contains("an odd number of bytes"), "{odd}");
        assert_eq!(fault(b" \n\t").to_string(), "it is empty");
        assert_eq!(fault(b"").to_string(), "it is empty");
    }

    #[test]
    fn utf_16_is_read_in_both_orders() {
        assert_eq!(text(b"\xff\xfea\0\r\0\n\0"), Ok("a\n".into()));
        assert_eq!(text(b"\xfe\xff\0a\0\n"), Ok("a\n".into()));
    }

    /// A control character in a path was taken for a binary file.
    #[test]
    fn a_control_character_in_a_path_does_not_make_a_text_binary() {
        let read = text(b"Path: \x04 and more of the line\n");
        assert_eq!(read, Ok("Path: \u{fffd} and more of the line\n".into()));
    }

    #[test]
    fn a_path_in_another_encoding_does_not_make_a_text_binary() {
        let read = text(b"Command line used: iozone -f /mnt/gr\xf6\xdfe/f and more of it");
        assert!(read.is_ok_and(|text| text.starts_with("Command line")));
    }
}
