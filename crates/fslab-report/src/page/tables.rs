//! A [`Table`] as HTML.

use askama::Template;

use super::document::{Cast, slug};
use crate::{Align, Column, ReportError, Table, TableCell, Tone, palette};

/// Text of more letters gets room for a few words a line.
const LONG_LETTERS: usize = 24;

/// How a table shall look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Dense rows of figures or words.
    Sheet,
    /// A heat map: the ratio large, the figure below it.
    Heat,
}

/// Renders `table`. `subjects` gives the look of the subject at each place of the run's plan;
/// `prefix` makes the ids of a run its own.
pub(super) fn render(
    table: &Table,
    style: Style,
    subjects: &Looks,
    prefix: &str,
) -> Result<String, ReportError> {
    let heads = table
        .columns
        .iter()
        .map(|column| Head::of(column, subjects));
    let grouped = table.columns.iter().any(|column| column.group.is_some());
    let rows = table.rows.iter().map(|cells| {
        let pairs = cells.iter().zip(&table.columns);
        pairs
            .map(|(cell, column)| Cell::of(cell, column, subjects, prefix).styled(style))
            .collect()
    });
    let view = View {
        caption: &table.caption,
        class: match style {
            Style::Sheet => "sheet",
            Style::Heat => "heat",
        },
        groups: if grouped {
            groups(&table.columns)
        } else {
            Vec::new()
        },
        heads: heads.collect(),
        rows: rows.collect(),
        notes: &table.notes,
    };
    Ok(view.render()?)
}

/// The class and shape of each subject of a run, by its place in the plan.
pub(super) struct Looks(Vec<usize>);

impl Looks {
    pub(super) fn of(analysis: &crate::Analysis, cast: &Cast) -> Self {
        Self(
            analysis
                .subjects()
                .map(|subject| cast.number(subject))
                .collect(),
        )
    }

    /// The number that decides the subject's look.
    pub(super) fn number(&self, place: usize) -> usize {
        self.0.get(place).copied().unwrap_or(place)
    }

    /// Whether every subject has the look of its place, as in a report of one run.
    fn class(&self, place: usize) -> String {
        palette::class(self.number(place))
    }
}

#[derive(Template)]
#[template(path = "table.html")]
struct View<'a> {
    caption: &'a str,
    class: &'static str,
    groups: Vec<Group>,
    heads: Vec<Head>,
    rows: Vec<Vec<Cell>>,
    notes: &'a [String],
}

struct Group {
    title: String,
    span: usize,
}

struct Head {
    title: String,
    class: String,
    definition: Option<String>,
}

struct Cell {
    text: String,
    detail: Option<String>,
    class: String,
    code: bool,
    mark: Option<&'static str>,
    heated: bool,
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
    fn of(column: &Column, subjects: &Looks) -> Self {
        let mut class = vec![align(column).to_owned()];
        class.extend(
            column
                .subject
                .map(|place| format!("of {}", subjects.class(place))),
        );
        Self {
            title: column.title.clone(),
            class: class.join(" "),
            definition: column.figure.map(|name| format!("def-{}", slug(name))),
        }
    }
}

impl Cell {
    fn of(cell: &TableCell, column: &Column, subjects: &Looks, prefix: &str) -> Self {
        let mut class = vec![align(column).to_owned()];
        class.extend(match cell.tone {
            Tone::Plain => None,
            Tone::Strong => Some("strong".to_owned()),
            Tone::Weak => Some("weak".to_owned()),
            Tone::Bad => Some("bad".to_owned()),
        });
        class.extend((cell.text.chars().count() > LONG_LETTERS).then(|| "long".to_owned()));
        class.extend(cell.badge.then(|| "label".to_owned()));
        class.extend(cell.heat.map(|heat| format!("h{heat}")));
        let subject = cell.subject.or(column.subject);
        class.extend(subject.map(|place| format!("of {}", subjects.class(place))));
        Self {
            text: cell.text.clone(),
            detail: cell.detail.clone(),
            class: class.join(" "),
            code: cell.code,
            mark: cell
                .subject
                .map(|place| palette::shape(subjects.number(place))),
            target: cell
                .target
                .as_deref()
                .map(|target| format!("{prefix}{}", slug(target))),
            heated: cell.heat.is_some(),
        }
    }

    /// In a heat map the ratio is what is compared: it stands first.
    fn styled(mut self, style: Style) -> Self {
        if style == Style::Heat
            && self.heated
            && let Some(detail) = self.detail.take()
        {
            self.detail = Some(std::mem::replace(&mut self.text, detail));
        }
        self
    }
}

fn align(column: &Column) -> &'static str {
    match column.align {
        Align::Left => "left",
        Align::Right => "right",
    }
}
