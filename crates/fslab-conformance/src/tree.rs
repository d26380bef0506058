//! The expected tree: the kind of each name and the content of each file.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};

use super::content::Content;

/// Identifies a file, which may have several names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId(usize);

/// The kind of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Directory,
    File(FileId),
    Symlink(PathBuf),
}

/// Owner and group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// Metadata that was set on a name; metadata that was not set is not compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExpectedMetadata {
    pub(crate) mode: Option<u32>,
    pub(crate) owner: Option<Owner>,
    /// Modification time in seconds since 1970.
    pub(crate) modified_s: Option<u64>,
    pub(crate) attributes: BTreeMap<CString, Vec<u8>>,
}

/// The expected state of a file.
#[derive(Clone, Debug)]
pub(crate) struct FileModel {
    pub(crate) content: Content,
    pub(crate) metadata: ExpectedMetadata,
}

/// The expected tree. Paths are relative to its base, which is not included.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
    files: Vec<FileModel>,
    /// Metadata of directories.
    directories: BTreeMap<PathBuf, ExpectedMetadata>,
}

impl Tree {
    pub(crate) fn nodes(&self) -> &BTreeMap<PathBuf, Node> {
        &self.nodes
    }

    pub(crate) fn file(&self, id: FileId) -> &FileModel {
        &self.files[id.0]
    }

    pub(crate) fn content_mut(&mut self, id: FileId) -> &mut Content {
        &mut self.files[id.0].content
    }

    /// The file of that name.
    pub(crate) fn file_at(&self, path: &Path) -> FileId {
        match self.nodes.get(path) {
            Some(Node::File(id)) => *id,
            other => panic!("the suite takes {} for a file: {other:?}", path.display()),
        }
    }

    /// The number of names of a file.
    pub(crate) fn names_of(&self, id: FileId) -> u64 {
        let of_it = |node: &&Node| **node == Node::File(id);
        self.nodes.values().filter(of_it).count() as u64
    }

    /// The metadata of a name; symbolic links have none.
    pub(crate) fn metadata(&self, path: &Path) -> Option<&ExpectedMetadata> {
        match self.nodes.get(path)? {
            Node::Directory => self.directories.get(path),
            Node::File(id) => Some(&self.files[id.0].metadata),
            Node::Symlink(_) => None,
        }
    }

    pub(crate) fn metadata_mut(&mut self, path: &Path) -> &mut ExpectedMetadata {
        match self.nodes.get(path) {
            Some(Node::File(id)) => &mut self.files[id.0].metadata,
            Some(Node::Directory) => self.directories.entry(path.to_owned()).or_default(),
            other => panic!("the suite sets metadata of {}: {other:?}", path.display()),
        }
    }

    pub(crate) fn add_directory(&mut self, path: &Path) {
        self.add(path, Node::Directory);
    }

    /// Adds an empty file, whose data will follow from `seed` and its number.
    pub(crate) fn add_file(&mut self, path: &Path, seed: u64) -> FileId {
        let id = FileId(self.files.len());
        let key = fslab_stats::mix(seed, self.files.len() as u64);
        self.files.push(FileModel {
            content: Content::new(key),
            metadata: ExpectedMetadata::default(),
        });
        self.add(path, Node::File(id));
        id
    }

    pub(crate) fn add_symlink(&mut self, path: &Path, target: &Path) {
        self.add(path, Node::Symlink(target.to_owned()));
    }

    pub(crate) fn add_link(&mut self, path: &Path, new: &Path) {
        let id = self.file_at(path);
        self.add(new, Node::File(id));
    }

    pub(crate) fn remove(&mut self, path: &Path) {
        let removed = self.nodes.remove(path);
        assert!(removed.is_some(), "the suite removes {}", path.display());
        self.directories.remove(path);
    }

    /// Renames a name and all below it; an existing file is replaced.
    pub(crate) fn rename(&mut self, from: &Path, to: &Path) {
        let moved = |path: &Path| {
            let below = path.strip_prefix(from).ok()?;
            let bare = below.as_os_str().is_empty();
            Some(if bare { to.to_owned() } else { to.join(below) })
        };
        let nodes = std::mem::take(&mut self.nodes);
        let (going, staying): (BTreeMap<_, _>, BTreeMap<_, _>) = nodes
            .into_iter()
            .partition(|(path, _)| path.starts_with(from));
        assert!(!going.is_empty(), "the suite renames {}", from.display());
        self.nodes = staying;
        let renamed = |path: PathBuf| moved(&path).unwrap_or(path);
        self.nodes
            .extend(going.into_iter().map(|(path, node)| (renamed(path), node)));
        self.directories = std::mem::take(&mut self.directories)
            .into_iter()
            .map(|(path, metadata)| (renamed(path), metadata))
            .collect();
    }

    fn add(&mut self, path: &Path, node: Node) {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let has_place = above.is_none_or(|above| self.nodes.get(above) == Some(&Node::Directory));
        assert!(has_place, "{} is in no directory", path.display());
        let before = self.nodes.insert(path.to_owned(), node);
        assert!(before.is_none(), "{} is there already", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_directory_keeps_its_entries_and_metadata() {
        let mut tree = Tree::default();
        for directory in ["a", "a/b", "ab"] {
            tree.add_directory(Path::new(directory));
        }
        let id = tree.add_file(Path::new("a/b/f"), 1);
        tree.add_link(Path::new("a/b/f"), Path::new("ab/g"));
        tree.metadata_mut(Path::new("a/b")).mode = Some(0o700);
        tree.rename(Path::new("a/b"), Path::new("c"));
        let names: Vec<_> = tree.nodes().keys().map(|path| path.display()).collect();
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a", "ab", "ab/g", "c", "c/f"]);
        assert_eq!(tree.file_at(Path::new("c/f")), id);
        assert_eq!(tree.names_of(id), 2);
        let metadata = tree.metadata(Path::new("c")).expect("marked");
        assert_eq!(metadata.mode, Some(0o700));
    }

    #[test]
    fn a_rename_over_a_file_replaces_it() {
        let mut tree = Tree::default();
        let first = tree.add_file(Path::new("a"), 1);
        let second = tree.add_file(Path::new("b"), 1);
        tree.rename(Path::new("a"), Path::new("b"));
        assert_eq!(tree.nodes().len(), 1);
        assert_eq!(tree.file_at(Path::new("b")), first);
        assert_eq!(tree.names_of(second), 0);
    }
}
