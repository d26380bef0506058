//! A [`Table`] as HTML.

use askama::Template;

use super::names::{SubjectNames, slug};
use super::sorting::{short, sort_value};
use crate::tables::ForeignDrivers;
use crate::{Align, Column, ReportError, Table, TableCell, Tone, palette};

/// Longer text is given a wider column.
const LONG_LETTERS: usize = 24;
/// A table with more rows scrolls under its head.
const TALL_ROWS: usize = 24;
/// The column that names the row's subject.
const SUBJECT: &str = "Subject";

/// The style of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Dense rows of figures or words.
    Sheet,
    /// A heat map: the ratio large, the figure below it.
    Heat,
}

/// Renders `table` under an id that is unique in its run.
pub(super) fn render(
    table: &Table,
    style: Style,
    looks: &Looks,
    id: &str,
) -> Result<String, ReportError> {
    let grouped = table.columns.iter().any(|column| column.group.is_some());
    let rows = table
        .rows
        .iter()
        .map(|cells| Row::of(cells, &table.columns, style, looks));
    let notes = table.notes.iter().cloned();
    let notes: Vec<String> = notes.chain(looks.drivers.notes(table)).collect();
    let view = View {
        id: format!("{}{id}", looks.prefix),
        caption: &table.caption,
        class: match style {
            Style::Sheet => "sheet",
            Style::Heat => "heat",
        },
        is_tall: table.rows.len() > TALL_ROWS,
        groups: if grouped {
            groups(&table.columns)
        } else {
            Vec::new()
        },
        heads: table
            .columns
            .iter()
            .map(|column| Head::of(column, looks))
            .collect(),
        rows: rows.collect(),
        notes: &notes,
    };
    Ok(view.render()?)
}

/// The class of each subject of a run, by index in the plan, and the prefix of its ids.
pub(super) struct Looks {
    numbers: Vec<usize>,
    prefix: String,
    drivers: ForeignDrivers,
}

impl Looks {
    pub(super) fn of(
        analysis: &fslab_compare::Analysis,
        cast: &SubjectNames,
        prefix: &str,
    ) -> Self {
        let subjects = analysis.subjects();
        Self {
            numbers: subjects.map(|subject| cast.number(subject)).collect(),
            prefix: prefix.to_owned(),
            drivers: ForeignDrivers::of(analysis),
        }
    }

    /// Of subjects in the order of a plan, on a page of their own.
    pub(super) fn by_index() -> Self {
        Self {
            numbers: Vec::new(),
            prefix: String::new(),
            drivers: ForeignDrivers::default(),
        }
    }

    /// Each subject has the look of its index, as in a report of one run.
    fn class(&self, place: usize) -> String {
        palette::class(self.numbers.get(place).copied().unwrap_or(place))
    }
}

#[derive(Template)]
#[template(path = "table.html")]
struct View<'a> {
    id: String,
    caption: &'a str,
    class: &'static str,
    is_tall: bool,
    groups: Vec<Group>,
    heads: Vec<Head>,
    rows: Vec<Row>,
    notes: &'a [String],
}

struct Group {
    title: String,
    span: usize,
}

struct Head {
    title: String,
    class: String,
    /// True if the subject's mark precedes the title.
    marked: bool,
    definition: Option<String>,
}

struct Row {
    /// Of the row's subject.
    class: Option<String>,
    /// The id of the page's part on the row's phase.
    phase: Option<String>,
    cells: Vec<Cell>,
}

struct Cell {
    text: String,
    detail: Option<String>,
    class: String,
    code: bool,
    badge: bool,
    /// True if the cell names a subject, whose mark precedes it.
    marked: bool,
    /// The cell's sort value, if not its text.
    value: Option<String>,
    /// The ratio to the best, with more digits than the text has.
    ratio: Option<String>,
    /// The length of its bar in percent.
    share: Option<u8>,
    target: Option<String>,
}

