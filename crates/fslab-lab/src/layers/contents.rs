//! The tree of a layer: files of this machine as nodes at their guest paths.

use fslab_sys::os::MetadataExt;
use fslab_sys::os::PermissionsExt;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use fslab_model::{Bytes, Failure};
use sha2::{Digest, Sha256};

use super::places::{guest_path, is_left_out};
use crate::LabError;
use crate::key::sha256_of;
use crate::root::{Elf, FileSource, Node, Tree};

/// Size limit of a layer.
const BYTES_MAX: Bytes = Bytes::gib(4);
/// Mode bit: readable by all users. Files without it are left out, so that a layer does not depend
/// on the user who builds it.
const READ_BY_ALL: u32 = 0o004;
const EXECUTE: u32 = 0o111;

/// The root image below the layers; its files are not stored again.
#[derive(Clone, Debug, Default)]
pub struct BaseRoot {
    /// SHA-256 of each regular file, by its guest path.
    pub files: BTreeMap<PathBuf, String>,
}

impl BaseRoot {
    /// The files that another root image has, too, with the same content: a layer over both images
    /// has all others.
    pub fn common(mut self, other: &Self) -> Self {
        self.files
            .retain(|path, sha256| other.files.get(path) == Some(sha256));
        self
    }
}

/// The nodes of a layer, with stamps that reveal a changed file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    nodes: BTreeMap<PathBuf, Node>,
    /// Stamp of each file: identity, length and times.
    stamps: BTreeMap<PathBuf, String>,
    bytes: u64,
}

