//! Compares the file system with the expected tree: names, kinds, contents, sizes, metadata and
//! links, and that there are no other names.

use fslab_sys::os::MetadataExt;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fslab_model::CaseRule;
use fslab_sys::{DataFile, DataFileOptions, named_attribute};

use super::abilities::Abilities;
use super::check_context::CheckContext;
use super::content::Content;
use super::failure::ConformanceFailure;
use super::tree::{ExpectedMetadata, FileId, FileModel, Node, Tree};
use super::writer::compare;

/// FAT has a time resolution of two seconds.
const TIME_TOLERANCE_S: u64 = 2;
/// Of a longer file, holes are compared only around the data.
const READ_ALL_MAX: u64 = 1 << 31;
/// Bytes compared before and after each range of data.
const AROUND_BYTES: u64 = 1 << 20;
/// Limit of names in a message.
const NAMES_SHOWN: usize = 5;

/// State of a comparison.
pub(crate) struct Audit<'a> {
    pub(crate) base: &'a Path,
    pub(crate) tree: &'a Tree,
    pub(crate) abilities: &'a Abilities,
    pub(crate) checker: &'a mut CheckContext,
    pub(crate) special: SpecialBits,
}

/// Counts of names whose set-user-id, set-group-id and sticky bits were kept and lost. Old formats
/// cannot store them, so they must be kept on all names or on none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpecialBits {
    kept: u32,
    lost: u32,
}

impl SpecialBits {
    /// Counts a name; true if `found` lacks the special bits of `mode`.
    fn count(&mut self, mode: u32, found: u32) -> bool {
        let special = mode & 0o7000;
        if special == 0 {
            return false;
        }
        let lost = found & 0o7000 == 0;
        if lost {
            self.lost += 1;
        } else {
            self.kept += 1;
        }
        lost
    }
}

