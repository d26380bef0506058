//! Tables as data; terminal, HTML, Markdown, CSV and LaTeX are renderings.

use crate::{Cells, ReportError, xml};

/// Alignment of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Words.
    #[default]
    Left,
    /// Numbers.
    Right,
}

/// The tone of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// A figure.
    #[default]
    Plain,
    /// A figure that is certainly the best.
    Strong,
    /// No figure, or a less important one.
    Weak,
    /// An error.
    Bad,
}

/// A column's head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    pub title: String,
    /// A common title of adjacent columns, such as "Latency".
    pub group: Option<String>,
    /// Where its text stands.
    pub align: Align,
    /// The metric or term shown, as named in docs/figures.md.
    pub figure: Option<&'static str>,
    /// The column's subject, by index in the plan.
    pub subject: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableCell {
    pub text: String,
    /// A second, less important line, such as a ratio or a reason.
    pub detail: Option<String>,
    pub tone: Tone,
    /// Depth of a heat map's colour, 0 (far behind) to 9 (the best).
    pub heat: Option<u8>,
    /// The unrounded ratio to the best, in billionths; a page derives ratios to other subjects from
    /// it.
    pub ratio: Option<u64>,
    /// Its share of the column's largest figure, in percent, which a page draws as a bar.
    pub share: Option<u8>,
    /// True for a command or an identifier.
    pub code: bool,
    /// True for a label shown as a badge.
    pub badge: bool,
    /// The subject that the cell names, by index in the plan.
    pub subject: Option<usize>,
    /// The id of the page's part that the text links to.
    pub target: Option<String>,
}

/// A table. Every row has as many cells as there are columns; the first is its head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<TableCell>>,
    /// Notes below it.
    pub notes: Vec<String>,
}

impl Column {
    /// A column of words.
    pub fn left(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// A column of numbers.
    pub fn right(title: impl Into<String>) -> Self {
        Self {
            align: Align::Right,
            ..Self::left(title)
        }
    }

    /// Adds a common title.
    pub fn in_group(mut self, group: &str) -> Self {
        self.group = Some(group.to_owned());
        self
    }

    /// Sets the metric shown.
    pub fn of(mut self, figure: &'static str) -> Self {
        self.figure = Some(figure);
        self
    }

    /// Sets the column's subject.
    pub fn about(mut self, subject: usize) -> Self {
        self.subject = Some(subject);
        self
    }
}

impl TableCell {
    /// A cell of one line.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A cell of one line, or one without a figure.
    pub fn optional(text: Option<impl Into<String>>) -> Self {
        text.map_or_else(Self::nothing, Self::new)
    }

    /// A cell without a figure.
    pub fn nothing() -> Self {
        Self::new(crate::wording::NOTHING).tone(Tone::Weak)
    }

    /// Adds a second line.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Sets the tone.
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// Sets a heat map's colour for `share` in 0..=1.
    pub fn heat(mut self, share: f64) -> Self {
        // The share is clamped, so the cast is exact.
        self.heat = Some((share.clamp(0.0, 1.0) * 9.0).round() as u8);
        self
    }

    /// Sets the unrounded ratio to the best.
    pub fn ratio(mut self, ratio: f64) -> Self {
        // A cast saturates, and ratios to the best are not far above 1.
        self.ratio = Some((ratio * 1e9).round() as u64);
        self
    }

    /// Sets a bar for `share` in 0..=1 of the column's largest figure.
    pub fn share(mut self, share: f64) -> Self {
        self.share = Some((share.clamp(0.0, 1.0) * 100.0).round() as u8);
        self
    }

    /// Marks a command or an identifier.
    pub fn code(mut self) -> Self {
        self.code = true;
        self
    }

    /// Marks a badge.
    pub fn badge(mut self) -> Self {
        self.badge = true;
        self
    }

    /// Sets the subject that the cell names.
    pub fn about(mut self, subject: usize) -> Self {
        self.subject = Some(subject);
        self
    }

