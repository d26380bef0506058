//! What is in a folder: names, kinds, lengths, links.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::event::LinkTarget;
use crate::{FinalFile, TraceError, TracePath};

/// More names in a folder are a folder that nobody means.
const NAMES_MAX: usize = 1_000_000;
/// Symbolic links that are followed in one name, as many as the kernel follows.
const LINKS_MAX: usize = 40;

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, a socket, a device.
    Other,
}

/// One name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeEntry {
    /// The name.
    pub path: TracePath,
    /// What it is.
    pub kind: EntryKind,
    /// Its length, for a file.
    pub bytes: u64,
    /// Its permissions.
    pub mode: u32,
    /// Another name of the same file, which stands before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<TracePath>,
    /// Where a symbolic link points to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<LinkTarget>,
}

/// All that is in a folder, directories before what is in them.
#[derive(Clone, Debug, Default)]
pub struct Census {
    entries: BTreeMap<TracePath, TreeEntry>,
}

impl Census {
    /// Lists `root`, without leaving its file system.
    ///
    /// # Errors
    /// [`TraceError::Io`] where it cannot be listed, [`TraceError::Root`] where there is too much.
    pub fn take(root: &Path) -> Result<Self, TraceError> {
        let device = fs::symlink_metadata(root)
            .map_err(|error| TraceError::io("list", root, error))?
            .dev();
        let mut taker = Taker {
            root,
            device,
            census: Self::default(),
            by_inode: HashMap::new(),
        };
        taker.directory(&TracePath::default())?;
        Ok(taker.census)
    }

    /// What `path` is.
    #[must_use]
    pub fn get(&self, path: &TracePath) -> Option<&TreeEntry> {
        self.entries.get(path)
    }

    /// The entries that a trace needs which used the names `touched` and listed the directories
    /// `listed`: those themselves, what they stand in, what is in the listed ones, and where
    /// symbolic links on the way lead.
    #[must_use]
    pub fn needed(
        &self,
        touched: &BTreeSet<TracePath>,
        listed: &BTreeSet<TracePath>,
    ) -> Vec<TreeEntry> {
        let mut names = BTreeSet::new();
        for path in touched.iter().chain(listed) {
            self.add_way(path, LINKS_MAX, &mut names);
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
            // The name that it is a second one of may not be among them.
            entry.same_as = entry.same_as.filter(|first| names.contains(first));
            needed.push(entry);
        }
        needed
    }

    /// Adds `path`, all that it stands in, and the same where symbolic links on the way lead.
    fn add_way(&self, path: &TracePath, links: usize, names: &mut BTreeSet<TracePath>) {
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
            let led_to = match link {
                LinkTarget::Below(path) => Some(path.clone()),
                LinkTarget::Text(text) if text.starts_with('/') => None,
                LinkTarget::Text(text) => {
                    let base = step.parent().unwrap_or_default();
                    let joined = [b"/", base.as_bytes(), b"/", text.as_bytes()].concat();
                    TracePath::below(b"/", &joined)
                }
            };
            if let Some(rest) = led_to.and_then(|to| path.moved(&step, &to)) {
                self.add_way(&rest, links - 1, names);
            }
        }
    }

    /// What has become of `names`.
    #[must_use]
    pub fn left(&self, names: &BTreeSet<TracePath>) -> Vec<FinalFile> {
        let left = names.iter().filter(|path| !path.is_root()).map(|path| {
            let entry = self.entries.get(path);
            FinalFile {
                path: path.clone(),
                kind: entry.map(|entry| entry.kind),
                bytes: entry.map_or(0, |entry| entry.bytes),
            }
        });
        left.collect()
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the folder is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

struct Taker<'a> {
    root: &'a Path,
    device: u64,
    census: Census,
    by_inode: HashMap<u64, TracePath>,
}

impl Taker<'_> {
    fn directory(&mut self, path: &TracePath) -> Result<(), TraceError> {
        let at = self.root.join(path.as_path());
        let failed = |error| TraceError::io("list", &at, error);
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

    fn entry(&mut self, path: &TracePath) -> Result<(), TraceError> {
        if self.census.len() >= NAMES_MAX {
            return Err(TraceError::Root {
                root: self.root.to_owned(),
                problem: format!("it holds more than {NAMES_MAX} names"),
            });
        }
        let at = self.root.join(path.as_path());
        let metadata =
            fs::symlink_metadata(&at).map_err(|error| TraceError::io("stat", &at, error))?;
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
                let text = fs::read_link(&at).map_err(|e| TraceError::io("read", &at, e))?;
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
        self.census.entries.insert(path.clone(), entry);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_needs_what_leads_to_its_names_and_what_its_listings_saw() {
        let folder = tempfile::tempdir().expect("a directory");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("real/deep")).expect("makes");
        fs::write(at("real/deep/file"), b"12345").expect("writes");
        fs::write(at("real/other"), b"1").expect("writes");
        fs::hard_link(at("real/other"), at("second")).expect("links");
        std::os::unix::fs::symlink("real", at("link")).expect("links");
        let census = Census::take(folder.path()).expect("lists");
        assert_eq!(census.len(), 6);
        let touched = BTreeSet::from([TracePath::of("link/deep/file"), TracePath::of("gone")]);
        let needed = census.needed(&touched, &BTreeSet::new());
        let names: Vec<_> = needed.iter().map(|entry| entry.path.to_string()).collect();
        assert_eq!(names, ["link", "real", "real/deep", "real/deep/file"]);
        assert_eq!(needed[3].bytes, 5);
        let listed = BTreeSet::from([TracePath::default()]);
        let needed = census.needed(&BTreeSet::new(), &listed);
        let names: Vec<_> = needed.iter().map(|entry| entry.path.to_string()).collect();
        assert_eq!(names, ["link", "real", "second"]);
        assert_eq!(needed[2].same_as, None, "its first name is not among them");
        let left = census.left(&touched);
        assert_eq!(left[0].kind, None);
        assert!(left.iter().all(|file| file.path != TracePath::default()));
    }
}
