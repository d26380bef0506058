//! The input: the bytes of one file, with its name.

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
    /// Invalid UTF-8 becomes the replacement character: names of machines and paths may have any
    /// encoding, figures are ASCII.
    pub(crate) fn text(&self) -> Result<String, Fault> {
        let content = &self.content;
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        let is_control = |byte: &u8| *byte < 0x20 && !b"\t\n\r\x0c\x1b\x08".contains(byte);
        if let Some(offset) = content.iter().position(is_control) {
            return Err(binary(offset));
        }
        if let Err(error) = std::str::from_utf8(content)
            && mostly_foreign(content)
        {
            return Err(binary(error.valid_up_to()));
        }
        let text = String::from_utf8_lossy(content);
        if text.trim().is_empty() {
            return Err(Fault::new("", "it is empty").hint(
                "import what the tool wrote to standard output; an empty file often means that \
                 the command failed",
            ));
        }
        Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
    }
}

fn binary(offset: usize) -> Fault {
    Fault::foreign(format!(
        "it is not text: the byte at offset {offset} is invalid"
    ))
}

/// True if more than a tenth of the bytes are beyond ASCII.
fn mostly_foreign(content: &[u8]) -> bool {
    let foreign = content.iter().filter(|byte| !byte.is_ascii()).count();
    foreign * 10 > content.len()
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
        source.text()
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
        assert_eq!(fault(b" \n\t").to_string(), "it is empty");
        assert_eq!(fault(b"").to_string(), "it is empty");
    }

    #[test]
    fn a_path_in_another_encoding_does_not_make_a_text_binary() {
        let read = text(b"Command line used: iozone -f /mnt/gr\xf6\xdfe/f and more of it");
        assert!(read.is_ok_and(|text| text.starts_with("Command line")));
    }
}
