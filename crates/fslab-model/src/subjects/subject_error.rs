//! Why a text is no subject.

use crate::ParseStageError;

/// Why a text is not a subject. Whether the file system exists is checked by the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseSubjectError {
    /// Nothing before the first colon.
    #[error("the subject '{0}' names no file system; use for example ext4 or ext4:mount=noatime")]
    NoFileSystem(String),
    /// `mkfs=` or `mount=` without a value, or an empty part.
    #[error("the subject '{0}' has an empty option; remove it and the colon before it")]
    EmptyOption(String),
    /// An unknown stage, or one with invalid values.
    #[error("the subject '{subject}' has an invalid stage")]
    Stage {
        /// The subject.
        subject: String,
        /// The cause.
        #[source]
        source: ParseStageError,
    },
    /// The same stage twice.
    #[error("the subject '{subject}' has the stage '{stage}' twice")]
    StageTwice {
        /// The subject.
        subject: String,
        /// The stage's key.
        stage: &'static str,
    },
    /// A name below a slash that is no layer.
    #[error("the subject '{subject}' has no layer '{layer}'; layers are {known}")]
    Layer {
        /// The subject.
        subject: String,
        /// The name.
        layer: String,
        /// The names of all layers.
        known: String,
    },
    /// A number of members that its array cannot have, or of disks that no subject has.
    #[error("the subject '{subject}' has a wrong number of disks: {problem}")]
    Members {
        /// The subject.
        subject: String,
        /// The cause.
        problem: String,
    },
}
