//! Text that is set as a paragraph, in lines of one width.

use std::fmt::Write;

/// Columns of a line.
const WIDTH: usize = 96;

/// Writes `words` in lines of [`WIDTH`], each after `indent`.
pub(crate) fn write_paragraph(text: &mut String, indent: &str, words: &str) -> std::fmt::Result {
    let mut line = String::from(indent);
    for word in words.split_whitespace() {
        let length = line.chars().count() + 1 + word.chars().count();
        if length > WIDTH && line.len() > indent.len() {
            writeln!(text, "{line}")?;
            line.clear();
            line.push_str(indent);
        }
        if line.len() > indent.len() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(text, "{line}")
}
