//! A chart with its caption, for the page and as a file.

use crate::chart::{Drawing, Frame, Label, Names};

/// A chart with its caption.
pub(super) struct Panel {
    /// Unique on the page.
    pub(super) id: String,
    /// What it shows, in a word that a file may be named after.
    pub(super) kind: String,
    pub(super) title: String,
    pub(super) caption: String,
    pub(super) drawing: Drawing,
    /// Whether the drawing names its subjects itself, or shows them by colour and mark alone.
    pub(super) needs_legend: bool,
    /// Classes and names of what else has a colour.
    pub(super) key: &'static [(&'static str, &'static str)],
}

impl Panel {
    /// The part of the page that the chart tells of.
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

    /// The drawing as a document of its own, under `title`.
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
