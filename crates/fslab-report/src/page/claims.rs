//! The claims of the study's original as a scorecard, and its figures beside the run's.

use fslab_claims::{evaluate, then_and_now};

use super::context::PageContext;
use super::exhibits::{ExhibitPart, Sheet};
use super::tables::{Style, render};
use crate::{Chapter, ReportError, exhibit, tables};

/// The page's part on a study's original.
pub(super) struct ClaimsPart {
    pub(super) scorecard: Option<CardPart>,
    pub(super) agreement: String,
    pub(super) factor: String,
    /// A picture for each table of the original.
    pub(super) pictures: Vec<ExhibitPart>,
    /// True if the original printed nothing that the run measured.
    pub(super) is_without_picture: bool,
    /// Published and measured figures, a table for each kind.
    pub(super) beside: Vec<Sheet>,
}

/// The scorecard on the page.
pub(super) struct CardPart {
    pub(super) counts: String,
    pub(super) table: String,
}

impl PageContext<'_> {
    /// `None` for a run whose study has no original.
    pub(super) fn claims(&self, chapter: &Chapter) -> Result<Option<ClaimsPart>, ReportError> {
        let Some(original) = chapter.original else {
            return Ok(None);
        };
        let sheet = |table: &crate::Table, id: &str| render(table, Style::Sheet, self.looks, id);
        let card = evaluate(&original.claims, chapter.run, &[]);
        let scorecard = if card.verdicts.is_empty() {
            None
        } else {
            let mut table = tables::claims(&card);
            // The notes are above the table.
            table.notes.clear();
            Some(CardPart {
                counts: tables::counts(&card),
                table: sheet(&table, "claims.scorecard")?,
            })
        };
        let both = then_and_now(original, chapter.run);
        let beside = tables::then_and_now(&both);
        let beside = beside.iter().enumerate().map(|(index, table)| {
            Ok::<_, ReportError>(Sheet {
                caption: table.caption.clone(),
                html: sheet(table, &format!("claims.beside-{}", index + 1))?,
                is_long: true,
            })
        });
        let beside: Vec<Sheet> = beside.collect::<Result<_, _>>()?;
        let pictures = exhibit::pictures(self.analysis, &both, self.labels);
        let pictures = pictures.into_iter().map(|picture| self.exhibit(picture));
        let pictures = pictures.collect::<Result<Vec<_>, _>>()?;
        if scorecard.is_none() && beside.is_empty() {
            return Ok(None);
        }
        Ok(Some(ClaimsPart {
            scorecard,
            agreement: sheet(&tables::agreement(&both), "claims.agreement")?,
            factor: sheet(&tables::one_factor(&both), "claims.factor")?,
            is_without_picture: pictures.is_empty(),
            pictures,
            beside,
        }))
    }
}
