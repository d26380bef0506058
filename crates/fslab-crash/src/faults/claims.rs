//! What a publication says of failing disks, and whether cases agree.

use serde::{Deserialize, Serialize};

use crate::faults::{Aftermath, BlockKind, Detection, DiskFaultKind, JudgedCase, Recovery};

/// The claims that come with fslab, by study.
const BUILT_IN: [(&str, &str); 2] = [
    (
        "fsync-failure",
        include_str!("../../../../studies/fsync-failure/faults.toml"),
    ),
    ("iron", include_str!("../../../../studies/iron/faults.toml")),
];

/// The claims of a publication.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseClaims {
    claim: Vec<CaseClaim>,
}

/// A claim: what all cases of some kinds have in common.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseClaim {
    pub id: String,
    /// What the publication says, in a sentence.
    pub text: String,
    /// Where it says that.
    pub source: String,
    /// The subjects that it is about.
    pub subjects: Vec<String>,
    /// The phase; `None` for all.
    #[serde(default)]
    pub phase: Option<String>,
    /// The kinds of blocks; empty for all.
    #[serde(default)]
    pub blocks: Vec<BlockKind>,
    /// The kinds of faults.
    pub faults: Vec<DiskFaultKind>,
    /// True if it is about faults that happen once, false if about permanent ones; `None` for both.
    #[serde(default)]
    pub is_transient: Option<bool>,
    /// True if it is only about faults of the first access: of later ones, which may be in the
    /// unmount, not all can be seen.
    #[serde(default)]
    pub is_first: bool,
    /// What is so in each of these cases.
    pub expect: Expected,
}

/// What a claim says of a case; what is not named may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The steps that return errors, all of them.
    failed_steps: Option<Vec<String>>,
    /// Whether an application sees an error, or the kernel ends.
    is_reported: Option<bool>,
    /// What the file system does: one of these.
    recovery: Option<Vec<Recovery>>,
    /// Whether what is read before the unmount is not what is on the disk.
    diverges: Option<bool>,
    /// Whether data that was synced without an error is lost or wrong at the end.
    loses: Option<bool>,
}

/// Whether a claim holds for a subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaseVerdict {
    /// In all of so many cases.
    Holds(usize),
    /// In so many of so many cases, and not in this one.
    Fails(usize, usize, String),
    /// No case of it was done.
    NotMeasured,
}

impl CaseClaims {
    /// Reads claims.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The claims of a built-in study, if it has some about failing disks.
    pub fn built_in(study: &str) -> Option<Self> {
        let (_, text) = BUILT_IN.into_iter().find(|(name, _)| *name == study)?;
        // A test reads them all.
        Self::parse(text).ok()
    }

    /// The names of the built-in studies with claims.
    pub fn studies() -> impl Iterator<Item = &'static str> {
        BUILT_IN.into_iter().map(|(name, _)| name)
    }

    /// Each claim that is about a subject, with whether it holds in its cases.
    pub fn judge<'a>(
        &'a self,
        subject: &'a str,
        cases: &'a [JudgedCase],
    ) -> impl Iterator<Item = (&'a CaseClaim, CaseVerdict)> {
        let own = self.claim.iter();
        let own = own.filter(move |it| it.subjects.iter().any(|name| name == subject));
        own.map(move |claim| (claim, claim.judge(cases)))
    }
}

impl CaseClaim {
    fn is_about(&self, case: &JudgedCase) -> bool {
        let fault = case.case.fault;
        case.hits > 0
            && self.phase.as_ref().is_none_or(|it| *it == case.phase)
            && (self.blocks.is_empty() || self.blocks.contains(&case.case.block))
            && self.faults.contains(&fault.kind)
            && self.is_transient != Some(fault.is_permanent)
            && (!self.is_first || fault.after == 0)
    }

