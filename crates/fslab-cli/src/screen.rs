//! What stands on the terminal: tables, notices, errors. Results go to standard output, everything
//! else to standard error.

use std::io::{self, ErrorKind, Write};

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, TableStyle,
};
use fslab_report::{Align, Table, TableCell, Tone};
use owo_colors::{OwoColorize, Stream};

use crate::color;
use crate::exit::{CommandError, Exit};

/// Writes `text` to standard output. A reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    print_bytes(text.as_bytes())
}

/// The same for what need not be text.
pub(crate) fn print_bytes(content: &[u8]) -> Result<(), CommandError> {
    let mut output = io::stdout().lock();
    match output.write_all(content).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CommandError::io("cannot write to standard output", &error))
        }
        _ => Ok(()),
    }
}

/// One line on standard error, and whether it could be written. Nobody listening stops nothing: a
/// terminal that was closed must not cost the rest of a run.
pub(crate) fn say(line: &str) -> bool {
    writeln!(io::stderr().lock(), "{line}").is_ok()
}

/// One line of news on standard error.
pub(crate) fn notice(text: &str) {
    let label = "note:".if_supports_color(Stream::Stderr, |word| word.cyan());
    say(&format!("{label} {text}"));
}

/// One line about something that is wrong, but stops nothing.
pub(crate) fn warn(text: &str) {
    let label = "warning:".if_supports_color(Stream::Stderr, |word| word.yellow());
    say(&format!("{label} {text}"));
}

/// An error: what, why, and what to do.
pub(crate) fn print_error(error: &CommandError) {
    let failure = &error.failure;
    let label = "error:"
        .if_supports_color(Stream::Stderr, |word| word.red())
        .to_string();
    say(&format!("{label} {}", failure.message));
    for cause in &failure.causes {
        say(&format!("  caused by: {cause}"));
    }
    if let Some(hint) = &failure.hint {
        say(&format!("  hint: {hint}"));
    }
    debug_assert!(error.exit != Exit::Done, "an error that ends well");
}

/// A line below the heads and one below the table: rows are told apart by being rows.
const LINES: TableStyle = TableStyle::new()
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// A table for the terminal.
pub(crate) fn render(table: &Table) -> String {
    let mut screen = comfy_table::Table::new();
    screen
        .load_style(LINES)
        .set_content_arrangement(ContentArrangement::Dynamic);
    if screen.width().is_none() {
        screen.set_width(120);
    }
    if color::is_wanted() {
        screen.enforce_styling();
    } else {
        screen.force_no_tty();
    }
    let heads = table.columns.iter().map(|column| {
        let title = match &column.group {
            Some(group) => format!("{group}\n{}", column.title),
            None => column.title.clone(),
        };
        Cell::new(title)
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
    let mut text = format!("{}\n{screen}\n", table.caption);
    for note in &table.notes {
        text.push_str(note);
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
    let screen = Cell::new(text);
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

/// A JSON document with a line break at its end.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| {
        CommandError::bad_input(format!("cannot write the JSON document: {error}"))
    })?;
    Ok(text + "\n")
}

/// A pure JSON document on standard output.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    print(&json(value)?)
}
