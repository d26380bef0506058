//! The files to check: what git tracks, and what it would if it were added now.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::rust_text::RustText;

pub(crate) struct File {
    /// Its path from the root of the workspace, with `/`.
    pub(crate) path: String,
    /// Its size.
    pub(crate) bytes: u64,
    /// Its text; empty where it is not text.
    pub(crate) text: String,
    /// Its text taken apart, where it is Rust.
    pub(crate) rust: Option<RustText>,
}

impl File {
    fn new(path: &str, content: Vec<u8>) -> Self {
        let bytes = content.len() as u64;
        let text = String::from_utf8(content).unwrap_or_default();
        let rust = path.ends_with(".rs").then(|| RustText::new(&text));
        Self {
            path: path.to_owned(),
            bytes,
            text,
            rust,
        }
    }

    /// The part of the path behind the last slash.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The name up to its first dot.
    pub(crate) fn stem(&self) -> &str {
        self.name().split('.').next().unwrap_or(self.name())
    }

    /// The part of the path before the last slash; empty at the root.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// All files, in the order of their paths.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
}

impl Tree {
    /// Reads the checkout in `root`, committed or not.
    pub(crate) fn of_checkout(root: &Path) -> Result<Self, String> {
        let output = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(root)
            .output()
            .map_err(|error| format!("cannot start git: {error}"))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "cannot list the files of {}: {}",
                root.display(),
                why.trim()
            ));
        }
        let listed = String::from_utf8_lossy(&output.stdout);
        let mut paths: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut files = Vec::new();
        for path in paths {
            let place = root.join(path);
            // A file that is deleted and not yet committed as such is listed; so is a link.
            if !fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let content =
                fs::read(&place).map_err(|error| format!("cannot read {path}: {error}"))?;
            files.push(File::new(path, content));
        }
        Ok(Self { files })
    }

    /// A tree of texts, for tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| File::new(path, text.as_bytes().to_vec()))
            .collect();
        Self { files }
    }

    /// The file of that path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files, each with its text taken apart.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&File, &RustText)> {
        self.files
            .iter()
            .filter_map(|file| Some((file, file.rust.as_ref()?)))
    }
}

/// `folder/path`, with `.` and `..` resolved.
pub(crate) fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checkout_holds_this_file_and_nothing_that_git_ignores() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let tree = Tree::of_checkout(&root).expect("a checkout");
        let this = tree.file("xtask/src/tidy/tree.rs").expect("this file");
        assert_eq!(
            (this.name(), this.stem(), this.folder()),
            ("tree.rs", "tree", "xtask/src/tidy")
        );
        assert!(this.rust.is_some());
        assert!(
            !tree
                .files
                .iter()
                .any(|file| file.path.starts_with("target/"))
        );
    }

    #[test]
    fn a_file_that_is_not_text_has_a_size_and_no_text() {
        let file = File::new("a.bin", vec![0xff, 0xfe, 0x00]);
        assert_eq!((file.bytes, file.text.as_str()), (3, ""));
    }

    #[test]
    fn paths_are_joined_and_their_dots_resolved() {
        assert_eq!(join("a/b", "../c/./d.rs"), "a/c/d.rs");
        assert_eq!(join("", "crates/x/../../tests/main.rs"), "tests/main.rs");
    }
}
