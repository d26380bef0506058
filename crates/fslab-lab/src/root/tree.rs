//! The tree of an image: folders, files, links and devices by their path in the guest.
//!
//! Says what is in it, and nothing of where it lies. A name comes once, and the order is that of
//! the names' bytes, in whatever order they were added.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::LabError;

/// Mode of a folder that was added because something lies below it.
const FOLDER_MODE: u16 = 0o755;

/// The longest name of a file.
const NAME_MAX: usize = 255;

/// The longest target of a link.
const TARGET_MAX: usize = 4095;

/// Where the content of a file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSource {
    /// A regular file of this machine, or a link to one.
    Host(PathBuf),
    /// These bytes.
    Bytes(Vec<u8>),
    /// So many bytes that lie behind the image's end, and are appended where it is used.
    Appended(u32),
}

/// What a name leads to. Modes are the permission bits alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A folder.
    Folder {
        /// Such as `0o755`.
        mode: u16,
        /// By name.
        nodes: BTreeMap<OsString, Node>,
    },
    /// A regular file.
    File {
        /// Its content.
        source: FileSource,
        /// Such as `0o644`.
        mode: u16,
    },
    /// A symbolic link.
    Link {
        /// What it leads to.
        target: PathBuf,
    },
    /// A character device.
    Device {
        /// Such as `0o600`.
        mode: u16,
        /// The driver's number.
        major: u8,
        /// The device's number.
        minor: u8,
    },
}

/// A tree of files. All belong to root.
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
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `node` at `path`, which is absolute, and the folders above it. Nothing is replaced:
    /// what is there already must be the same, and a folder that is there gets the mode.
    ///
    /// # Errors
    /// [`LabError::BadTree`] where the path is none of a file, something else is there, or what
    /// lies above it is no folder.
    pub fn add(&mut self, path: &Path, node: Node) -> Result<(), LabError> {
        let names = names(path)?;
        if let Node::Link { target } = &node {
            let length = target.as_os_str().len();
            if length == 0 || length > TARGET_MAX {
                return Err(bad(path, "the target of a link has 1 to 4095 bytes"));
            }
        }
        let Some((last, above)) = names.split_last() else {
            return Err(bad(path, "it is the root"));
        };
        let mut nodes = self.top_nodes();
        for name in above {
            let below = nodes.entry((*name).to_owned()).or_insert_with(folder);
            nodes = match below {
                Node::Folder { nodes, .. } => nodes,
                _ => return Err(bad(path, "what lies above it is no folder")),
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
                    return Err(bad(path, "another folder is there already"));
                }
                *mode = wanted;
            }
            (Some(there), node) if *there == node => {}
            (Some(_), _) => return Err(bad(path, "something else is there already")),
        }
        Ok(())
    }

    /// What is at `path`; no link is followed.
    #[must_use]
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

    /// Every path with what is there, a folder before what is in it, without the root.
    #[must_use]
    pub fn entries(&self) -> Vec<(PathBuf, &Node)> {
        let mut found = Vec::new();
        collect(Path::new("/"), &self.top, &mut found);
        found
    }

    fn top_nodes(&mut self) -> &mut BTreeMap<OsString, Node> {
        match &mut self.top {
            Node::Folder { nodes, .. } => nodes,
            _ => unreachable!("the root of a tree is a folder"),
        }
    }
}

impl Node {
    /// An empty folder.
    #[must_use]
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

/// The names on the way to `path`.
fn names(path: &Path) -> Result<Vec<&OsStr>, LabError> {
    let mut names = Vec::new();
    let mut parts = path.components();
    if parts.next() != Some(Component::RootDir) {
        return Err(bad(path, "it does not begin at the root"));
    }
    for part in parts {
        let Component::Normal(name) = part else {
            return Err(bad(path, "it leads upwards"));
        };
        if name.len() > NAME_MAX || name.as_bytes().contains(&0) {
            return Err(bad(path, "a name has at most 255 bytes, and none is zero"));
        }
        names.push(name);
    }
    Ok(names)
}

fn bad(path: &Path, reason: &'static str) -> LabError {
    LabError::BadTree {
        path: path.to_owned(),
        reason,
    }
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
    fn what_is_added_brings_the_folders_above_it_and_is_found() {
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
    fn nothing_is_replaced_and_no_path_leads_elsewhere() {
        let mut tree = Tree::new();
        tree.add(Path::new("/a/b"), text("x")).expect("added");
        tree.add(Path::new("/a/b"), text("x")).expect("the same");
        for path in ["/a/b", "/a", "/a/b/c", "/", "a", "/a/../c"] {
            let refused = tree.add(Path::new(path), text("y"));
            assert!(matches!(refused, Err(LabError::BadTree { .. })), "{path}");
        }
        let long = "n".repeat(256);
        assert!(tree.add(&Path::new("/").join(long), text("")).is_err());
    }
}
