//! Phases by meaning: what they do to data, files and metadata.

use std::fmt;

use fslab_compare::PhaseAnalysis;
use fslab_model::PhaseKind;

/// What a phase does, in the order of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PhaseGroup {
    Writes,
    Reads,
    Mixed,
    Creating,
    ReadingFiles,
    ReadingMetadata,
    ChangingMetadata,
    Removing,
    Programs,
    Other,
}

/// Names of operations and words of a workload's name, and their group. The first that is found
/// counts.
const WORDS: [(PhaseGroup, &[&str]); 5] = [
    (
        PhaseGroup::Removing,
        &["unlink", "rmdir", "remove", "delete", "clear"],
    ),
    (
        PhaseGroup::Creating,
        &["create", "replace", "mkdir", "write", "copy", "turnover"],
    ),
    (
        PhaseGroup::ReadingMetadata,
        &[
            "stat",
            "list",
            "readdir",
            "find",
            "open",
            "readlink",
            "get-xattr",
        ],
    ),
    (PhaseGroup::ReadingFiles, &["read"]),
    (
        PhaseGroup::ChangingMetadata,
        &[
            "chmod",
            "chown",
            "utimens",
            "rename",
            "link",
            "symlink",
            "truncate",
            "fallocate",
            "set-xattr",
            "fsync-file",
            "fsync-directory",
        ],
    ),
];

/// Workloads that execute programs.
const PROGRAMS: [&str; 2] = ["command", "compile"];

impl PhaseGroup {
    /// The group of a phase, by the kind of its workload and, on metadata, by the operation.
    pub(crate) fn of(phase: &PhaseAnalysis) -> Self {
        match phase.kind {
            Some(PhaseKind::Write) => Self::Writes,
            Some(PhaseKind::Read) => Self::Reads,
            Some(PhaseKind::Mixed) => Self::Mixed,
            Some(PhaseKind::Metadata) => {
                let operation = phase.parameters.get("operation").and_then(|it| it.as_str());
                Self::of_metadata(operation, phase.workload)
            }
            None => Self::Other,
        }
    }

    fn of_metadata(operation: Option<&str>, workload: &str) -> Self {
        if operation.is_none() && PROGRAMS.contains(&workload) {
            return Self::Programs;
        }
        let name = operation.unwrap_or(workload);
        let has = |words: &[&str]| {
            words.contains(&name) || name.split(['-', '_']).any(|part| words.contains(&part))
        };
        let found = WORDS.iter().find(|(_, words)| has(words));
        found.map_or(Self::Other, |(group, _)| *group)
    }
}

impl fmt::Display for PhaseGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Writes => "Data writes",
            Self::Reads => "Data reads",
            Self::Mixed => "Reads and writes",
            Self::Creating => "Creating files",
            Self::ReadingFiles => "Reading small files",
            Self::ReadingMetadata => "Reading metadata",
            Self::ChangingMetadata => "Changing metadata",
            Self::Removing => "Removing files",
            Self::Programs => "Programs",
            Self::Other => "Other phases",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_on_metadata_are_grouped_by_operation_else_by_workload() {
        let of = PhaseGroup::of_metadata;
        assert_eq!(of(Some("create"), "small"), PhaseGroup::Creating);
        assert_eq!(of(Some("replace"), "tree-rewrite"), PhaseGroup::Creating);
        assert_eq!(of(Some("read"), "read-files"), PhaseGroup::ReadingFiles);
        assert_eq!(of(Some("list"), "list"), PhaseGroup::ReadingMetadata);
        assert_eq!(of(Some("chmod"), "chmod"), PhaseGroup::ChangingMetadata);
        assert_eq!(of(Some("unlink"), "tree-unlink"), PhaseGroup::Removing);
        assert_eq!(of(Some("remove-all"), "clear"), PhaseGroup::Removing);
        assert_eq!(of(Some("get-xattr"), "files"), PhaseGroup::ReadingMetadata);
        for changing in [
            "set-xattr",
            "chown",
            "utimens",
            "fallocate",
            "fsync-directory",
        ] {
            let found = of(Some(changing), "files");
            assert_eq!(found, PhaseGroup::ChangingMetadata, "{changing}");
        }
        // Imported runs have no parameters.
        assert_eq!(of(None, "clear"), PhaseGroup::Removing);
        assert_eq!(of(None, "tree-create"), PhaseGroup::Creating);
        assert_eq!(of(None, "file-stat"), PhaseGroup::ReadingMetadata);
        assert_eq!(of(None, "compile"), PhaseGroup::Programs);
        assert_eq!(of(None, "exotic"), PhaseGroup::Other);
    }
}
