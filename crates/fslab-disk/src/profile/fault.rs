//! What is wrong with the text of a profile.

/// What is wrong with the text of a profile; each names the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileFault {
    /// It is no TOML.
    #[error("it is no TOML: {0}")]
    Syntax(String),
    /// It is from a later fslab.
    #[error("it has format {found}, and this fslab reads up to {known}")]
    Format {
        /// What the file says.
        found: u32,
        /// What we read.
        known: u32,
    },
    /// A key or a group that must be there.
    #[error("{key} is missing")]
    Missing {
        /// With its group, such as `seek.average`.
        key: String,
    },
    /// A key that a profile of this kind has not.
    #[error("{key} is no key of such a profile")]
    Unknown {
        /// With its group.
        key: String,
        /// The key that was most likely meant.
        nearest: Option<String>,
        /// All that may stand there.
        known: Vec<String>,
    },
    /// A value that cannot be read.
    #[error("{key} = '{value}': {reason}")]
    Value {
        /// With its group.
        key: String,
        /// As it was written.
        value: String,
        /// A sentence's fragment.
        reason: String,
    },
    /// A value that no such disk has.
    #[error("{key} is impossible: {reason}")]
    Impossible {
        /// With its group.
        key: String,
        /// A sentence's fragment.
        reason: String,
    },
}

impl ProfileFault {
    pub(super) fn impossible(key: &str, reason: impl Into<String>) -> Self {
        Self::Impossible {
            key: key.to_owned(),
            reason: reason.into(),
        }
    }

    /// What the user may do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean '{nearest}'?")),
            Self::Unknown { known, .. } => Some(format!("known here are {}", known.join(", "))),
            Self::Missing { .. } => {
                Some("`fslab disk show NAME --toml` prints a profile to start from".to_owned())
            }
            Self::Format { .. } => Some("use the fslab that it was written for".to_owned()),
            Self::Syntax(_) | Self::Value { .. } | Self::Impossible { .. } => None,
        }
    }
}
