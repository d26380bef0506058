//! The outcome of a job: its figures, or why it ended early.

use std::collections::BTreeMap;

use fslab_engine::{EngineError, Measured};
use fslab_model::{Facts, Failure, FailureKind, ValueList};

use crate::job::JobError;

/// Result of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Rates, latencies and counts.
    pub measured: Measured,
    /// Sentences that qualify the figures.
    pub notes: Vec<String>,
    /// Further figures of this workload, by metric name.
    pub figures: BTreeMap<String, f64>,
    /// Figures with many values.
    pub lists: Vec<ValueList>,
    /// Facts of the file system that it found, by their names in the trial record.
    pub facts: Facts,
}

impl From<Measured> for Finished {
    fn from(mut measured: Measured) -> Self {
        Self {
            notes: std::mem::take(&mut measured.notes),
            measured,
            figures: BTreeMap::new(),
            lists: Vec::new(),
            facts: Facts::new(),
        }
    }
}

/// Why a phase ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The parameters are invalid.
    #[error(transparent)]
    Parameters(#[from] JobError),
    /// An operation of an engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It cannot run here, which is no failure: the phase is skipped.
    #[error("{0}")]
    Impossible(String),
    /// The job failed.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// A program of the phase failed. Its paths are those outside of the confinement.
    #[error(transparent)]
    Program(Failure),
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Engine(error) => error.into(),
            RunError::Failed(failure) | RunError::Program(failure) => failure,
            RunError::Impossible(reason) => Self::new(FailureKind::Unsupported, reason),
            RunError::Parameters(error) => Self::of_error(FailureKind::BadInput, &error),
        }
    }
}
