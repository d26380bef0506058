//! A claim with its run, and the result of its condition.

use crate::evidence::{Evidence, Ranges};
use crate::findings::all_must_hold;
use crate::missing::MissingReason;
use crate::{Claim, ClaimOutcome, Finding};

/// The result of one claim's condition.
pub(crate) struct Judgement {
    pub(crate) outcome: ClaimOutcome,
    pub(crate) findings: Vec<Finding>,
    /// Additions to the verdict's sentence.
    pub(crate) remarks: Vec<String>,
}

impl Judgement {
    /// The result where every finding must hold.
    pub(crate) fn all(findings: Vec<Finding>) -> Self {
        Self {
            outcome: all_must_hold(&findings),
            findings,
            remarks: Vec::new(),
        }
    }

    /// The result where there is no number.
    pub(crate) fn missing(gap: impl Into<MissingReason>) -> Self {
        let gap = gap.into();
        Self {
            outcome: gap.outcome(),
            findings: Vec::new(),
            remarks: vec![gap.into_text()],
        }
    }
}

/// A claim and the run for which it is evaluated.
pub(crate) struct Case<'a, 'r> {
    pub(crate) evidence: &'a Evidence<'r>,
    /// Further runs, for claims that compare two disks.
    pub(crate) others: &'a [Evidence<'r>],
    pub(crate) claim: &'a Claim,
    pub(crate) ranges: Ranges,
}
