//! One thing that is not tidy.

use std::fmt;

/// Where, which rule, what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, from the root of the workspace.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The rule's short name.
    pub(crate) rule: &'static str,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            rule,
            message,
            hint,
        } = self;
        write!(f, "{file}:{line}: {rule}: {message}\n    hint: {hint}")
    }
}

/// Rule and line of each finding.
#[cfg(test)]
pub(super) fn rules_of(findings: &[Finding]) -> Vec<(&'static str, usize)> {
    let findings = findings.iter();
    findings
        .map(|finding| (finding.rule, finding.line))
        .collect()
}
