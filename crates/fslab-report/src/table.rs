//! A table as data: the terminal, HTML, Markdown and CSV are its renderings.

use crate::ReportError;

/// Where a column's text stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Words.
    #[default]
    Left,
    /// Numbers.
    Right,
}

/// What a cell's text is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// A figure.
    #[default]
    Plain,
    /// A figure that is best with certainty.
    Strong,
    /// No figure, or one of less weight.
    Weak,
    /// Something went wrong.
    Bad,
}

/// A column's head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Its title.
    pub title: String,
    /// A title over neighbouring columns of one kind, such as "Latency".
    pub group: Option<String>,
    /// Where its text stands.
    pub align: Align,
    /// The metric or term that it shows, by the name that docs/figures.md defines.
    pub figure: Option<&'static str>,
    /// The subject that the column is about, by its place in the plan.
    pub subject: Option<usize>,
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableCell {
    /// What it says.
    pub text: String,
    /// A second line of less weight, such as a ratio or a reason.
    pub detail: Option<String>,
    /// What the text is worth.
    pub tone: Tone,
    /// Depth of a heat map's colour, 0 (far behind) to 9 (the best).
    pub heat: Option<u8>,
    /// The ratio to the best that the text rounds, in billionths: what is relative to another best
    /// follows from it.
    pub ratio: Option<u64>,
    /// How much of the column's largest figure it is, in percent; a page draws it as a bar.
    pub share: Option<u8>,
    /// Whether the text is a command or a name that a machine reads.
    pub code: bool,
    /// Whether the text is a label to be set apart.
    pub badge: bool,
    /// The subject that the cell names, by its place in the plan.
    pub subject: Option<usize>,
    /// The id of the part of the page that the text leads to.
    pub target: Option<String>,
}

/// A table. Every row has as many cells as there are columns; the first heads its row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Vec<TableCell>>,
    /// What a reader must know, below it.
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

    /// Under a common title.
    #[must_use]
    pub fn in_group(mut self, group: &str) -> Self {
        self.group = Some(group.to_owned());
        self
    }

    /// Showing a metric.
    #[must_use]
    pub fn of(mut self, figure: &'static str) -> Self {
        self.figure = Some(figure);
        self
    }

    /// About a subject.
    #[must_use]
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

    /// A cell without a figure.
    #[must_use]
    pub fn nothing() -> Self {
        Self::new(crate::wording::NOTHING).tone(Tone::Weak)
    }

    /// With a second line.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// With that weight.
    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// With a heat map's colour for `share` in 0..=1.
    #[must_use]
    pub fn heat(mut self, share: f64) -> Self {
        // The share is clamped, so that the cast keeps its value.
        self.heat = Some((share.clamp(0.0, 1.0) * 9.0).round() as u8);
        self
    }

    /// Showing a ratio to the best.
    #[must_use]
    pub fn ratio(mut self, ratio: f64) -> Self {
        // A cast saturates, and no ratio to the best is far above 1.
        self.ratio = Some((ratio * 1e9).round() as u64);
        self
    }

    /// With a bar for `share` in 0..=1 of the column's largest figure.
    #[must_use]
    pub fn share(mut self, share: f64) -> Self {
        self.share = Some((share.clamp(0.0, 1.0) * 100.0).round() as u8);
        self
    }

    /// For a command or a machine's name.
    #[must_use]
    pub fn code(mut self) -> Self {
        self.code = true;
        self
    }

    /// As a label.
    #[must_use]
    pub fn badge(mut self) -> Self {
        self.badge = true;
        self
    }

    /// Naming a subject.
    #[must_use]
    pub fn about(mut self, subject: usize) -> Self {
        self.subject = Some(subject);
        self
    }

    /// Leading to a part of the page.
    #[must_use]
    pub fn leads_to(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    fn line(&self) -> String {
        match &self.detail {
            Some(detail) if !self.text.is_empty() => format!("{} ({detail})", self.text),
            Some(detail) => detail.clone(),
            None => self.text.clone(),
        }
    }
}

impl Table {
    /// The table as GitHub-flavoured Markdown, with its caption above and its notes below.
    #[must_use]
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
            text += &format!("\n{}\n", escape_markdown(note));
        }
        text
    }

    /// The table as CSV: its header and its rows, as they are read, units included.
    ///
    /// # Errors
    /// [`ReportError::Csv`], should the rows differ in length.
    pub fn to_csv(&self) -> Result<String, ReportError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns.iter().map(Column::full_title))?;
        for cells in &self.rows {
            writer.write_record(cells.iter().map(TableCell::line))?;
        }
        crate::export::into_text(writer)
    }
}

impl Column {
    /// The title with that of its group.
    #[must_use]
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
        return format!("`{}`", line.replace('|', "\\|").replace('\n', " "));
    }
    match cell.tone {
        Tone::Strong => format!("**{}**", escape_markdown(&line)),
        Tone::Plain | Tone::Weak | Tone::Bad => escape_markdown(&line),
    }
}

fn escape_markdown(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' => escaped.extend(['\\', letter]),
            _ => escaped.push(letter),
        }
    }
    escaped
}
