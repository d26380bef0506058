//! A run with the texts that a report adds.

use fslab_claims::Original;
use fslab_compare::Scaling;
use fslab_model::RunRecord;

use crate::Reservations;

/// A run as a chapter of a report.
#[derive(Clone, Copy, Debug)]
pub struct Chapter<'a> {
    pub run: &'a RunRecord,
    /// Waived differences between its subjects, see [`fslab_compare::merge`].
    pub differences: &'a [String],
    /// The study's original, if any.
    pub original: Option<&'a Original>,
    /// How rates grow with the number of ranks, if its runs differ in it.
    pub scaling: Option<&'a Scaling>,
    /// What speaks for or against its subjects beside their speed, if known.
    pub reservations: Option<&'a Reservations>,
}

impl<'a> Chapter<'a> {
    /// A run without additions.
    pub fn of(run: &'a RunRecord) -> Self {
        Self {
            run,
            differences: &[],
            original: None,
            scaling: None,
            reservations: None,
        }
    }

    /// Adds the differences between its subjects.
    pub fn with_differences(mut self, differences: &'a [String]) -> Self {
        self.differences = differences;
        self
    }

    /// Adds how rates grow with the number of ranks.
    pub fn with_scaling(mut self, scaling: Option<&'a Scaling>) -> Self {
        self.scaling = scaling;
        self
    }

    /// Adds the claims and published values of the study's original.
    pub fn with_original(mut self, original: Option<&'a Original>) -> Self {
        self.original = original;
        self
    }

    /// Adds what speaks for or against its subjects beside their speed.
    pub fn with_reservations(mut self, reservations: &'a Reservations) -> Self {
        self.reservations = Some(reservations);
        self
    }
}
