//! What the parts of a page have in common.

use fslab_compare::Analysis;

use super::tables::Looks;
use crate::chart::Label;

/// Common data of a run's parts.
pub(super) struct PageContext<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    pub(super) looks: &'a Looks,
    pub(super) labels: &'a [Label],
    /// Prefix of every id of the run.
    pub(super) prefix: &'a str,
}