impl Contents {
    /// Collects the nodes of `paths`. Missing files, paths that a guest hides, and files that not
    /// all users may read are left out.
    pub(super) fn of(paths: &BTreeSet<PathBuf>) -> Result<Self, LabError> {
        let mut contents = Self::default();
        for path in paths {
            let guest = guest_path(path);
            if is_left_out(&guest) || guest == Path::new("/") {
                continue;
            }
            match path.symlink_metadata() {
                // A package's file that the user removed or that was never unpacked.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                found => {
                    let found = found.map_err(LabError::io("look at", path))?;
                    contents.take(path, guest, &found)?;
                }
            }
        }
        contents.join_linked_folders();
        Ok(contents)
    }

    fn take(&mut self, path: &Path, guest: PathBuf, found: &Metadata) -> Result<(), LabError> {
        if found.is_symlink() {
            let target = std::fs::read_link(path).map_err(LabError::io("read", path))?;
            // Links such as /lib are part of every root image; no other path lies below them.
            self.nodes.insert(guest, Node::Link { target });
        } else if found.is_dir() {
            self.nodes.insert(guest, Node::folder(0o755));
        } else if found.is_file() && found.permissions().mode() & READ_BY_ALL != 0 {
            self.add_file(path, guest, found);
        }
        Ok(())
    }

    /// Adds the file `path` of this machine, with its metadata `found`.
    pub(super) fn add_file(&mut self, path: &Path, guest: PathBuf, found: &Metadata) {
        let is_program = found.permissions().mode() & EXECUTE != 0;
        let mode = if is_program { 0o755 } else { 0o644 };
        self.bytes += found.len();
        self.stamps.insert(guest.clone(), stamp(path, found));
        let source = FileSource::Host(path.to_owned());
        self.nodes.insert(guest, Node::File { source, mode });
    }

    /// Adds a file with the contents `bytes`.
    pub(super) fn add_bytes(&mut self, guest: PathBuf, bytes: Vec<u8>) {
        let digest = fslab_model::sha256(&bytes);
        self.bytes += bytes.len() as u64;
        self.stamps.insert(guest.clone(), digest);
        let source = FileSource::Bytes(bytes);
        let mode = 0o644;
        self.nodes.insert(guest, Node::File { source, mode });
    }

    /// Moves nodes below a path that another package made a symbolic link to the link's target.
    fn join_linked_folders(&mut self) {
        let links: Vec<_> = self
            .nodes
            .iter()
            .filter_map(|(path, node)| match node {
                Node::Link { target } => Some((path.clone(), target.clone())),
                _ => None,
            })
            .collect();
        for (link, target) in links {
            let below: Vec<_> = self
                .nodes
                .range(link.join("")..)
                .map(|(path, _)| path.clone())
                .skip_while(|path| *path == link)
                .take_while(|path| path.starts_with(&link))
                .collect();
            let folder = link.parent().unwrap_or(Path::new("/")).join(&target);
            for path in below {
                let node = self.nodes.remove(&path).expect("it was listed");
                let stamp = self.stamps.remove(&path);
                let rest = path.strip_prefix(&link).expect("it lies below");
                let true_path = guest_path(&folder.join(rest));
                if let Some(stamp) = stamp {
                    self.stamps.entry(true_path.clone()).or_insert(stamp);
                }
                self.nodes.entry(true_path).or_insert(node);
            }
        }
    }

    /// Removes what the root image has already.
    ///
    /// # Errors
    /// Unsupported if the root image has another version of a program or library at the
    /// same path. Other files may differ; the root image's version is used.
    pub(super) fn without(mut self, layer: &str, base: &BaseRoot) -> Result<Self, LabError> {
        let in_both: Vec<_> = self
            .nodes
            .keys()
            .filter(|path| base.files.contains_key(*path))
            .cloned()
            .collect();
        for path in in_both {
            let Some(host) = self.host_of(&path) else {
                continue;
            };
            let digest = sha256_of(&host).map_err(LabError::io("read", &host))?;
            let differs = digest != base.files[&path];
            if differs && Elf::read(&host)?.is_some() {
                let text = format!(
                    "{} of the layer '{layer}' differs from the one in the lab's root: it was \
                     updated since the lab was built",
                    path.display()
                );
                let hint = "build a lab of this machine's programs with fslab lab build --new-root";
                return Err(Failure::unsupported(text).hint(hint).into());
            }
            self.stamps.remove(&path);
            if let Some(Node::File { .. }) = self.nodes.remove(&path) {
                let length = host.metadata().map_or(0, |found| found.len());
                self.bytes = self.bytes.saturating_sub(length);
            }
        }
        Ok(self)
    }

    /// The file of this machine behind the layer's `path`; `None` if it is no file.
    fn host_of(&self, path: &Path) -> Option<PathBuf> {
        let host = match self.nodes.get(path)? {
            Node::File {
                source: FileSource::Host(host),
                ..
            } => host.clone(),
            // Libraries are in the root image under the names that programs request.
            Node::Link { .. } => path.to_owned(),
            _ => return None,
        };
        host.canonicalize().ok().filter(|host| host.is_file())
    }

    pub(super) fn ensure_size(&self, layer: &str) -> Result<(), LabError> {
        if self.bytes <= BYTES_MAX.0 {
            return Ok(());
        }
        let bytes = Bytes(self.bytes);
        let text = format!("the layer '{layer}' would hold {bytes}, more than {BYTES_MAX}");
        let failure = Failure::bad_input(text);
        Err(failure.hint("name fewer programs or smaller files").into())
    }

    pub(super) fn bytes(&self) -> Bytes {
        Bytes(self.bytes)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Guest paths of the files and links.
    pub(super) fn names(&self) -> impl Iterator<Item = &Path> {
        let nodes = self.nodes.iter();
        let nodes = nodes.filter(|(_, node)| !matches!(node, Node::Folder { .. }));
        nodes.map(|(path, _)| path.as_path())
    }

    /// Digest of everything that determines the image, without reading the files.
    pub(super) fn key(&self) -> String {
        let mut digest = Sha256::new();
        for (path, node) in &self.nodes {
            let shown = match node {
                Node::Link { target } => format!("link {}", target.display()),
                Node::File { mode, .. } => format!("file {mode:o}"),
                _ => "folder".to_owned(),
            };
            let stamp = self.stamps.get(path).map_or("", String::as_str);
            digest.update(format!("{}\0{shown}\0{stamp}\n", path.display()));
        }
        fslab_model::hexadecimal(&digest.finalize())
    }

    pub(super) fn tree(&self) -> Result<Tree, LabError> {
        let mut tree = Tree::new();
        for (path, node) in &self.nodes {
            tree.add(path, node.clone())?;
        }
        Ok(tree)
    }
}

