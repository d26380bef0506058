//! Charts with captions, for the page and as files.

use crate::chart::{Drawing, Frame, Label, Names};

/// A chart with its caption.
pub(super) struct Panel {
    /// Unique on the page.
    pub(super) id: String,
    /// Its kind, in a word used in file names.
    pub(super) kind: String,
    pub(super) title: String,
    pub(super) caption: String,
    pub(super) drawing: Drawing,
    /// True if the drawing shows its subjects by colour and mark alone.
    pub(super) needs_legend: bool,
    /// Classes and names of other colours.
    pub(super) key: &'static [(&'static str, &'static str)],
}

impl Panel {
    /// The id of the part of the page with the chart.
    pub(super) fn owner(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }

    /// The drawing as an element of the page.
    pub(super) fn svg(&self) -> String {
        self.drawing.on_page(&Names {
            id: &self.id,
            title: &self.title,
        })
    }

    /// The drawing as a separate document, under `title`.
    pub(super) fn document(&self, title: &str, labels: &[Label]) -> String {
        self.drawing.alone_on_white(&Frame {
            title,
            labels,
            needs_legend: self.needs_legend,
            key: self.key,
            notes: std::slice::from_ref(&self.caption),
        })
    }
}
