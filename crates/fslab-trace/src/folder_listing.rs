//! Listing of a directory's tree: paths, kinds, lengths, links.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use fslab_sys::os::{MetadataExt, OsStrExt};
use serde::{Deserialize, Serialize};

use fslab_model::Failure;

use crate::TracePath;
use crate::error;
use crate::event::LinkTarget;

/// Limit of paths: a larger directory is most likely given by mistake, such as `/`.
const NAMES_MAX: usize = 1_000_000;
/// Symbolic links followed in one path; the kernel's limit.
const LINKS_MAX: usize = 40;

/// File type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A regular file.
    File,
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, a socket, a device.
    Other,
}

/// One path and its metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeEntry {
    pub path: TracePath,
    /// Its file type.
    pub kind: EntryKind,
    /// Length of a regular file, else 0.
    pub bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// An earlier path of the same file, for a hard link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<TracePath>,
    /// Target of a symbolic link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<LinkTarget>,
}

/// The tree below a directory, directories before their content.
#[derive(Clone, Debug, Default)]
pub(crate) struct FolderListing {
    entries: BTreeMap<TracePath, TreeEntry>,
}

impl FolderListing {
    /// Lists `root` without crossing file systems.
    ///
    /// # Errors
    /// [`Failure::Io`]; [`Failure::Root`] if there are more than [`NAMES_MAX`] paths.
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let device = fs::symlink_metadata(root)
            .map_err(|e| error::of_file("list", root, &e))?
            .dev();
        let mut lister = Lister {
            root,
            device,
            listing: Self::default(),
            by_inode: HashMap::new(),
        };
        lister.directory(&TracePath::default())?;
        Ok(lister.listing)
    }

    /// The entries that a replay must create: the paths `touched`, the directories `listed` and
    /// their entries, all parents, and targets of symbolic links on the way.
    pub(crate) fn required_entries(
        &self,
        touched: &BTreeSet<TracePath>,
        listed: &BTreeSet<TracePath>,
    ) -> Vec<TreeEntry> {
        let mut names = BTreeSet::new();
        for path in touched.iter().chain(listed) {
            self.add_path(path, LINKS_MAX, &mut names);
        }
        for entry in self.entries.values() {
            if entry
                .path
                .parent()
                .is_some_and(|parent| listed.contains(&parent))
            {
                names.insert(entry.path.clone());
            }
        }
        let mut needed: Vec<TreeEntry> = Vec::new();
        for path in &names {
            let Some(entry) = self.entries.get(path) else {
                continue;
            };
            let mut entry = entry.clone();
            // The other path of a hard link may not be required.
            entry.same_as = entry.same_as.filter(|first| names.contains(first));
            needed.push(entry);
        }
        needed
    }

    /// Adds `path`, its parents, and likewise the targets of symbolic links among them.
    fn add_path(&self, path: &TracePath, links: usize, names: &mut BTreeSet<TracePath>) {
        let mut way: Vec<_> = path.ancestors().collect();
        way.reverse();
        way.push(path.clone());
        for step in way.into_iter().filter(|step| !step.is_root()) {
            names.insert(step.clone());
            let link = self
                .entries
                .get(&step)
                .and_then(|entry| entry.target.as_ref());
            let Some(link) = link.filter(|_| links > 0) else {
                continue;
            };
            let target = match link {
                LinkTarget::Below(path) => Some(path.clone()),
                LinkTarget::Text(text) if text.starts_with('/') => None,
                LinkTarget::Text(text) => {
                    let base = step.parent().unwrap_or_default();
                    let joined = [b"/", base.as_bytes(), b"/", text.as_bytes()].concat();
                    TracePath::below(b"/", &joined)
                }
            };
            if let Some(rest) = target.and_then(|to| path.moved(&step, &to)) {
                self.add_path(&rest, links - 1, names);
            }
        }
    }

    /// The state of `names` in this listing.
    pub(crate) fn final_files(&self, names: &BTreeSet<TracePath>) -> Vec<FinalFile> {
        let files = names.iter().filter(|path| !path.is_root()).map(|path| {
            let entry = self.entries.get(path);
            FinalFile {
                path: path.clone(),
                kind: entry.map(|entry| entry.kind),
                bytes: entry.map_or(0, |entry| entry.bytes),
            }
        });
        files.collect()
    }
}