    fn judge(&self, cases: &[JudgedCase]) -> CaseVerdict {
        let own: Vec<&JudgedCase> = cases.iter().filter(|it| self.is_about(it)).collect();
        let other = own.iter().find(|it| !self.expect.is_met(it));
        match other {
            None if own.is_empty() => CaseVerdict::NotMeasured,
            None => CaseVerdict::Holds(own.len()),
            Some(other) => {
                let met = own.iter().filter(|it| self.expect.is_met(it)).count();
                CaseVerdict::Fails(met, own.len(), other.case.fault.to_string())
            }
        }
    }
}

impl Expected {
    fn is_met(&self, case: &JudgedCase) -> bool {
        let is_reported = matches!(case.detection, Detection::Errno(_) | Detection::Kernel);
        let loses = matches!(case.aftermath, Aftermath::Lost | Aftermath::Unmountable);
        let is = |wanted: Option<bool>, found: bool| wanted.is_none_or(|it| it == found);
        self.failed_steps
            .as_ref()
            .is_none_or(|it| *it == case.failed_steps)
            && is(self.is_reported, is_reported)
            && is(self.diverges, case.diverged_bytes > 0)
            && is(self.loses, loses)
            && self
                .recovery
                .as_ref()
                .is_none_or(|it| it.contains(&case.recovery))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::FaultCase;

    fn case(fault: &str, errors: &[&str]) -> JudgedCase {
        JudgedCase {
            phase: "p".into(),
            case: FaultCase {
                block: BlockKind::Data,
                row: "data".into(),
                detail: "data".into(),
                fault: fault.parse().expect("a fault"),
                expected_accesses: 1,
            },
            hits: 1,
            retries: 0,
            detection: match errors.first() {
                Some(error) => Detection::Errno((*error).to_owned()),
                None => Detection::Nothing,
            },
            recovery: Recovery::GoesOn,
            aftermath: Aftermath::Intact,
            errors: errors.iter().map(|it| (*it).to_owned()).collect(),
            failed_steps: errors.iter().map(|it| (*it).to_owned()).collect(),
            wrong_bytes: 0,
            diverged_bytes: 4096,
            kernel: Vec::new(),
            lost_bytes: 0,
            lost_names: Vec::new(),
            lost_bytes_at_end: 0,
            unsynced_bytes: 0,
            check: None,
            mount_errors: Vec::new(),
        }
    }

    const CLAIMS: &str = r#"
        [[claim]]
        id = "once"
        text = "The error is seen once, and the cache has what the disk has not."
        source = "a test"
        subjects = ["ext4"]
        faults = ["write-error"]
        is_transient = true
        expect = { failed_steps = ["fsync f: EIO"], diverges = true }
    "#;

    #[test]
    fn a_claim_holds_in_all_of_its_cases_or_names_one_in_which_it_does_not() {
        let claims = CaseClaims::parse(CLAIMS).expect("claims");
        let seen = case("write-error@8+8#0", &["fsync f: EIO"]);
        let verdict = |subject: &str, cases: &[JudgedCase]| {
            let found = claims.judge(subject, cases).next();
            found.map(|(_, verdict)| verdict)
        };
        let permanent = case("write-error@8+8#0!", &[]);
        let cases = [seen.clone(), permanent, case("read-error@8+8#0", &[])];
        assert_eq!(verdict("ext4", &cases), Some(CaseVerdict::Holds(1)));
        assert_eq!(verdict("xfs", &cases), None);
        assert_eq!(verdict("ext4", &[]), Some(CaseVerdict::NotMeasured));
        let silent = case("write-error@16+8#0", &[]);
        let fails = CaseVerdict::Fails(1, 2, "write-error@16+8#0".into());
        assert_eq!(verdict("ext4", &[seen, silent]), Some(fails));
    }

    #[test]
    fn every_built_in_claim_can_be_read_and_has_a_source() {
        for study in CaseClaims::studies() {
            let claims = CaseClaims::built_in(study).expect("claims");
            for claim in &claims.claim {
                assert!(claim.source.contains(','), "{claim:?}");
                assert!(claim.text.ends_with('.'), "{claim:?}");
                assert!(!claim.subjects.is_empty(), "{claim:?}");
            }
        }
    }
}
