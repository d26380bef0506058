//! Parameters of `git`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::permission::ProgramParameters;

/// git and its package of Debian.
pub(super) const GIT: [(&str, &str); 1] = [("git", "git")];
/// Limits by the digits of names.
const FILES_MAX: u32 = 100_000;
const COMMITS_MAX: u32 = 10_000;

/// A step of the work on a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    /// `git fast-import` of the history into a bare repository.
    Create,
    /// `git clone` of it, with a working tree.
    Clone,
    /// `git status`.
    Status,
    /// `git checkout` of the state after half of the commits, and back.
    Checkout,
    /// `git add` and `git commit` of changed files.
    Commit,
    /// `git gc`.
    Gc,
}

/// A step of git on a generated repository. All parameters but `step` must be the same in all
/// phases of a repository.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GitParameters {
    /// What git does.
    pub(super) step: Step,
    /// The directory of both repositories, below the root: `origin.git` and the clone `work`.
    pub(super) directory: PathBuf,
    /// Files of the working tree.
    #[schemars(range(min = 1, max = FILES_MAX))]
    pub(super) files: u32,
    /// Commits of the history.
    #[schemars(range(min = 1, max = COMMITS_MAX))]
    pub(super) commits: u32,
    /// Files that each commit after the first one changes: at most `files`.
    #[schemars(range(min = 1))]
    pub(super) changes: u32,
}

impl Default for GitParameters {
    fn default() -> Self {
        Self {
            step: Step::Create,
            directory: "git".into(),
            files: 1_000,
            commits: 100,
            changes: 20,
        }
    }
}

impl ProgramParameters for GitParameters {
    /// None: git gets fixed words, and a history made from the seed.
    fn foreign(&self) -> Option<String> {
        let Self {
            step: _,
            // It reaches no command: it is the working directory.
            directory: _,
            files: _,
            commits: _,
            changes: _,
        } = self;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolved::resolved;

    #[test]
    fn numbers_out_of_range_are_refused_by_name() {
        for (given, word) in [
            (serde_json::json!({ "files": 0 }), "files = 0"),
            (
                serde_json::json!({ "files": 5, "changes": 6 }),
                "changes = 6",
            ),
            (serde_json::json!({ "commits": 10_001 }), "commits = 10001"),
            (serde_json::json!({ "directory": "../x" }), "path"),
        ] {
            let problem = resolved::<GitParameters>(&given).expect_err(word);
            assert!(problem.contains(word), "{problem}");
        }
    }
}