impl Audit<'_> {
    /// Compares the complete tree.
    pub(crate) fn run(&mut self) -> Result<(), ConformanceFailure> {
        self.names()?;
        let mut inodes: BTreeMap<FileId, u64> = BTreeMap::new();
        for (path, node) in self.tree.nodes() {
            let at = self.base.join(path);
            let meta = self.checker.must("stat", &at, fs::symlink_metadata(&at))?;
            self.kind(&at, node, &meta)?;
            match node {
                Node::Directory => {}
                Node::Symlink(target) => self.target(&at, target)?,
                Node::File(id) => {
                    self.file(&at, *id, &meta)?;
                    if self.abilities.hard_links {
                        let first = *inodes.entry(*id).or_insert(meta.ino());
                        self.checker.demand(first == meta.ino(), &at, || {
                            "is not the same file as its other names".into()
                        })?;
                    }
                }
            }
            if let Some(metadata) = self.tree.metadata(path) {
                self.metadata(&at, metadata, &meta)?;
            }
        }
        let SpecialBits { kept, lost } = self.special;
        self.checker.demand(kept == 0 || lost == 0, self.base, || {
            format!("lost set-user-id, set-group-id or sticky bits of {lost} names")
        })?;
        if lost > 0 {
            self.checker
                .note("set-user-id, set-group-id and sticky bits are not kept");
        }
        Ok(())
    }

    /// Compares the set of names.
    fn names(&mut self) -> Result<(), ConformanceFailure> {
        let folding = self.abilities.case == CaseRule::Folding;
        let comparable = |path: &Path| {
            let text = path.as_os_str();
            PathBuf::from(if folding {
                text.to_ascii_lowercase()
            } else {
                text.to_owned()
            })
        };
        let mut found = BTreeSet::new();
        let mut waiting = vec![PathBuf::new()];
        while let Some(directory) = waiting.pop() {
            let at = self.base.join(&directory);
            let entries = self.checker.must("list", &at, fs::read_dir(&at))?;
            for entry in entries {
                let entry = self.checker.must("list", &at, entry)?;
                let path = directory.join(entry.file_name());
                let kind = self.checker.must("stat", &at, entry.file_type())?;
                if kind.is_dir() {
                    waiting.push(path.clone());
                }
                let new = found.insert(comparable(&path));
                self.checker
                    .demand(new, &at, || format!("lists {} twice", path.display()))?;
            }
        }
        let expected: BTreeSet<_> = self.tree.nodes().keys().map(|it| comparable(it)).collect();
        let missing: Vec<_> = expected.difference(&found).collect();
        let extra: Vec<_> = found.difference(&expected).collect();
        self.checker.demand(missing.is_empty(), self.base, || {
            format!("lacks {}", listed(&missing))
        })?;
        self.checker.demand(extra.is_empty(), self.base, || {
            format!("has the unexpected {}", listed(&extra))
        })
    }

    fn kind(
        &mut self,
        at: &Path,
        node: &Node,
        meta: &fs::Metadata,
    ) -> Result<(), ConformanceFailure> {
        let kind = meta.file_type();
        let (right, wanted) = match node {
            Node::Directory => (kind.is_dir(), "directory"),
            Node::File(_) => (kind.is_file(), "file"),
            Node::Symlink(_) => (kind.is_symlink(), "symbolic link"),
        };
        self.checker
            .demand(right, at, || format!("is no {wanted}, but {kind:?}"))
    }

    fn target(&mut self, at: &Path, target: &Path) -> Result<(), ConformanceFailure> {
        let found = self.checker.must("read the link", at, fs::read_link(at))?;
        self.checker.demand(found == target, at, || {
            format!("leads to {}, not to {}", found.display(), target.display())
        })
    }

    fn file(
        &mut self,
        at: &Path,
        id: FileId,
        meta: &fs::Metadata,
    ) -> Result<(), ConformanceFailure> {
        let FileModel { content, .. } = self.tree.file(id);
        self.checker
            .demand(meta.len() == content.length(), at, || {
                format!("has {} bytes, not {}", meta.len(), content.length())
            })?;
        if self.abilities.counts_links {
            let names = self.tree.names_of(id);
            self.checker.demand(meta.nlink() == names, at, || {
                format!("counts {} names, not {names}", meta.nlink())
            })?;
        }
        compare_file(at, content, self.checker)
    }

    fn metadata(
        &mut self,
        at: &Path,
        metadata: &ExpectedMetadata,
        meta: &fs::Metadata,
    ) -> Result<(), ConformanceFailure> {
        if let Some(mode) = metadata.mode {
            let found = meta.mode() & 0o7777;
            let lost = self.special.count(mode, found);
            let wanted = if lost { mode & 0o777 } else { mode };
            self.checker.demand(found == wanted, at, || {
                format!("has the mode {found:o}, not {mode:o}")
            })?;
        }
        if let Some(owner) = metadata.owner {
            let right = (meta.uid(), meta.gid()) == (owner.user, owner.group);
            self.checker.demand(right, at, || {
                let (user, group) = (meta.uid(), meta.gid());
                format!(
                    "is owned by {user}:{group}, not {}:{}",
                    owner.user, owner.group
                )
            })?;
        }
        if let Some(modified_s) = metadata.modified_s {
            let found = u64::try_from(meta.mtime()).unwrap_or(0);
            self.checker
                .demand(found.abs_diff(modified_s) <= TIME_TOLERANCE_S, at, || {
                    format!("was modified at {} s, not {modified_s} s", meta.mtime())
                })?;
        }
        for (name, value) in &metadata.attributes {
            let found = named_attribute(at, name);
            let found = self.checker.must("read an attribute of", at, found)?;
            self.checker.demand(found.as_ref() == Some(value), at, || {
                format!("has {found:?} as {name:?}, not {value:?}")
            })?;
        }
        Ok(())
    }
}

/// Compares a file with its expected content.
pub(crate) fn compare_file(
    at: &Path,
    content: &Content,
    checker: &mut CheckContext,
) -> Result<(), ConformanceFailure> {
    let options = DataFileOptions {
        read: true,
        ..DataFileOptions::default()
    };
    let file = checker.must("open", at, DataFile::open(at, options))?;
    if content.length() < READ_ALL_MAX {
        return compare(&file, at, content, 0..u64::MAX, checker);
    }
    for range in content.data_ranges() {
        let start = range.start.saturating_sub(AROUND_BYTES);
        let end = range.end.saturating_add(AROUND_BYTES);
        compare(&file, at, content, start..end, checker)?;
    }
    Ok(())
}

fn listed(paths: &[&PathBuf]) -> String {
    let shown: Vec<_> = paths
        .iter()
        .take(NAMES_SHOWN)
        .map(|path| format!("{:?}", path.display().to_string()))
        .collect();
    let more = paths.len() - shown.len();
    let and_more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{and_more}", shown.join(", "))
}
