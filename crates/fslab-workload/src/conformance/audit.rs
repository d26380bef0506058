//! Compares the disk with the tree that must be there: every name, kind, byte, size, mark and link,
//! and that nothing else is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fslab_model::CaseRule;
use fslab_sys::{DataFile, DataFileOptions, named_attribute};

use super::abilities::Abilities;
use super::check_context::CheckContext;
use super::content::Content;
use super::failure::ConformanceFailure;
use super::tree::{FileId, FileModel, Marks, Node, Tree};
use super::writer::compare;

/// FAT counts in two seconds.
const TIME_TOLERANCE_S: u64 = 2;
/// Of a file longer than this, holes are only looked at around the data.
const READ_WHOLE_MAX: u64 = 1 << 31;
/// How far around.
const AROUND_BYTES: u64 = 1 << 20;
/// Names in a message.
const NAMES_SHOWN: usize = 5;

/// An audit under way.
pub(crate) struct Audit<'a> {
    pub(crate) base: &'a Path,
    pub(crate) tree: &'a Tree,
    pub(crate) abilities: &'a Abilities,
    pub(crate) ledger: &'a mut CheckContext,
    pub(crate) special: SpecialBits,
}

/// The bits of a mode above the permissions proper: set-user-id, set-group-id and sticky. Old
/// formats have no place for them: they are kept on every name, or on none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpecialBits {
    kept: u32,
    lost: u32,
}

impl SpecialBits {
    /// Whether `found` is `mode` without them.
    fn look(&mut self, mode: u32, found: u32) -> bool {
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
    /// Compares everything.
    ///
    /// # Errors
    /// At the first difference.
    pub(crate) fn run(&mut self) -> Result<(), ConformanceFailure> {
        self.names()?;
        let mut inodes: BTreeMap<FileId, u64> = BTreeMap::new();
        for (path, node) in self.tree.nodes() {
            let at = self.base.join(path);
            let meta = self.ledger.must("stat", &at, fs::symlink_metadata(&at))?;
            self.kind(&at, node, &meta)?;
            match node {
                Node::Directory => {}
                Node::Symlink(target) => self.target(&at, target)?,
                Node::File(id) => {
                    self.file(&at, *id, &meta)?;
                    if self.abilities.hard_links {
                        let first = *inodes.entry(*id).or_insert(meta.ino());
                        self.ledger.demand(first == meta.ino(), &at, || {
                            "is not the same file as its other names".into()
                        })?;
                    }
                }
            }
            if let Some(marks) = self.tree.marks(path) {
                self.marks(&at, marks, &meta)?;
            }
        }
        let SpecialBits { kept, lost } = self.special;
        self.ledger.demand(kept == 0 || lost == 0, self.base, || {
            format!("lost set-user-id, set-group-id or sticky bits of {lost} names")
        })?;
        if lost > 0 {
            self.ledger
                .note("set-user-id, set-group-id and sticky bits are not kept");
        }
        Ok(())
    }

    /// The names that are there are those that must be.
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
            let entries = self.ledger.must("list", &at, fs::read_dir(&at))?;
            for entry in entries {
                let entry = self.ledger.must("list", &at, entry)?;
                let path = directory.join(entry.file_name());
                let kind = self.ledger.must("stat", &at, entry.file_type())?;
                if kind.is_dir() {
                    waiting.push(path.clone());
                }
                let new = found.insert(comparable(&path));
                self.ledger
                    .demand(new, &at, || format!("lists {} twice", path.display()))?;
            }
        }
        let expected: BTreeSet<_> = self.tree.nodes().keys().map(|it| comparable(it)).collect();
        let missing: Vec<_> = expected.difference(&found).collect();
        let extra: Vec<_> = found.difference(&expected).collect();
        self.ledger.demand(missing.is_empty(), self.base, || {
            format!("lacks {}", listed(&missing))
        })?;
        self.ledger.demand(extra.is_empty(), self.base, || {
            format!("has {}, which nobody made", listed(&extra))
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
        self.ledger
            .demand(right, at, || format!("is no {wanted}, but {kind:?}"))
    }

    fn target(&mut self, at: &Path, target: &Path) -> Result<(), ConformanceFailure> {
        let found = self.ledger.must("read the link", at, fs::read_link(at))?;
        self.ledger.demand(found == target, at, || {
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
        self.ledger.demand(meta.len() == content.length(), at, || {
            format!("has {} bytes, not {}", meta.len(), content.length())
        })?;
        if self.abilities.counts_links {
            let names = self.tree.names_of(id);
            self.ledger.demand(meta.nlink() == names, at, || {
                format!("counts {} names, not {names}", meta.nlink())
            })?;
        }
        compare_file(at, content, self.ledger)
    }

    fn marks(
        &mut self,
        at: &Path,
        marks: &Marks,
        meta: &fs::Metadata,
    ) -> Result<(), ConformanceFailure> {
        if let Some(mode) = marks.mode {
            let found = meta.mode() & 0o7777;
            let lost = self.special.look(mode, found);
            let wanted = if lost { mode & 0o777 } else { mode };
            self.ledger.demand(found == wanted, at, || {
                format!("has the mode {found:o}, not {mode:o}")
            })?;
        }
        if let Some(owner) = marks.owner {
            let right = (meta.uid(), meta.gid()) == (owner.user, owner.group);
            self.ledger.demand(right, at, || {
                let (user, group) = (meta.uid(), meta.gid());
                format!(
                    "is owned by {user}:{group}, not {}:{}",
                    owner.user, owner.group
                )
            })?;
        }
        if let Some(modified_s) = marks.modified_s {
            let found = u64::try_from(meta.mtime()).unwrap_or(0);
            self.ledger
                .demand(found.abs_diff(modified_s) <= TIME_TOLERANCE_S, at, || {
                    format!("was modified at {} s, not {modified_s} s", meta.mtime())
                })?;
        }
        for (name, value) in &marks.attributes {
            let found = named_attribute(at, name);
            let found = self.ledger.must("read an attribute of", at, found)?;
            self.ledger.demand(found.as_ref() == Some(value), at, || {
                format!("has {found:?} as {name:?}, not {value:?}")
            })?;
        }
        Ok(())
    }
}

/// Compares a file with what it must hold.
pub(crate) fn compare_file(
    at: &Path,
    content: &Content,
    ledger: &mut CheckContext,
) -> Result<(), ConformanceFailure> {
    let options = DataFileOptions {
        read: true,
        ..DataFileOptions::default()
    };
    let file = ledger.must("open", at, DataFile::open(at, options))?;
    if content.length() < READ_WHOLE_MAX {
        return compare(&file, at, content, 0..u64::MAX, ledger);
    }
    for island in content.islands() {
        let start = island.start.saturating_sub(AROUND_BYTES);
        let end = island.end.saturating_add(AROUND_BYTES);
        compare(&file, at, content, start..end, ledger)?;
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
