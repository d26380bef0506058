//! A run with what a report says beside it.

use fslab_claims::Original;
use fslab_model::RunRecord;

/// A run as a part of a report.
#[derive(Clone, Copy, Debug)]
pub struct Chapter<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// In what its subjects were not measured alike, where that was waived: see
    /// [`fslab_compare::merge`].
    pub differences: &'a [String],
    /// The study's original, where there is one.
    pub original: Option<&'a Original>,
}

impl<'a> Chapter<'a> {
    /// The run alone.
    #[must_use]
    pub fn of(run: &'a RunRecord) -> Self {
        Self {
            run,
            differences: &[],
            original: None,
        }
    }

    /// With what its subjects differ in beside their names.
    #[must_use]
    pub fn with_differences(mut self, differences: &'a [String]) -> Self {
        self.differences = differences;
        self
    }

    /// With what the study's original claims and printed.
    #[must_use]
    pub fn with_original(mut self, original: Option<&'a Original>) -> Self {
        self.original = original;
        self
    }
}
