//! Errors of a mapping given by the user.

use fslab_model::{Failure, FailureKind};

/// Why phases cannot meet as the user wants.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeetError {
    /// A run has no phase of that name.
    #[error("cannot use --map {map}: {run} has no phase '{phase}'")]
    Unknown {
        /// The mapping.
        map: String,
        run: String,
        phase: String,
        /// The run's phases.
        known: Vec<String>,
    },
    /// A phase is mapped twice.
    #[error("cannot use --map {map}: '{phase}' of {run} is already in another --map")]
    Twice {
        /// The mapping.
        map: String,
        run: String,
        phase: String,
    },
    /// The two phases have no metric in common.
    #[error("cannot use --map {map}: the two phases have no metric in common")]
    NoMetric {
        /// The mapping.
        map: String,
    },
}

impl MeetError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { run, known, .. } => {
                Some(format!("the phases of {run} are {}", known.join(", ")))
            }
            Self::Twice { .. } => Some("a phase can be compared with only one other".to_owned()),
            Self::NoMetric { .. } => {
                Some("see what was measured with `fslab show RUN --json`".to_owned())
            }
        }
    }
}

impl From<MeetError> for Failure {
    fn from(error: MeetError) -> Self {
        Self::of_error(FailureKind::BadInput, &error).with_hint(error.hint())
    }
}
