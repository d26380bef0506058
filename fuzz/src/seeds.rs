//! The inputs from which a search begins: committed files of the workspace, and what was found.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Target;

/// Where the inputs of `target` are kept, in the workspace at `root`.
pub fn corpus_of(root: &Path, target: &Target) -> PathBuf {
    root.join("fuzz/corpus").join(target.name)
}

/// The files of all inputs of `target`, in the order of their paths.
///
/// # Panics
/// Where a directory of the workspace cannot be read.
pub fn seeds_of(root: &Path, target: &Target) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = target
        .seeds
        .iter()
        .flat_map(|pattern| matching(root, pattern))
        .collect();
    let corpus = corpus_of(root, target);
    if corpus.is_dir() {
        paths.extend(entries(&corpus));
    }
    paths.retain(|path| path.is_file());
    paths.sort();
    paths
}

fn matching(root: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    for part in pattern.split('/') {
        found = found
            .iter()
            .flat_map(|folder| match part.split_once('*') {
                None => vec![folder.join(part)],
                Some((before, behind)) => entries(folder)
                    .into_iter()
                    .filter(|path| {
                        let name = path.file_name().unwrap_or_default().to_string_lossy();
                        name.starts_with(before) && name.ends_with(behind)
                    })
                    .collect(),
            })
            .collect();
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).expect("a committed directory is readable");
    listed.flatten().map(|entry| entry.path()).collect()
}
