//! Capabilities and limits of a file system, typed for use by workloads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Bytes;

/// The treatment of names that differ only in case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CaseRule {
    /// `a` and `A` are two files.
    Sensitive,
    /// `a` and `A` are one file; the name keeps its case.
    Preserving,
    /// `a` and `A` are one file; the name is stored in one case.
    Folding,
}

/// The protection of the structure against a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CrashSafety {
    /// None: the checker repairs what it can.
    None,
    /// None by this driver, though the format has a journal.
    JournalUnused,
    /// Changes are first written to a journal.
    Journal,
    /// Nothing in use is overwritten; a new root makes changes valid.
    CopyOnWrite,
}

/// Features and limits of a file system made by its mkfs without options, under the driver in its
/// entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// Files are still there after an unmount and another mount.
    pub persistent: bool,
    /// Owner, group and mode of a file are kept.
    pub permissions: bool,
    /// Symbolic links can be made.
    pub symlinks: bool,
    /// Most names of one file; 1 without hard links.
    pub hard_links_max: u64,
    /// The treatment of names that differ only in case.
    pub case: CaseRule,
    /// A hole in a file takes no space.
    pub sparse_files: bool,
    /// Extended attributes of the `user` namespace are kept.
    pub extended_attributes: bool,
    /// Files can share blocks (FICLONE).
    pub reflinks: bool,
    /// Data can be compressed transparently.
    pub compression: bool,
    /// Metadata carries checksums.
    pub metadata_checksums: bool,
    /// Data carries checksums.
    pub data_checksums: bool,
    /// The protection of the structure against a crash.
    pub crash_safety: CrashSafety,
    /// Longest name of a directory entry, in bytes of UTF-8.
    pub name_bytes_max: u32,
    /// Largest size of a file, with blocks of 4 KiB.
    pub file_bytes_max: Bytes,
    /// Largest file system, with blocks of 4 KiB; `None` if nothing is stored.
    pub volume_bytes_max: Option<Bytes>,
}

/// What a workload needs of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Owner, group and mode of a file are kept.
    Permissions,
    /// Symbolic links.
    Symlinks,
    /// So many names of one file.
    HardLinks(u64),
    /// Names that differ only in case.
    CaseSensitivity,
    /// Holes that take no space.
    SparseFiles,
    /// Extended attributes of the `user` namespace.
    ExtendedAttributes,
    /// Names of so many bytes.
    NameBytes(u32),
    /// A file of this size.
    FileBytes(Bytes),
    /// Files that survive an unmount.
    Persistence,
}

impl Capabilities {
    /// Files and directories with names of 255 bytes, and nothing else; an entry states what
    /// differs.
    pub const NONE: Self = Self {
        persistent: true,
        permissions: false,
        symlinks: false,
        hard_links_max: 1,
        case: CaseRule::Preserving,
        sparse_files: false,
        extended_attributes: false,
        reflinks: false,
        compression: false,
        metadata_checksums: false,
        data_checksums: false,
        crash_safety: CrashSafety::None,
        name_bytes_max: 255,
        file_bytes_max: Bytes(0),
        volume_bytes_max: None,
    };
    /// What POSIX asks for, holes, and files up to the limit of Linux; an entry states what
    /// differs.
    pub const POSIX: Self = Self {
        permissions: true,
        symlinks: true,
        // _POSIX_LINK_MAX.
        hard_links_max: 8,
        case: CaseRule::Sensitive,
        sparse_files: true,
        file_bytes_max: Bytes((1 << 63) - 1),
        ..Self::NONE
    };

    /// Why `need` is not met, as a fragment: `it has no symbolic links`; `None` if it is met.
    pub fn lack(&self, need: Need) -> Option<String> {
        let without = |has: bool, what: &str| (!has).then(|| what.to_owned());
        match need {
            Need::Permissions => without(self.permissions, "it keeps no permissions"),
            Need::Symlinks => without(self.symlinks, "it has no symbolic links"),
            Need::HardLinks(names) if self.hard_links_max < names => {
                Some(match self.hard_links_max {
                    0 | 1 => "it has no hard links".to_owned(),
                    most => format!("a file has at most {most} names there"),
                })
            }
            Need::CaseSensitivity => without(
                self.case == CaseRule::Sensitive,
                "names that differ only in case are one name there",
            ),
            Need::SparseFiles => without(self.sparse_files, "its files have no holes"),
            Need::ExtendedAttributes => {
                without(self.extended_attributes, "it has no extended attributes")
            }
            Need::NameBytes(bytes) if self.name_bytes_max < bytes => Some(format!(
                "its names have at most {} bytes",
                self.name_bytes_max
            )),
            Need::FileBytes(bytes) if self.file_bytes_max < bytes => {
                Some(format!("its files have at most {}", self.file_bytes_max))
            }
            Need::Persistence => without(self.persistent, "its files do not survive an unmount"),
            Need::HardLinks(_) | Need::NameBytes(_) | Need::FileBytes(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOR: Capabilities = Capabilities {
        persistent: false,
        name_bytes_max: 30,
        file_bytes_max: Bytes::gib(2),
        ..Capabilities::NONE
    };
    const RICH: Capabilities = Capabilities {
        persistent: true,
        permissions: true,
        symlinks: true,
        hard_links_max: 100,
        case: CaseRule::Sensitive,
        sparse_files: true,
        extended_attributes: true,
        name_bytes_max: 255,
        file_bytes_max: Bytes::gib(64),
        ..POOR
    };

    #[test]
    fn every_need_is_lacked_by_the_poor_and_met_by_the_rich() {
        for need in [
            Need::Permissions,
            Need::Symlinks,
            Need::HardLinks(2),
            Need::CaseSensitivity,
            Need::SparseFiles,
            Need::ExtendedAttributes,
            Need::NameBytes(31),
            Need::FileBytes(Bytes::gib(3)),
            Need::Persistence,
        ] {
            assert!(POOR.lack(need).is_some(), "{need:?}");
            assert_eq!(RICH.lack(need), None, "{need:?}");
        }
        assert_eq!(POOR.lack(Need::NameBytes(30)), None);
        assert_eq!(POOR.lack(Need::HardLinks(1)), None);
        let lack = RICH.lack(Need::HardLinks(101)).expect("too many");
        assert_eq!(lack, "a file has at most 100 names there");
    }
}
