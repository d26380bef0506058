//! Wraps text into lines.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

/// Columns of a line.
const WIDTH: usize = 96;

/// Writes `words` in lines of at most [`WIDTH`] columns, each after `indent`.
pub(crate) fn write_paragraph(text: &mut String, indent: &str, words: &str) -> std::fmt::Result {
    for line in wrap(words, WIDTH - indent.len()) {
        writeln!(text, "{indent}{line}")?;
    }
    Ok(())
}

/// `words` in lines of at most `width` columns, at least one line.
pub(crate) fn wrap(words: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words.split_whitespace() {
        if !line.is_empty() {
            if line.width() + 1 + word.width() > width {
                lines.push(std::mem::take(&mut line));
            } else {
                line.push(' ');
            }
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}