struct Lister<'a> {
    root: &'a Path,
    device: u64,
    listing: FolderListing,
    by_inode: HashMap<u64, TracePath>,
}

impl Lister<'_> {
    fn directory(&mut self, path: &TracePath) -> Result<(), Failure> {
        let at = self.root.join(path.as_path());
        let failed = |e| error::of_file("list", &at, &e);
        let mut names = Vec::new();
        for entry in fs::read_dir(&at).map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name());
        }
        names.sort();
        for name in names {
            self.entry(&path.join(name.as_bytes()))?;
        }
        Ok(())
    }

    fn entry(&mut self, path: &TracePath) -> Result<(), Failure> {
        if self.listing.entries.len() >= NAMES_MAX {
            let problem = format!("it holds more than {NAMES_MAX} names");
            return Err(error::of_root(self.root, problem));
        }
        let at = self.root.join(path.as_path());
        let metadata = fs::symlink_metadata(&at).map_err(|e| error::of_file("stat", &at, &e))?;
        if metadata.dev() != self.device {
            return Ok(());
        }
        let file_type = metadata.file_type();
        let kind = if file_type.is_dir() {
            EntryKind::Directory
        } else if file_type.is_file() {
            EntryKind::File
        } else if file_type.is_symlink() {
            EntryKind::Symlink
        } else {
            EntryKind::Other
        };
        let target = match kind {
            EntryKind::Symlink => {
                let text = fs::read_link(&at).map_err(|e| error::of_file("read", &at, &e))?;
                Some(self.target(text.as_os_str().as_bytes()))
            }
            _ => None,
        };
        let first = (metadata.nlink() > 1 && kind == EntryKind::File).then(|| {
            self.by_inode
                .entry(metadata.ino())
                .or_insert_with(|| path.clone())
                .clone()
        });
        let entry = TreeEntry {
            path: path.clone(),
            kind,
            bytes: if kind == EntryKind::File {
                metadata.len()
            } else {
                0
            },
            mode: metadata.mode() & 0o7777,
            same_as: first.filter(|first| first != path),
            target,
        };
        self.listing.entries.insert(path.clone(), entry);
        match kind {
            EntryKind::Directory => self.directory(path),
            _ => Ok(()),
        }
    }

    fn target(&self, text: &[u8]) -> LinkTarget {
        let below = text
            .starts_with(b"/")
            .then(|| TracePath::below(self.root.as_os_str().as_bytes(), text))
            .flatten();
        below.map_or_else(
            || LinkTarget::Text(String::from_utf8_lossy(text).into_owned()),
            LinkTarget::Below,
        )
    }
}

/// A path's state after the command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalFile {
    pub path: TracePath,
    /// Its kind; `None` if it does not exist.
    pub kind: Option<EntryKind>,
    /// Length of a regular file, else 0.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_are_parents_link_targets_and_the_entries_of_listed_directories() {
        let folder = tempfile::tempdir().expect("a directory");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("real/deep")).expect("makes");
        fs::write(at("real/deep/file"), b"12345").expect("writes");
        fs::write(at("real/other"), b"1").expect("writes");
        fs::hard_link(at("real/other"), at("second")).expect("links");
        fslab_sys::os::symlink("real", at("link")).expect("links");
        let listing = FolderListing::read(folder.path()).expect("lists");
        assert_eq!(listing.entries.len(), 6);
        let touched = BTreeSet::from([TracePath::of("link/deep/file"), TracePath::of("gone")]);
        let needed = listing.required_entries(&touched, &BTreeSet::new());
        let names: Vec<_> = needed.iter().map(|entry| entry.path.to_string()).collect();
        assert_eq!(names, ["link", "real", "real/deep", "real/deep/file"]);
        assert_eq!(needed[3].bytes, 5);
        let listed = BTreeSet::from([TracePath::default()]);
        let needed = listing.required_entries(&BTreeSet::new(), &listed);
        let names: Vec<_> = needed.iter().map(|entry| entry.path.to_string()).collect();
        assert_eq!(names, ["link", "real", "second"]);
        assert_eq!(needed[2].same_as, None, "its first name is not among them");
        let left = listing.final_files(&touched);
        assert_eq!(left[0].kind, None);
        assert!(left.iter().all(|file| file.path != TracePath::default()));
    }
}
