//! Errors of rendering a report.

use fslab_model::{Failure, FailureKind};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// No run was given.
    #[error("a report needs at least one run")]
    NoRun,
    /// A template did not render.
    #[error("cannot render the report's page")]
    Template(#[from] askama::Error),
    /// The picture of a disk is damaged.
    #[error("cannot draw the picture of a disk")]
    Picture(#[from] fslab_model::PictureError),
    /// A table could not be written as CSV.
    #[error("cannot write the table as CSV")]
    Csv(#[from] csv::Error),
    /// A record could not be written as JSON.
    #[error("cannot write the run as JSON")]
    Json(#[from] serde_json::Error),
    /// The run does not suit the layout.
    #[error("{layout}'s layout needs {wanted}")]
    Layout {
        layout: &'static str,
        /// What it requires.
        wanted: String,
    },
    /// A document of JUnit could not be written.
    #[error("cannot write JUnit XML: {0}")]
    Xml(String),
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        Self::of_error(FailureKind::BadInput, &error)
    }
}
