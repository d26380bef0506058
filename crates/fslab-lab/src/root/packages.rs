//! Owning Debian packages of files and their versions; empty on other systems.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROGRAM: &str = "/usr/bin/dpkg-query";

/// The owners of some files.
#[derive(Debug, Default)]
pub(super) struct Packages {
    owners: BTreeMap<PathBuf, BTreeSet<String>>,
    versions: BTreeMap<String, String>,
}

impl Packages {
    /// Queries the owners of `files`.
    pub(super) fn owning(files: &[&Path]) -> Self {
        let mut found = Self::default();
        let asked: Vec<_> = files.iter().flat_map(|file| both_names(file)).collect();
        // dpkg-query fails if one file has no owner, and prints the others.
        for line in ask(["--search"]
            .iter()
            .map(Path::new)
            .chain(asked.iter().map(PathBuf::as_path)))
        {
            let Some((packages, file)) = line.split_once(": ") else {
                continue;
            };
            let names = packages.split(", ").map(without_architecture);
            let owners = found.owners.entry(file.into()).or_default();
            owners.extend(names.map(str::to_owned));
        }
        let owners: BTreeSet<_> = found.owners.values().flatten().collect();
        let format = ["--show", "--showformat=${Package} ${Version}\\n"];
        let words = format
            .iter()
            .map(Path::new)
            .chain(owners.iter().map(Path::new));
        for line in ask(words) {
            if let Some((package, version)) = line.split_once(' ') {
                let version = version.to_owned();
                found.versions.insert(package.to_owned(), version);
            }
        }
        found
    }

    /// The version of `package`, if it owns `file`.
    pub(super) fn version(&self, package: &str, file: &Path) -> Option<String> {
        let names = both_names(file);
        let mut owners = names
            .iter()
            .filter_map(|name| self.owners.get(name))
            .flatten();
        owners.find(|owner| *owner == package)?;
        self.versions.get(package).cloned()
    }
}

/// A path in `/usr`, and its name from before /usr was merged.
fn both_names(file: &Path) -> Vec<PathBuf> {
    let mut names = vec![file.to_owned()];
    if let Ok(below) = file.strip_prefix("/usr") {
        names.push(Path::new("/").join(below));
    }
    names
}

fn without_architecture(package: &str) -> &str {
    package.split_once(':').map_or(package, |(name, _)| name)
}

fn ask<'a>(words: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let output = Command::new(PROGRAM)
        .args(words.map(Path::as_os_str))
        .env_clear()
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::null())
        .output();
    let printed = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&printed)
        .lines()
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_version_of_its_own_package_alone() {
        let file = Path::new(PROGRAM);
        if !file.exists() {
            eprintln!("not asked: this machine has no dpkg-query");
            return;
        }
        let packages = Packages::owning(&[file, Path::new("/no/such/file")]);
        let version = packages
            .version("dpkg", file)
            .expect("its package is known");
        assert!(version.starts_with("1."), "{version}");
        assert_eq!(packages.version("coreutils", file), None);
        assert_eq!(packages.version("dpkg", Path::new("/no/such/file")), None);
    }
}
