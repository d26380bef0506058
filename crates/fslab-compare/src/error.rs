//! Errors of comparing two runs.

use fslab_model::{Failure, FailureKind};

use crate::dimension::{Difference, Dimension};

/// Why two runs are not compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// More dimensions differ than the one studied.
    #[error("{base} and {new} differ in {} dimensions: {}", .dimensions.len(), listed(.dimensions))]
    Dimensions {
        base: String,
        /// The new run.
        new: String,
        /// Each dimension, with the difference.
        dimensions: Vec<(Dimension, String)>,
    },
    /// The runs of one side are not the same measurement.
    #[error("{first} and {other} are on one side and differ in {difference}")]
    Unlike {
        /// The first run of the side.
        first: String,
        /// Another one.
        other: String,
        difference: Difference,
    },
    /// A difference that cannot be waived.
    #[error("{base} and {new} do not compare: {why}")]
    Question {
        base: String,
        /// The new run.
        new: String,
        /// The difference.
        why: String,
    },
    /// No subject is in both.
    #[error("{base} and {new} have no subject in common: {base} has {of_base}, {new} has {of_new}")]
    NoSubject {
        base: String,
        /// The new run.
        new: String,
        /// Subjects of the base.
        of_base: String,
        /// Subjects of the new run.
        of_new: String,
    },
    /// A requested subject is missing.
    #[error("{run} has no subject '{subject}'; it has {known}")]
    UnknownSubject {
        run: String,
        /// The subject requested.
        subject: String,
        /// The run's subjects.
        known: String,
    },
    /// No phase is in both with the same definition.
    #[error("{base} and {new} have no phase in common{why}")]
    NoPhase {
        base: String,
        /// The new run.
        new: String,
        /// Why those of one name differ.
        why: String,
    },
    /// The requested metrics were not measured.
    #[error("neither {base} nor {new} has a figure of {wanted}")]
    NoMetric {
        base: String,
        /// The new run.
        new: String,
        /// The metrics requested.
        wanted: String,
        /// The metrics measured.
        measured: Vec<&'static str>,
    },
}

impl DiffError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Dimensions { dimensions, .. } => {
                let names: Vec<_> = dimensions.iter().map(|(d, _)| d.as_str()).collect();
                Some(format!(
                    "one may differ, which is the one studied; to waive it for others: --across {}",
                    names.join(",")
                ))
            }
            Self::Unlike { difference, .. } => Some(format!(
                "runs of one side are one measurement, made several times; to let them differ: \
                 --across {}",
                difference.dimension
            )),
            Self::NoSubject { .. } => Some("say which is which: --pair BASE=NEW".to_owned()),
            Self::Question { .. } => {
                Some("run the same study at the same scale for both".to_owned())
            }
            Self::NoPhase { .. } => Some(
                "run the same study at the same scale for both, or name phases that compare: \
                 --map THEIRS=OURS; --dry-run lists them"
                    .to_owned(),
            ),
            Self::NoMetric { measured, .. } if measured.is_empty() => None,
            Self::NoMetric { measured, .. } => {
                Some(format!("measured were {}", measured.join(", ")))
            }
            Self::UnknownSubject { .. } => None,
        }
    }
}

fn listed(dimensions: &[(Dimension, String)]) -> String {
    let each = dimensions.iter();
    let each = each.map(|(dimension, values)| format!("{} ({values})", dimension.as_str()));
    each.collect::<Vec<_>>().join(", ")
}

impl From<DiffError> for Failure {
    fn from(error: DiffError) -> Self {
        Self::of_error(FailureKind::BadInput, &error).with_hint(error.hint())
    }
}
