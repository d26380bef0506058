//! Facts about a file system that a choice depends on beside its speed.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

/// What a reservation is about.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ReservationKind {
    /// Which systems and devices read and write it.
    Compatibility,
    /// What it cannot hold or do.
    Limit,
    /// What a crash or a damaged disk leaves.
    Durability,
    /// Who maintains its driver, and known bugs.
    Maturity,
}

impl ReservationKind {
    /// Its name as a label.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One such fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reservation {
    /// What it is about.
    pub kind: ReservationKind,
    /// A sentence with its full stop; "it" is the file system.
    pub text: Cow<'static, str>,
    /// The document that says so; `None` for what fslab itself measures: capabilities and bugs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Cow<'static, str>>,
}

impl Reservation {
    /// What `source` says.
    pub const fn stated(kind: ReservationKind, text: &'static str, source: &'static str) -> Self {
        Self {
            kind,
            text: Cow::Borrowed(text),
            source: Some(Cow::Borrowed(source)),
        }
    }

    /// What fslab measured.
    pub fn measured(kind: ReservationKind, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            text: text.into(),
            source: None,
        }
    }
}