/// Adjacent columns of a group, under one title.
fn groups(columns: &[Column]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut last: Option<&Option<String>> = None;
    for column in columns {
        match groups.last_mut() {
            Some(group) if last == Some(&column.group) => group.span += 1,
            _ => groups.push(Group {
                title: column.group.clone().unwrap_or_default(),
                span: 1,
            }),
        }
        last = Some(&column.group);
    }
    groups
}

impl Head {
    fn of(column: &Column, looks: &Looks) -> Self {
        let mut class: Vec<String> = align(column).into_iter().collect();
        class.extend(
            column
                .subject
                .map(|place| format!("of {}", looks.class(place))),
        );
        Self {
            title: column.title.clone(),
            class: class.join(" "),
            marked: column.subject.is_some(),
            definition: column.figure.map(|name| format!("def-{}", slug(name))),
        }
    }
}

impl Row {
    fn of(cells: &[TableCell], columns: &[Column], style: Style, looks: &Looks) -> Self {
        let pairs = || cells.iter().zip(columns);
        let subject = pairs().find(|(_, column)| column.title == SUBJECT);
        let subject = subject.and_then(|(cell, _)| cell.subject);
        let targets = cells.iter().filter_map(|cell| cell.target.as_deref());
        let phase = targets
            .into_iter()
            .find(|target| target.starts_with("phase-"));
        Self {
            class: subject.map(|place| format!("of {}", looks.class(place))),
            phase: phase.map(|target| format!("{}{}", looks.prefix, slug(target))),
            cells: pairs()
                .map(|(cell, column)| Cell::of(cell, column, looks).styled(style, cell))
                .collect(),
        }
    }
}

impl Cell {
    fn of(cell: &TableCell, column: &Column, looks: &Looks) -> Self {
        let mut class: Vec<String> = Vec::new();
        // First, because the style matches the beginning of the class.
        class.extend(cell.heat.map(|heat| format!("h{heat}")));
        class.extend(align(column));
        class.extend(match cell.tone {
            Tone::Plain => None,
            Tone::Strong => Some("strong".to_owned()),
            Tone::Weak => Some("weak".to_owned()),
            Tone::Bad => Some("bad".to_owned()),
        });
        class.extend((cell.text.chars().count() > LONG_LETTERS).then(|| "long".to_owned()));
        class.extend(cell.badge.then(|| "label".to_owned()));
        // A cell that names a subject has its colour; a cell about a subject also fades and is
        // hidden with it.
        class.extend(cell.subject.map(|place| looks.class(place)));
        class.extend(
            column
                .subject
                .map(|place| format!("of {}", looks.class(place))),
        );
        Self {
            text: cell.text.clone(),
            detail: cell.detail.clone(),
            class: class.join(" "),
            code: cell.code,
            badge: cell.badge,
            marked: cell.subject.is_some(),
            value: None,
            ratio: cell.ratio.map(|billionths| {
                let ratio = billionths as f64 / 1e9;
                format!("{ratio:.4e}")
                    .parse()
                    .map_or_else(|_| short(ratio), short)
            }),
            share: cell.share,
            target: cell
                .target
                .as_deref()
                .map(|target| format!("{}{}", looks.prefix, slug(target))),
        }
        .valued(column)
    }

    /// In a heat map the ratio comes first, because it is compared.
    fn styled(mut self, style: Style, cell: &TableCell) -> Self {
        if style == Style::Heat
            && cell.heat.is_some()
            && let Some(detail) = self.detail.take()
        {
            self.detail = Some(std::mem::replace(&mut self.text, detail));
            self.value = value_of(&self.text);
        }
        self
    }

    fn valued(mut self, column: &Column) -> Self {
        if column.align == Align::Right {
            self.value = value_of(&self.text);
        }
        self
    }
}

/// The sort value of a text; `None` if the text is a plain number, or has none.
fn value_of(text: &str) -> Option<String> {
    if text.parse::<f64>().is_ok() {
        return None;
    }
    sort_value(text).map(short)
}

/// Numbers are right-aligned by default.
fn align(column: &Column) -> Option<String> {
    match column.align {
        Align::Left => Some("left".to_owned()),
        Align::Right => None,
    }
}
