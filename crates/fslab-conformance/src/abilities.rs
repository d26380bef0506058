//! Capabilities that the survey found, and their comparison with the catalogue entry.

use std::ffi::OsString;

use fslab_model::{Capabilities, CaseRule};

use super::failure::ConformanceFailure;

/// Capabilities of a file system, as the survey found them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Abilities {
    pub(crate) permissions: bool,
    pub(crate) symlinks: bool,
    /// Any target of a symbolic link is kept unchanged.
    pub(crate) verbatim_links: bool,
    pub(crate) hard_links: bool,
    /// `st_nlink` is the number of names of a file.
    pub(crate) counts_links: bool,
    /// A rename of one name of a file leaves its other names.
    pub(crate) renames_links: bool,
    pub(crate) attributes: bool,
    pub(crate) reflinks: bool,
    pub(crate) holes: bool,
    pub(crate) case: CaseRule,
    /// The longest name of ASCII letters, in bytes.
    pub(crate) name_bytes: u32,
    /// Names beyond ASCII are kept byte for byte.
    pub(crate) wide_names: bool,
    /// The unusual names that are kept byte for byte.
    pub(crate) odd_names: Vec<OsString>,
    /// A file may be longer than 4 GiB.
    pub(crate) far_offsets: bool,
}

/// Whether a capability was found; the error describes the refusal.
pub(crate) type Answer = Result<(), String>;

/// Compares the capability `what` as found with the entry's.
pub(crate) fn compare(
    what: &str,
    promised: Option<bool>,
    answer: &Answer,
) -> Result<bool, ConformanceFailure> {
    match (promised, answer) {
        (Some(true), Err(said)) => Err(ConformanceFailure::against_entry(format!(
            "the entry promises {what}, but {said}"
        ))),
        (Some(false), Ok(())) => Err(ConformanceFailure::against_entry(format!(
            "the entry understates: it denies {what}, and they work"
        ))),
        (_, answer) => Ok(answer.is_ok()),
    }
}

/// Compares the case rule as found with the entry's.
pub(crate) fn compare_case(
    promised: Option<&Capabilities>,
    found: CaseRule,
) -> Result<CaseRule, ConformanceFailure> {
    match promised.map(|promised| promised.case) {
        Some(case) if case != found => Err(ConformanceFailure::against_entry(format!(
            "the entry says that {}, but {}",
            rule(case),
            rule(found)
        ))),
        _ => Ok(found),
    }
}

fn rule(case: CaseRule) -> &'static str {
    match case {
        CaseRule::Sensitive => "names that differ only in case are two files",
        CaseRule::Preserving => {
            "names that differ only in case are one file, and the case is kept as written"
        }
        CaseRule::Folding => {
            "names that differ only in case are one file, and the case is not kept"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_promises_too_much_or_too_little_is_an_error() {
        let yes: Answer = Ok(());
        let no: Answer = Err("symlink(2) says EPERM".into());
        let links = |promised, answer| compare("symbolic links", promised, answer);
        let error = links(Some(true), &no).expect_err("promised and refused");
        assert!(error.0.to_string().contains("says EPERM"), "{error:?}");
        let error = links(Some(false), &yes).expect_err("denied and there");
        assert!(error.0.to_string().contains("understates"), "{error:?}");
        for (promised, answer, found) in [
            (Some(true), &yes, true),
            (Some(false), &no, false),
            (None, &yes, true),
            (None, &no, false),
        ] {
            assert_eq!(links(promised, answer).expect("agrees"), found);
        }
    }
}
