//! Why two runs are not compared.

use crate::dimension::{Difference, Dimension};

/// Why two runs are not compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// More than the one dimension studied differs.
    #[error("{base} and {new} differ in {} dimensions: {}", .dimensions.len(), listed(.dimensions))]
    Dimensions {
        /// The run that is compared with.
        base: String,
        /// The run that is compared.
        new: String,
        /// Each dimension, with what differs.
        dimensions: Vec<(Dimension, String)>,
    },
    /// Runs of one side are not the same measurement.
    #[error("{first} and {other} are on one side and differ in {difference}")]
    Unlike {
        /// The first run of the side.
        first: String,
        /// Another one.
        other: String,
        /// What differs.
        difference: Difference,
    },
    /// What cannot be waived.
    #[error("{base} and {new} do not compare: {why}")]
    Question {
        /// The run that is compared with.
        base: String,
        /// The run that is compared.
        new: String,
        /// What differs.
        why: String,
    },
    /// No subject is in both.
    #[error("{base} and {new} have no subject in common: {base} has {of_base}, {new} has {of_new}")]
    NoSubject {
        /// The run that is compared with.
        base: String,
        /// The run that is compared.
        new: String,
        /// Its subjects.
        of_base: String,
        /// Its subjects.
        of_new: String,
    },
    /// A subject that was asked for is not there.
    #[error("{run} has no subject '{subject}'; it has {known}")]
    UnknownSubject {
        /// The run.
        run: String,
        /// What was asked for.
        subject: String,
        /// What there is.
        known: String,
    },
    /// No phase is in both with the same parameters.
    #[error("{base} and {new} have no phase in common{why}")]
    NoPhase {
        /// The run that is compared with.
        base: String,
        /// The run that is compared.
        new: String,
        /// Why those of one name are not the same.
        why: String,
    },
    /// What was asked for was not measured.
    #[error("neither {base} nor {new} has a figure of {wanted}")]
    NoMetric {
        /// The run that is compared with.
        base: String,
        /// The run that is compared.
        new: String,
        /// The metrics that were asked for.
        wanted: String,
        /// Those that there are.
        measured: Vec<&'static str>,
    },
}

impl DiffError {
    /// What to do about it.
    #[must_use]
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
            Self::Question { .. } | Self::NoPhase { .. } => {
                Some("run the same study at the same scale for both".to_owned())
            }
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
