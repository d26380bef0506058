//! A figure or table of a study, ready to render.

use fslab_claims::Original;
use fslab_compare::Analysis;
use fslab_model::{FigureLayout, FigureSpec};

use super::content::{Value, plain_labels};
use super::published::PublishedFigures;
use super::selection::Selection;
use super::{bars, bonnie, curves, iozone, lists, loser};
use crate::chart::{Drawing, Frame, Label, Names, sheet};
use crate::{Cells, ReportError, Table};

/// A figure or table that a study defines.
#[derive(Clone, Debug)]
pub struct Exhibit {
    /// Its short name, unique in the study.
    pub id: String,
    pub title: String,
    /// Its content as text; several tables if subjects or phases have separate ones.
    pub tables: Vec<Table>,
    /// Why it is empty.
    pub absence: Option<String>,
    pub notes: Vec<String>,
    pub(crate) values: Vec<Value>,
    pub(crate) drawing: Option<Drawing>,
    /// The subjects, and whether the drawing distinguishes them by colour alone.
    pub(crate) labels: Vec<Label>,
    pub(crate) needs_legend: bool,
    /// True if the table is the figure, and the drawing an addition.
    pub(crate) is_table: bool,
}

/// All figures of the study, in its order. `original` adds published values.
pub fn exhibits(analysis: &Analysis, original: Option<&Original>) -> Vec<Exhibit> {
    with_looks(analysis, original, &plain_labels(analysis))
}

/// As [`exhibits`], with the subjects' looks on a page.
pub(crate) fn with_looks(
    analysis: &Analysis,
    original: Option<&Original>,
    labels: &[Label],
) -> Vec<Exhibit> {
    let figures = analysis.run.header.plan.figures.iter();
    figures
        .map(|spec| Exhibit::of(spec, analysis, original, labels))
        .collect()
}

impl Exhibit {
    fn of(
        spec: &FigureSpec,
        analysis: &Analysis,
        original: Option<&Original>,
        labels: &[Label],
    ) -> Self {
        let originals = PublishedFigures { original };
        let mut exhibit = Self {
            id: spec.id.clone(),
            title: spec.title.clone(),
            tables: Vec::new(),
            absence: None,
            notes: Vec::new(),
            values: Vec::new(),
            drawing: None,
            labels: labels.to_vec(),
            needs_legend: false,
            is_table: !matches!(
                spec.layout,
                FigureLayout::Curves | FigureLayout::Bars | FigureLayout::Lists
            ),
        };
        let selected = Selection::of(spec, analysis, labels);
        let content = selected.and_then(|selection| {
            exhibit.notes.clone_from(&selection.notes);
            match spec.layout {
                FigureLayout::Curves => curves::draw(&selection),
                FigureLayout::Bars => bars::draw(&selection, &originals),
                FigureLayout::Lists => lists::draw(&selection),
                FigureLayout::LoserTable => loser::draw(&selection, &originals),
                FigureLayout::BonnieTable => bonnie::draw(&selection, &originals),
                FigureLayout::IozoneTable => iozone::draw(&selection),
            }
        });
        match content {
            Ok(content) => {
                exhibit.tables = content.tables;
                exhibit.values = content.values;
                exhibit.drawing = content.drawing;
                exhibit.notes.extend(content.notes);
                exhibit.needs_legend = content.needs_legend;
            }
            Err(reason) => exhibit.absence = Some(reason),
        }
        exhibit
    }

    /// Its numbers, one per row, in base units.
    ///
    /// # Errors
    /// [`ReportError::Csv`] if a row cannot be written.
    pub fn csv(&self, cells: Cells) -> Result<String, ReportError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["figure", "phase", "subject", "x", "what", "value", "unit"])?;
        for value in &self.values {
            let number = value
                .value
                .map_or_else(String::new, |value| value.to_string());
            let row = [
                self.id.as_str(),
                &value.phase,
                &value.subject,
                &value.x,
                &value.what,
                &number,
                value.unit,
            ];
            writer.write_record(cells.row(row))?;
        }
        crate::table::into_text(writer)
    }

    /// The drawing as a separate document. A table without a drawing is drawn; `None` if there is
    /// nothing to draw.
    pub fn svg(&self) -> Option<String> {
        let drawing = self.drawn()?;
        Some(drawing.alone(&self.frame()))
    }

    /// The same on white paper, regardless of the colour scheme.
    pub(crate) fn svg_on_white(&self) -> Option<String> {
        let drawing = self.drawn()?;
        Some(drawing.alone_on_white(&self.frame()))
    }

    fn drawn(&self) -> Option<Drawing> {
        if self.absence.is_some() {
            return None;
        }
        let set = || {
            let tables = self.tables.iter();
            let sheets = tables.filter_map(|table| Some((table.caption.clone(), sheet(table)?)));
            Drawing::stacked(sheets.collect())
        };
        self.drawing.clone().or_else(set)
    }

    fn frame(&self) -> Frame<'_> {
        Frame {
            title: &self.title,
            labels: &self.labels,
            needs_legend: self.needs_legend,
            key: &[],
            notes: &self.notes,
        }
    }

    pub(crate) fn on_page(&self, id: &str) -> Option<String> {
        let names = Names {
            id,
            title: &self.title,
        };
        self.drawing.as_ref().map(|drawing| drawing.on_page(&names))
    }
}