    /// Links to a part of the page.
    pub fn leads_to(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// The text with the second line in brackets.
    pub(crate) fn line(&self) -> String {
        match &self.detail {
            Some(detail) if !self.text.is_empty() => format!("{} ({detail})", self.text),
            Some(detail) => detail.clone(),
            None => self.text.clone(),
        }
    }
}

impl Table {
    /// The table as GitHub-flavoured Markdown, with its caption above and its notes below.
    pub fn to_markdown(&self) -> String {
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = |column: &Column| match column.align {
            Align::Left => ":--".to_owned(),
            Align::Right => "--:".to_owned(),
        };
        let mut text = format!("**{}**\n\n", escape_markdown(&self.caption));
        text += &row(self
            .columns
            .iter()
            .map(|c| escape_markdown(&c.full_title()))
            .collect());
        text += &row(self.columns.iter().map(rule).collect());
        for cells in &self.rows {
            text += &row(cells.iter().map(markdown_cell).collect());
        }
        for note in &self.notes {
            text += &format!("\n{}\n", markdown_line(note));
        }
        text
    }

    /// The table as CSV: header and rows as shown, units included.
    ///
    /// # Errors
    /// [`ReportError::Csv`] if the rows differ in length.
    pub fn to_csv(&self, cells: Cells) -> Result<String, ReportError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(cells.row(self.columns.iter().map(Column::full_title)))?;
        for row in &self.rows {
            writer.write_record(cells.row(row.iter().map(TableCell::line)))?;
        }
        into_text(writer)
    }
}

impl Column {
    /// The title with that of its group.
    pub fn full_title(&self) -> String {
        match &self.group {
            Some(group) => format!("{group} {}", self.title),
            None => self.title.clone(),
        }
    }
}

fn markdown_cell(cell: &TableCell) -> String {
    let line = cell.line();
    if cell.code && !line.contains('`') {
        let plain = line.replace(|c: char| c.is_whitespace() || xml::is_forbidden(c), " ");
        return format!("`{}`", plain.replace('|', "\\|"));
    }
    match cell.tone {
        Tone::Strong => format!("**{}**", escape_markdown(&line)),
        Tone::Plain | Tone::Weak | Tone::Bad => escape_markdown(&line),
    }
}

/// A text without Markdown's marks, for a part of a line: neither markup, nor HTML and its
/// entities, nor what GitHub adds (strikethrough, mathematics).
pub fn escape_markdown(text: &str) -> String {
    let mut escaped = String::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '&' if begins_entity(&text[at..]) => escaped.push_str("&amp;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '$' => {
                escaped.extend(['\\', letter]);
            }
            _ if letter.is_whitespace() => escaped.push(' '),
            _ if letter.is_control() || xml::is_forbidden(letter) => {}
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// The same for a separate line, which begins neither a heading, a quotation, a list nor a rule.
fn markdown_line(text: &str) -> String {
    let escaped = escape_markdown(text);
    let digits = escaped.chars().take_while(char::is_ascii_digit).count();
    let mark = escaped[digits..].chars().next();
    let is_mark = match digits {
        0 => matches!(mark, Some('#' | '>' | '-' | '+' | '=')),
        _ => matches!(mark, Some('.' | ')')),
    };
    match is_mark {
        true => format!("{}\\{}", &escaped[..digits], &escaped[digits..]),
        false => escaped,
    }
}

/// `&amp;` and the like, which Markdown replaces.
fn begins_entity(text: &str) -> bool {
    let name = text.strip_prefix('&').and_then(|rest| rest.split_once(';'));
    name.is_some_and(|(name, _)| {
        let name = name.strip_prefix('#').unwrap_or(name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// The text of a CSV writer in memory.
pub(crate) fn into_text(writer: csv::Writer<Vec<u8>>) -> Result<String, ReportError> {
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8(bytes).expect("rows of strings are UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strikethrough, mathematics, entities and marks of blocks were left as they were.
    #[test]
    fn no_text_becomes_markdown() {
        for (text, escaped) in [
            ("~~a~~ $x$", r"\~\~a\~\~ \$x\$"),
            (
                "&lt;b&gt; &#x41; a & b; R&D",
                "&amp;lt;b&amp;gt; &amp;#x41; a & b; R&D",
            ),
            ("a\u{1b}[31m\r\nb\u{fffe}", r"a\[31m  b"),
            ("-5.2 %", "-5.2 %"),
        ] {
            assert_eq!(escape_markdown(text), escaped, "{text}");
        }
        for (text, escaped) in [
            ("# a", r"\# a"),
            ("> a", r"\> a"),
            ("- a", r"\- a"),
            ("===", r"\==="),
            ("12. a", r"12\. a"),
            ("1) a", r"1\) a"),
            ("12 of 13. a", "12 of 13. a"),
        ] {
            assert_eq!(markdown_line(text), escaped, "{text}");
        }
        let code = TableCell::new("a|b\r\nc\u{1}").code();
        assert_eq!(markdown_cell(&code), "`a\\|b  c `");
    }
}
