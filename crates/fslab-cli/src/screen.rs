//! Output: tables, notices, errors. Results go to standard output, all else to standard error.
//!
//! Studies, traces, imports and file names may come from other users. Their control characters must
//! not reach the terminal, where they could move the cursor, set the title, inject answers, or hide
//! text. All output is escaped by [`plain`]; colours are added afterwards.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, TableStyle,
};
use fslab_report::{Align, Table, TableCell, Tone};
use owo_colors::{OwoColorize, Stream};

use crate::color;
use crate::exit::{CommandError, Exit};

/// Whether a character controls the terminal: C0 except line feed and tab, DEL, C1, and characters
/// that change the direction of text.
fn is_control(c: char) -> bool {
    let is_layout = matches!(c, '\n' | '\t');
    c.is_control() && !is_layout
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        )
        || matches!(c, '\u{2066}'..='\u{2069}')
}

/// The text with control characters escaped, such as `\u001b` for ESC: visible, without effect, and
/// equivalent in a JSON document.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_control(c) {
            true => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The same, with colours kept: for text whose untrusted parts went through [`plain`] or
/// [`render`].
fn plain_with_colours(text: &str) -> Cow<'_, str> {
    if !color::is_enabled() || !text.contains('\u{1b}') {
        return plain(text);
    }
    let mut pieces = text.split('\u{1b}');
    let mut shown = plain(pieces.next().unwrap_or_default()).into_owned();
    for piece in pieces {
        let end = piece.strip_prefix('[').and_then(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            rest[end..].starts_with('m').then_some(end + 2)
        });
        let (sequence, rest) = piece.split_at(end.unwrap_or(0));
        shown.push_str(if end.is_some() { "\u{1b}" } else { "\\u001b" });
        shown.push_str(sequence);
        shown.push_str(&plain(rest));
    }
    Cow::Owned(shown)
}

/// Writes `text` to standard output with control characters escaped. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    write_out(plain(text).as_bytes())
}

/// Writes text with colours, such as tables; its untrusted parts must have gone through [`plain`].
pub(crate) fn print_styled(text: &str) -> Result<(), CommandError> {
    write_out(plain_with_colours(text).as_bytes())
}

/// Writes a document for another program unchanged; on a terminal, control characters are escaped.
pub(crate) fn print_bytes(content: &[u8]) -> Result<(), CommandError> {
    if io::stdout().is_terminal() {
        return print_styled(&String::from_utf8_lossy(content));
    }
    write_out(content)
}

fn write_out(content: &[u8]) -> Result<(), CommandError> {
    let mut output = io::stdout().lock();
    match output.write_all(content).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CommandError::io("cannot write to standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Writes one line to standard error. Returns false if that failed, which must not stop a run: the
/// terminal may have been closed.
pub(crate) fn say(line: &str) -> bool {
    say_labelled("", line)
}

/// The same with a trusted label before it, which may be coloured.
fn say_labelled(label: &str, line: &str) -> bool {
    writeln!(io::stderr().lock(), "{label}{}", plain(line)).is_ok()
}

/// Writes a note to standard error.
pub(crate) fn notice(text: &str) {
    let label = "note:".if_supports_color(Stream::Stderr, |word| word.cyan());
    say_labelled(&format!("{label} "), text);
}

/// Writes a warning to standard error.
pub(crate) fn warn(text: &str) {
    let label = "warning:".if_supports_color(Stream::Stderr, |word| word.yellow());
    say_labelled(&format!("{label} "), text);
}

/// Writes an error with its causes and its hint to standard error.
pub(crate) fn print_error(error: &CommandError) {
    let failure = &error.failure;
    let label = "error:"
        .if_supports_color(Stream::Stderr, |word| word.red())
        .to_string();
    say_labelled(&format!("{label} "), &failure.message);
    for cause in &failure.causes {
        say(&format!("  caused by: {cause}"));
    }
    if let Some(hint) = &failure.hint {
        say(&format!("  hint: {hint}"));
    }
    debug_assert!(
        error.exit != Exit::Done,
        "an error needs an exit code other than 0"
    );
}

/// Lines below the header and below the table.
const TABLE_STYLE: TableStyle = TableStyle::new()
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// A table for the terminal.
pub(crate) fn render(table: &Table) -> String {
    let mut screen = comfy_table::Table::new();
    screen
        .load_style(TABLE_STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic);
    if screen.width().is_none() {
        screen.set_width(120);
    }
    if color::is_enabled() {
        screen.enforce_styling();
    } else {
        screen.force_no_tty();
    }
    let heads = table.columns.iter().map(|column| {
        let title = match &column.group {
            Some(group) => format!("{group}\n{}", column.title),
            None => column.title.clone(),
        };
        Cell::new(plain(&title))
            .add_attribute(Attribute::Bold)
            .set_alignment(align(column.align))
    });
    screen.set_header(heads);
    for row in &table.rows {
        let cells = row
            .iter()
            .zip(&table.columns)
            .map(|(cell, column)| screen_cell(cell).set_alignment(align(column.align)));
        screen.add_row(cells);
    }
    let mut text = format!("{}\n{screen}\n", plain(&table.caption));
    for note in &table.notes {
        text.push_str(&plain(note));
        text.push('\n');
    }
    text
}

fn align(align: Align) -> CellAlignment {
    match align {
        Align::Left => CellAlignment::Left,
        Align::Right => CellAlignment::Right,
    }
}

fn screen_cell(cell: &TableCell) -> Cell {
    let text = match &cell.detail {
        Some(detail) => format!("{}\n{detail}", cell.text),
        None => cell.text.clone(),
    };
    let screen = Cell::new(plain(&text));
    match cell.tone {
        Tone::Plain => screen,
        Tone::Strong => screen.add_attribute(Attribute::Bold).fg(Color::Green),
        Tone::Weak => screen.add_attribute(Attribute::Dim),
        Tone::Bad => screen.fg(Color::Red),
    }
}

/// `1 trial`, `2 trials`: a number with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A JSON document that ends with a line feed.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| {
        CommandError::bad_input(format!("cannot write the JSON document: {error}"))
    })?;
    Ok(text + "\n")
}

/// Writes a JSON document to standard output.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    print(&json(value)?)
}

#[cfg(test)]
mod tests {
    use fslab_report::Column;

    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(plain("a\tb\nü → 日本"), "a\tb\nü → 日本");
        assert_eq!(plain("\u{1b}]0;x\u{7}"), "\\u001b]0;x\\u0007");
        for c in [
            '\r', '\u{8}', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{2069}',
        ] {
            let shown = plain(&format!("a{c}b")).into_owned();
            assert_eq!(shown, format!("a\\u{:04x}b", u32::from(c)));
            let value: String = serde_json::from_str(&format!("\"{shown}\"")).expect("JSON");
            assert_eq!(value, format!("a{c}b"), "the same in a JSON document");
        }
    }

    #[test]
    fn all_parts_of_a_table_are_escaped() {
        let evil = "a\u{1b}[31mb\u{9d}0;c\u{202e}";
        let table = Table {
            caption: evil.into(),
            columns: vec![Column::left(evil).in_group(evil)],
            rows: vec![vec![TableCell {
                detail: Some(evil.into()),
                ..TableCell::new(evil)
            }]],
            notes: vec![evil.into()],
        };
        let text = render(&table);
        assert!(!text.contains("\u{1b}[31m"), "{text:?}");
        assert!(
            !text.contains(|c| is_control(c) && c != '\u{1b}'),
            "{text:?}"
        );
    }
}
