//! In place of `fslab-render` where fslab is built without it: charts are only SVG, with a warning.

use std::fmt;

/// A format that a drawing is rendered to: none.
pub(super) enum DrawingFormat {}

impl DrawingFormat {
    pub(super) fn extension(&self) -> &'static str {
        match *self {}
    }
}

impl fmt::Display for DrawingFormat {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

pub(super) struct Renderer;

impl Renderer {
    pub(super) fn with_built_in_fonts() -> Self {
        Self
    }

    pub(super) fn formats(
        &self,
        _: &str,
        _: &str,
    ) -> [(DrawingFormat, Result<Vec<u8>, String>); 0] {
        []
    }

    pub(super) fn warning(&self) -> Option<String> {
        let text = "no PNG and no PDF is written: fslab was built without the feature 'render'";
        Some(text.to_owned())
    }
}
