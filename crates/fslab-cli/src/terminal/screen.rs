//! Output: tables, notices, errors. Results go to standard output, all else to standard error.
//!
//! Studies, traces, imports and file names may come from other users. Their control characters must
//! not reach the terminal, where they could move the cursor, set the title, inject answers, or hide
//! text. All output is escaped by [`plain`]; colours are added afterwards.

use std::borrow::Cow;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use owo_colors::{OwoColorize, Stream};

use crate::exit::{CommandError, Exit};
use crate::settings::in_force;
use crate::terminal::color;
use crate::terminal::paragraph::wrap;

/// Bytes of a long text that are written at once.
const PART_BYTES: usize = 64 << 10;

/// Whether a character controls the terminal: C0 except line feed and tab, DEL, C1, and characters
/// that change the direction of text.
pub(crate) fn is_control(c: char) -> bool {
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
/// [`table::render`](crate::terminal::table::render).
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
    written(output.write_all(content).and_then(|()| output.flush()))
}

/// Writes a text of any length to standard output while `write` makes it, with control characters
/// escaped. A closed pipe is not an error, and ends it.
pub(crate) fn print_as_made(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CommandError> {
    let output = BufWriter::with_capacity(PART_BYTES, io::stdout().lock());
    let mut output = PlainWriter { output };
    written(write(&mut output).and_then(|()| output.flush()))
}

/// Writes a JSON document to standard output while it is made.
pub(crate) fn print_long_json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    print_as_made(|output| {
        serde_json::to_writer_pretty(&mut *output, value)?;
        output.write_all(b"\n")
    })
}

/// Escapes what goes through it.
struct PlainWriter<W: Write> {
    output: BufWriter<W>,
}

impl<W: Write> Write for PlainWriter<W> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        // Parts of a text end between characters.
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
        match part.iter().all(is_plain) {
            true => self.output.write_all(part)?,
            false => {
                let text = String::from_utf8_lossy(part);
                self.output.write_all(plain(&text).as_bytes())?;
            }
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

fn written(result: io::Result<()>) -> Result<(), CommandError> {
    match result {
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

static QUIET: OnceLock<bool> = OnceLock::new();

/// Whether notes and progress are left out, from now on.
pub(crate) fn set_quiet(is_quiet: bool) {
    let _ = QUIET.set(is_quiet);
}

/// Whether only results, warnings and errors are written.
pub(crate) fn is_quiet() -> bool {
    QUIET.get().copied().unwrap_or(false)
}

/// Writes a note to standard error, unless this command is quiet.
pub(crate) fn notice(text: &str) {
    if is_quiet() {
        return;
    }
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

/// Names the settings of the user: after an error of the input, which may be one of them.
pub(crate) fn name_settings() {
    let settings = &in_force().all;
    if settings.is_empty() {
        return;
    }
    let shown = settings
        .iter()
        .map(|setting| format!("--{} ({})", setting.option, setting.origin));
    let shown = shown.collect::<Vec<_>>().join(", ");
    say(&format!(
        "  settings: {shown}; see `fslab config show`, or ignore them with --no-config"
    ));
}

/// How text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// Columns of a line.
    pub(crate) columns: usize,
    /// Whether characters beyond ASCII may be used in drawings.
    pub(crate) is_unicode: bool,
    /// Whether sentences are wrapped, as on a terminal; programs want them on one line.
    pub(crate) wraps: bool,
}

/// Columns of a table that is not written to a terminal.
const FILE_COLUMNS: usize = 120;
/// The fewest columns that output is laid out for.
const COLUMNS_MIN: usize = 20;

impl Lines {
    /// Those of a text file, which are the same on every machine.
    pub(crate) const FILE: Self = Self {
        columns: FILE_COLUMNS,
        is_unicode: true,
        wraps: false,
    };

    /// Those of standard output: of the terminal, or as COLUMNS says.
    pub(crate) fn of_output() -> Self {
        let terminal = comfy_table::Table::new().width().map(usize::from);
        let said = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
        let columns = terminal.or_else(said).filter(|columns| *columns > 0);
        Self {
            columns: columns.map_or(FILE_COLUMNS, |columns| columns.max(COLUMNS_MIN)),
            is_unicode: is_unicode(|name| std::env::var(name).ok()),
            wraps: columns.is_some(),
        }
    }

    /// A text as lines, each with a line feed.
    pub(crate) fn wrap(self, text: &str) -> String {
        if !self.wraps {
            return format!("{text}\n");
        }
        let lines = text.lines().flat_map(|line| wrap(line, self.columns));
        lines.map(|line| line + "\n").collect()
    }
}

/// Whether the locale has UTF-8, by the first variable that is set. [locale(7)]
fn is_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let mut set = names.filter_map(variable).filter(|value| !value.is_empty());
    let locale = set.next().unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
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
    fn what_is_written_as_it_is_made_is_escaped_as_a_whole_text_is() {
        let mut writer = PlainWriter {
            output: BufWriter::new(Vec::new()),
        };
        let parts = ["a\tb\n", "ü → 日本", "\u{1b}]0;x\u{7}", "\u{202e}c\u{7f}"];
        for part in parts {
            write!(writer, "{part}").expect("memory");
        }
        writer.flush().expect("memory");
        let found = String::from_utf8(writer.output.into_inner().expect("memory"));
        assert_eq!(found.expect("text"), plain(&parts.concat()));
    }

    #[test]
    fn the_locale_decides_about_characters_beyond_ascii() {
        let of = |set: &[(&str, &str)]| {
            is_unicode(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(of(&[("LANG", "en_GB.UTF-8")]));
        assert!(of(&[("LC_ALL", "C.utf8"), ("LANG", "C")]));
        assert!(of(&[("LC_ALL", ""), ("LC_CTYPE", "UTF-8")]));
        assert!(!of(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]));
        assert!(!of(&[]));
    }
}
