//! A [`Table`] as HTML.

use askama::Template;

use super::document::{SubjectNames, slug};
use super::sorting::{short, sort_value};
use crate::{Align, Column, ReportError, Table, TableCell, Tone, palette};

/// Text of more letters gets room for a few words a line.
const LONG_LETTERS: usize = 24;
/// A table of more rows is moved about under its head.
const TALL_ROWS: usize = 24;
/// The column whose cells say whose row it is.
const SUBJECT: &str = "Subject";

/// How a table shall look.
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
        notes: &table.notes,
    };
    Ok(view.render()?)
}

/// The class of each subject of a run, by its place in the plan, and what its ids begin with.
pub(super) struct Looks {
    numbers: Vec<usize>,
    prefix: String,
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
        }
    }

    /// Every subject has the look of its place, as in a report of one run.
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
    /// Whether the subject's mark stands before the title.
    marked: bool,
    definition: Option<String>,
}

struct Row {
    /// Of the subject that the row is about.
    class: Option<String>,
    /// The part of the page that tells of the row's phase.
    phase: Option<String>,
    cells: Vec<Cell>,
}

struct Cell {
    text: String,
    detail: Option<String>,
    class: String,
    code: bool,
    badge: bool,
    /// Whether the cell names a subject, whose mark stands before it.
    marked: bool,
    /// What the cell is sorted by, where that is not its text.
    value: Option<String>,
    /// The ratio to the best, with more digits than the text has.
    ratio: Option<String>,
    /// The length of its bar in percent.
    share: Option<u8>,
    target: Option<String>,
}

/// Neighbouring columns of one group under one title.
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
        // First, for the style asks what a class begins with.
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
        // What a cell names has a colour; what a column is about also fades and is hidden.
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

    /// In a heat map the ratio is what is compared: it stands first.
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

/// What a text is sorted by; `None` where its text is a plain number, or none at all.
fn value_of(text: &str) -> Option<String> {
    if text.parse::<f64>().is_ok() {
        return None;
    }
    sort_value(text).map(short)
}

/// Numbers stand to the right, unasked.
fn align(column: &Column) -> Option<String> {
    match column.align {
        Align::Left => Some("left".to_owned()),
        Align::Right => None,
    }
}
