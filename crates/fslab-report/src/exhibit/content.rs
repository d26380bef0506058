//! What a figure shows: its labels, values and notes.

use fslab_compare::Analysis;
use fslab_model::MetricDefinition;

use crate::chart::{Drawing, Label};
use crate::{Table, wording};

/// The result of a layout.
#[derive(Default)]
pub(super) struct Content {
    pub(super) tables: Vec<Table>,
    pub(super) values: Vec<Value>,
    pub(super) drawing: Option<Drawing>,
    /// True if the drawing distinguishes subjects by colour alone.
    pub(super) needs_legend: bool,
    pub(super) notes: Vec<String>,
}

/// One number of a figure, for its CSV.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) phase: String,
    pub(crate) subject: String,
    /// Its place on the horizontal axis, or the part of the phase; empty if there is only one.
    pub(crate) x: String,
    pub(crate) what: String,
    pub(crate) value: Option<f64>,
    pub(crate) unit: &'static str,
}

impl Value {
    /// A figure of a metric.
    pub(super) fn of(
        (phase, subject, x): (&str, &str, &str),
        metric: &MetricDefinition,
        value: Option<f64>,
    ) -> Self {
        Self {
            phase: phase.to_owned(),
            subject: subject.to_owned(),
            x: x.to_owned(),
            what: metric.name.to_owned(),
            value,
            unit: metric.unit.symbol(),
        }
    }
}

/// A phase's title in a figure of several phases.
pub(super) fn phase_title(name: &str) -> String {
    wording::heading(name)
}

/// The subjects by their names, with looks in the order of the plan.
pub(super) fn plain_labels(analysis: &Analysis) -> Vec<Label> {
    let subjects = analysis.subjects().enumerate();
    subjects
        .map(|(look, subject)| Label {
            name: subject.to_string(),
            look,
        })
        .collect()
}
