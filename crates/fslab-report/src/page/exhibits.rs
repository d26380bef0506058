//! The figures and tables that the study defines.

use super::context::PageContext;
use super::names::slug;
use super::tables::{Style, render};
use crate::{Chapter, Exhibit, ReportError, exhibit};

/// A figure on the page.
pub(super) struct ExhibitPart {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) absence: Option<String>,
    pub(super) svg: Option<String>,
    pub(super) tables: Vec<Sheet>,
    /// True if the tables are the figure, not only its numbers.
    pub(super) is_table: bool,
    pub(super) notes: Vec<String>,
}

/// A table of a figure.
pub(super) struct Sheet {
    pub(super) caption: String,
    pub(super) html: String,
    /// True if it is so long that it is collapsed.
    pub(super) is_long: bool,
}

/// Most rows of a table that is not collapsed.
const ROWS_MAX: usize = 48;

impl PageContext<'_> {
    pub(super) fn exhibits(&self, chapter: &Chapter) -> Result<Vec<ExhibitPart>, ReportError> {
        exhibit::with_looks(self.analysis, chapter.original, self.labels)
            .into_iter()
            .map(|exhibit| self.exhibit(exhibit))
            .collect()
    }

    pub(super) fn exhibit(&self, exhibit: Exhibit) -> Result<ExhibitPart, ReportError> {
        let of = format!("figure-{}", slug(&exhibit.id));
        let id = format!("{}{of}", self.prefix);
        let tables = exhibit.tables.iter().enumerate();
        Ok(ExhibitPart {
            svg: exhibit.on_page(&format!("{id}.drawing")),
            tables: tables
                .map(|(index, table)| {
                    Ok(Sheet {
                        caption: table.caption.clone(),
                        html: render(
                            table,
                            Style::Sheet,
                            self.looks,
                            &format!("{of}.table-{}", index + 1),
                        )?,
                        is_long: table.rows.len() > ROWS_MAX,
                    })
                })
                .collect::<Result<_, ReportError>>()?,
            id,
            title: exhibit.title,
            absence: exhibit.absence,
            is_table: exhibit.is_table,
            notes: exhibit.notes,
        })
    }
}
