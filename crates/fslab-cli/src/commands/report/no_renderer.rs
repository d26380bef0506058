//! In place of `fslab-render` where fslab is built without it: charts are only SVG, with a warning.

use std::fmt;

/// A format that a drawing is rendered to: none.
pub(crate) enum DrawingFormat {}

impl DrawingFormat {
    pub(crate) fn extension(&self) -> &'static str {
        match *self {}
    }
}

impl fmt::Display for DrawingFormat {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

pub(crate) struct Renderer;

impl Renderer {
    pub(crate) fn with_built_in_fonts() -> Self {
        Self
    }

    pub(crate) fn formats(
        &self,
        _: &str,
        _: &str,
    ) -> [(DrawingFormat, Result<Vec<u8>, String>); 0] {
        []
    }

    pub(crate) fn warning(&self) -> Option<String> {
        let text = "PNG and PDF are not written: fslab was built without the feature 'render'";
        Some(text.to_owned())
    }
}
