//! Parameters of the job `facts`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most entries that are tried in one directory.
const ENTRIES_MAX: u32 = 1_000_000;

/// Measures what a file system does: limits of names and times, calls that it has, what each sync
/// sends to the device; after a remount, what it kept.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FactsParameters {
    /// The directory of the files, below the file system's root.
    pub(crate) directory: PathBuf,
    /// Files, and directories, that are created in one directory to find its limit; 0 for none.
    #[schemars(range(max = ENTRIES_MAX))]
    pub(crate) entries: u32,
    /// What the phase does.
    pub(crate) part: FactsPart,
}

/// The two phases of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FactsPart {
    /// Measures, and leaves files for the other phase.
    Probe,
    /// Looks after a remount at what is left, and removes the files.
    Recall,
}

impl Default for FactsParameters {
    fn default() -> Self {
        Self {
            directory: "facts".into(),
            entries: 0,
            part: FactsPart::Probe,
        }
    }
}