/// Changes whenever the file changes: the kernel sets ctime, and no program can.
fn stamp(path: &Path, found: &Metadata) -> String {
    format!(
        "{} {} {} {} {}.{} {}.{}",
        path.display(),
        found.dev(),
        found.ino(),
        found.len(),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec()
    )
}

#[cfg(test)]
mod tests {
    use fslab_sys::os::symlink;

    use super::*;
    use crate::layers::samples::visible_folder;

    fn set(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
        paths.iter().cloned().collect()
    }

    #[test]
    fn files_readable_by_the_owner_alone_are_left_out_and_modes_are_two() {
        let folder = visible_folder();
        let at = |name: &str| folder.path().join(name);
        for (name, mode) in [("plain", 0o664), ("secret", 0o640), ("suid", 0o4755)] {
            std::fs::write(at(name), name).expect("written");
            std::fs::set_permissions(at(name), PermissionsExt::from_mode(mode)).expect("set");
        }
        let paths = set(&[at("plain"), at("secret"), at("suid"), at("gone")]);
        let contents = Contents::of(&paths).expect("taken");
        let tree = contents.tree().expect("a tree");
        let mode = |name: &str| match tree.get(&guest_path(&at(name))) {
            Some(Node::File { mode, .. }) => Some(*mode),
            _ => None,
        };
        assert_eq!(
            [mode("plain"), mode("secret"), mode("suid"), mode("gone")],
            [Some(0o644), None, Some(0o755), None]
        );
    }

    /// A layer over two root images must have what one of them lacks.
    #[test]
    fn files_common_to_two_root_images_have_one_content() {
        let base = |files: &[(&str, &str)]| BaseRoot {
            files: files
                .iter()
                .map(|(path, sha256)| (path.into(), (*sha256).to_owned()))
                .collect(),
        };
        let one = base(&[("/bin/a", "1"), ("/bin/b", "1"), ("/bin/c", "1")]);
        let other = base(&[("/bin/a", "1"), ("/bin/b", "2"), ("/bin/d", "1")]);
        assert_eq!(one.common(&other).files, base(&[("/bin/a", "1")]).files);
    }

    #[test]
    fn a_file_below_a_link_moves_to_the_target_of_the_link() {
        let folder = visible_folder();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("true")).expect("made");
        std::fs::write(at("true/x"), "x").expect("written");
        symlink("true", at("link")).expect("linked");
        let contents = Contents::of(&set(&[at("link"), at("link/x")])).expect("taken");
        let tree = contents.tree().expect("a tree");
        assert!(tree.get(&guest_path(&at("true/x"))).is_some());
    }

    #[test]
    fn a_program_of_another_version_is_refused_and_a_text_of_the_root_is_used() {
        let running = Path::new("/bin/sh").canonicalize().expect("a shell");
        let folder = visible_folder();
        let text = folder.path().join("text");
        std::fs::write(&text, "ours").expect("written");
        let paths = set(&[running.clone(), text.clone()]);
        let over = |path: &Path, digest: String| {
            let files = BTreeMap::from([(guest_path(path), digest)]);
            let contents = Contents::of(&paths).expect("taken");
            contents.without("l", &BaseRoot { files })
        };
        let other = "0".repeat(64);
        let same = over(&running, sha256_of(&running).expect("read")).expect("the same");
        assert_eq!(same.names().count(), 1);
        let kept = over(&text, other.clone()).expect("a text");
        assert_eq!(kept.names().count(), 1);
        let refused = over(&running, other).expect_err("another program");
        assert!(
            refused.to_string().contains("differs from the one"),
            "{refused}"
        );
    }

    #[test]
    fn a_key_changes_with_the_file_and_with_nothing_else() {
        let folder = visible_folder();
        let path = folder.path().join("x");
        let key = || {
            Contents::of(&set(std::slice::from_ref(&path)))
                .expect("taken")
                .key()
        };
        std::fs::write(&path, "one").expect("written");
        let first = key();
        assert_eq!(first, key());
        std::fs::write(&path, "other").expect("written");
        assert_ne!(first, key());
    }
}
