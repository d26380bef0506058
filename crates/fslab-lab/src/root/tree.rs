//! The tree of an image: directories, files, links and devices by guest path.
//!
//! Holds contents, not positions in an image. Names are unique and sorted by bytes, independent of
//! the order of insertion.

use fslab_sys::os::OsStrExt;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use crate::LabError;

/// Mode of directories that are added as parents.
const FOLDER_MODE: u16 = 0o755;

/// Longest file name.
const NAME_MAX: usize = 255;

/// Longest target of a link.
const TARGET_MAX: usize = 4095;

/// Source of a file's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSource {
    /// A regular file of this machine, or a link to one.
    Host(PathBuf),
    Bytes(Vec<u8>),
    /// This many bytes behind the image's end, appended when the image is used.
    Appended(u32),
}

/// A file, directory, link or device. Modes are permission bits alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A directory.
    Folder {
        /// Permissions, such as `0o755`.
        mode: u16,
        /// Its entries by name.
        nodes: BTreeMap<OsString, Node>,
    },
    /// A regular file.
    File {
        /// Its contents.
        source: FileSource,
        /// Permissions, such as `0o644`.
        mode: u16,
    },
    /// A symbolic link.
    Link { target: PathBuf },
    /// A character device.
    Device {
        /// Permissions, such as `0o600`.
        mode: u16,
        /// Major number.
        major: u8,
        /// Minor number.
        minor: u8,
    },
}

/// A tree of files. All are owned by root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    pub(super) top: Node,
}

impl Default for Tree {
    fn default() -> Self {
        Self { top: folder() }
    }
}

impl Tree {
    /// An empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `node` at the absolute `path`, with its parent directories. Nothing is replaced: an
    /// existing node must be equal; an existing directory gets the new mode.
    ///
    /// # Errors
    /// Bad input if the path is invalid, another node is there, or a parent is no
    /// directory.
    pub fn add(&mut self, path: &Path, node: Node) -> Result<(), LabError> {
        let names = names(path)?;
        if let Node::Link { target } = &node {
            let length = target.as_os_str().len();
            if length == 0 || length > TARGET_MAX {
                return Err(LabError::bad_tree(
                    path,
                    "the target of a link has 1 to 4095 bytes",
                ));
            }
        }
        let Some((last, above)) = names.split_last() else {
            return Err(LabError::bad_tree(path, "it is the root"));
        };
        let mut nodes = self.top_nodes();
        for name in above {
            let below = nodes.entry((*name).to_owned()).or_insert_with(folder);
            nodes = match below {
                Node::Folder { nodes, .. } => nodes,
                _ => return Err(LabError::bad_tree(path, "its parent is not a directory")),
            };
        }
        match (nodes.get_mut(*last), node) {
            (None, node) => {
                nodes.insert((*last).to_owned(), node);
            }
            (
                Some(Node::Folder { mode, .. }),
                Node::Folder {
                    mode: wanted,
                    nodes,
                },
            ) => {
                if !nodes.is_empty() {
                    return Err(LabError::bad_tree(
                        path,
                        "another directory is there already",
                    ));
                }
                *mode = wanted;
            }
            (Some(there), node) if *there == node => {}
            (Some(_), _) => {
                return Err(LabError::bad_tree(path, "something else is there already"));
            }
        }
        Ok(())
    }

    /// The node at `path`, without following links.
    pub fn get(&self, path: &Path) -> Option<&Node> {
        let mut node = &self.top;
        for name in names(path).ok()? {
            let Node::Folder { nodes, .. } = node else {
                return None;
            };
            node = nodes.get(name)?;
        }
        Some(node)
    }

    /// All paths with their nodes, parents first, without the root.
    pub fn entries(&self) -> Vec<(PathBuf, &Node)> {
        let mut found = Vec::new();
        collect(Path::new("/"), &self.top, &mut found);
        found
    }

    fn top_nodes(&mut self) -> &mut BTreeMap<OsString, Node> {
        match &mut self.top {
            Node::Folder { nodes, .. } => nodes,
            _ => unreachable!("the root of a tree is a directory"),
        }
    }
}

impl Node {
    /// An empty directory.
    pub fn folder(mode: u16) -> Self {
        Self::Folder {
            mode,
            nodes: BTreeMap::new(),
        }
    }
}

fn folder() -> Node {
    Node::folder(FOLDER_MODE)
}

fn collect<'a>(above: &Path, node: &'a Node, found: &mut Vec<(PathBuf, &'a Node)>) {
    let Node::Folder { nodes, .. } = node else {
        return;
    };
    for (name, node) in nodes {
        let path = above.join(name);
        found.push((path.clone(), node));
        collect(&path, node, found);
    }
}

/// The components of `path`.
fn names(path: &Path) -> Result<Vec<&OsStr>, LabError> {
    let mut names = Vec::new();
    let mut parts = path.components();
    if parts.next() != Some(Component::RootDir) {
        return Err(LabError::bad_tree(path, "it does not begin at the root"));
    }
    for part in parts {
        let Component::Normal(name) = part else {
            return Err(LabError::bad_tree(path, "it contains '..'"));
        };
        if name.len() > NAME_MAX || name.as_bytes().contains(&0) {
            return Err(LabError::bad_tree(
                path,
                "a name has at most 255 bytes, and none is zero",
            ));
        }
        names.push(name);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content: &str) -> Node {
        Node::File {
            source: FileSource::Bytes(content.into()),
            mode: 0o644,
        }
    }

    #[test]
    fn an_added_node_gets_parent_folders_and_is_found() {
        let mut tree = Tree::new();
        tree.add(Path::new("/a/b/c"), text("x")).expect("added");
        tree.add(Path::new("/a"), Node::folder(0o700))
            .expect("a mode");
        assert_eq!(tree.get(Path::new("/a/b/c")), Some(&text("x")));
        assert!(matches!(
            tree.get(Path::new("/a")),
            Some(Node::Folder { mode: 0o700, .. })
        ));
        assert_eq!(tree.get(Path::new("/a/c")), None);
        let paths: Vec<_> = tree.entries().into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["/a", "/a/b", "/a/b/c"].map(PathBuf::from));
    }

    #[test]
    fn nothing_is_replaced_and_no_path_leaves_the_tree() {
        let mut tree = Tree::new();
        tree.add(Path::new("/a/b"), text("x")).expect("added");
        tree.add(Path::new("/a/b"), text("x")).expect("the same");
        for path in ["/a/b", "/a", "/a/b/c", "/", "a", "/a/../c"] {
            assert!(tree.add(Path::new(path), text("y")).is_err(), "{path}");
        }
        let long = "n".repeat(256);
        assert!(tree.add(&Path::new("/").join(long), text("")).is_err());
    }
}
