//! Queries Debian's package database: owner of a file, dependencies and files of a package.

use fslab_sys::os::OsStrExt;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fslab_model::Failure;

use crate::LabError;

/// Output format; no field contains the separator.
const FIELDS: &str = "${Package}\t${Architecture}\t${db:Status-Status}\t${Version}\t${Provides}\t\
                      ${Pre-Depends}, ${Depends}\n";
/// Packages that are only needed to install and configure others. Their dependencies would add most
/// of a system.
const OF_INSTALLATION: [&str; 5] = [
    "debconf",
    "debconf-2.0",
    "dpkg",
    "init-system-helpers",
    "lsb-base",
];
/// The package that compilers need in order to link programs, but only recommend.
const OF_COMPILERS: &str = "libc6-dev";
const COMPILERS: [&str; 6] = ["c++", "c89", "c99", "cc", "g++", "gcc"];

/// The installed packages.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    /// By name; by `name:architecture` for a second package of that name.
    all: BTreeMap<String, Package>,
    /// Packages that provide a virtual package, by its name.
    providers: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Clone, Debug)]
struct Package {
    architecture: String,
    version: String,
    /// Each dependency is a list of alternatives.
    depends: Vec<Vec<String>>,
}

impl Packages {
    /// The packages of this machine; none on systems without dpkg.
    pub(crate) fn read() -> Result<Self, LabError> {
        match query(&["--show", "--showformat", FIELDS], &[])? {
            None => Ok(Self::default()),
            Some(output) => Ok(Self::parse(&String::from_utf8_lossy(&output.stdout))),
        }
    }

    fn parse(text: &str) -> Self {
        let mut packages = Self::default();
        for line in text.lines() {
            let fields: Vec<_> = line.split('\t').collect();
            let [name, architecture, "installed", version, provides, depends] = fields[..] else {
                continue;
            };
            let package = Package {
                architecture: architecture.to_owned(),
                version: version.to_owned(),
                depends: groups(depends),
            };
            let key = match packages.all.contains_key(name) {
                true => format!("{name}:{architecture}"),
                false => name.to_owned(),
            };
            for provided in groups(provides).into_iter().flatten() {
                let providers = packages.providers.entry(provided).or_default();
                providers.insert(key.clone());
            }
            packages.all.insert(key, package);
        }
        packages
    }

    /// The owning package of each of `paths` that has one.
    pub(crate) fn owners(
        &self,
        paths: &BTreeSet<PathBuf>,
    ) -> Result<BTreeMap<PathBuf, String>, LabError> {
        let mut owners = BTreeMap::new();
        if self.all.is_empty() || paths.is_empty() {
            return Ok(owners);
        }
        // A path may be registered under its name from before /usr was merged.
        let asked = paths.iter().flat_map(|path| other_names(path));
        let words: Vec<_> = asked.map(|path| pattern(&path)).collect();
        // dpkg-query exits with status 1 if some paths belong to no package.
        let Some(output) = query(&["--search", "--"], &words)? else {
            return Ok(owners);
        };
        for line in output.stdout.split(|byte| *byte == b'\n') {
            let Some((names, path)) = split_owner(line) else {
                continue;
            };
            let name = names.split(',').next().unwrap_or_default().trim();
            let Some(key) = self.key(name) else { continue };
            for asked in paths {
                if other_names(asked).contains(&path) {
                    owners.insert(asked.clone(), key.clone());
                }
            }
        }
        Ok(owners)
    }

    /// The key of an installed package `name`, such as `gcc` or `libc6:amd64`.
    fn key(&self, name: &str) -> Option<String> {
        if self.all.contains_key(name) {
            return Some(name.to_owned());
        }
        let (plain, architecture) = name.split_once(':')?;
        let found = self.all.get(plain)?;
        let is_right = found.architecture == architecture || architecture == "any";
        is_right.then(|| plain.to_owned())
    }

    /// The version of the installed package `name`.
    pub(crate) fn version(&self, name: &str) -> Option<&str> {
        self.all.get(name).map(|package| package.version.as_str())
    }

    /// The packages of `first` and all that they depend on, with versions.
    pub(crate) fn closure(&self, first: &BTreeSet<String>) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut open: Vec<_> = first.iter().cloned().collect();
        while let Some(name) = open.pop() {
            let Some(package) = self.all.get(&name) else {
                continue;
            };
            if found.contains_key(&name) {
                continue;
            }
            found.insert(name, package.version.clone());
            let needed = package
                .depends
                .iter()
                .filter_map(|group| self.choice(group));
            open.extend(needed.filter(|name| !OF_INSTALLATION.contains(&name.as_str())));
        }
        found
    }

    /// The installed alternative: a package of that name, else the first that provides it.
    fn choice(&self, alternatives: &[String]) -> Option<String> {
        let installed = alternatives.iter().find_map(|name| self.key(name));
        installed.or_else(|| {
            let mut providers = alternatives.iter().filter_map(|it| self.providers.get(it));
            providers.find_map(|providers| providers.first().cloned())
        })
    }

    /// The package that the program `name` needs although its own package does not depend on it.
    pub(crate) fn undeclared_dependency(&self, name: &str) -> Option<String> {
        let is_compiler = COMPILERS.contains(&name);
        is_compiler.then(|| self.key(OF_COMPILERS)).flatten()
    }

    /// The paths of the packages `names`, directories included, as registered.
    pub(crate) fn files<'a>(
        &self,
        names: impl Iterator<Item = &'a String>,
    ) -> Result<BTreeSet<PathBuf>, LabError> {
        let names: Vec<_> = names.map(|name| name.clone().into()).collect();
        if names.is_empty() {
            return Ok(BTreeSet::new());
        }
        let output = query(&["--listfiles", "--"], &names)?;
        let text = output.map(|output| output.stdout).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n');
        // Other lines are notes on diversions.
        let paths = lines.filter(|line| line.first() == Some(&b'/') && *line != b"/.");
        Ok(paths.map(|line| OsStr::from_bytes(line).into()).collect())
    }
}

/// Parses `a (>= 1) | b:any, c` into lists of alternatives.
fn groups(text: &str) -> Vec<Vec<String>> {
    let group = |group: &str| {
        let names = group.split('|').map(|one| {
            let name = one.split(['(', '[', '<']).next().unwrap_or_default();
            name.trim().trim_end_matches(":any").to_owned()
        });
        names.filter(|name| !name.is_empty()).collect::<Vec<_>>()
    };
    let groups = text.split(',').map(group);
    groups.filter(|group| !group.is_empty()).collect()
}

/// Splits `libc6:amd64: /lib/x` or `a, b: /usr/share/doc` into names and path.
fn split_owner(line: &[u8]) -> Option<(String, PathBuf)> {
    let at = line.windows(3).position(|window| window == b": /")?;
    let names = String::from_utf8_lossy(&line[..at]).into_owned();
    let is_note = names.starts_with("diversion ");
    (!is_note).then(|| (names, OsStr::from_bytes(&line[at + 2..]).into()))
}

/// The names of a path with and without /usr: packages may have registered either.
fn other_names(path: &Path) -> Vec<PathBuf> {
    let without = path
        .strip_prefix("/usr")
        .ok()
        .map(|rest| Path::new("/").join(rest));
    let below = path
        .strip_prefix("/")
        .ok()
        .map(|rest| Path::new("/usr").join(rest));
    [Some(path.to_owned()), without, below]
        .into_iter()
        .flatten()
        .collect()
}

/// Escapes the path for dpkg-query, which expects a pattern.
fn pattern(path: &Path) -> std::ffi::OsString {
    let mut text = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        if b"*?[]\\".contains(byte) {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    OsStr::from_bytes(&text).to_owned()
}

/// Runs dpkg-query; `None` if it is not installed. Status 1 means that some names were not found.
fn query(words: &[&str], more: &[std::ffi::OsString]) -> Result<Option<Output>, LabError> {
    let failed = |reason: String| {
        let text = format!("cannot list the installed packages: dpkg-query {reason}");
        LabError::from(Failure::unsupported(text))
    };
    let started = Command::new("dpkg-query")
        .args(words)
        .args(more)
        .env_clear()
        .env("PATH", fslab_sys::PLAIN_PATH)
        .env("LC_ALL", "C")
        .output();
    let output = match started {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        started => started.map_err(|error| failed(format!("does not start: {error}")))?,
    };
    match output.status.code() {
        Some(0 | 1) => Ok(Some(output)),
        _ => Err(failed(format!(
            "ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "gcc\tamd64\tinstalled\t12\tc-compiler (= 12)\t, gcc-12 (>= 12), no | cpp\n\
                        gcc-12\tamd64\tinstalled\t12.2\t\tlibc6 (>= 2), libc6:any, debconf\n\
                        cpp\tamd64\tinstalled\t12\t\t, awk | other\n\
                        mawk\tamd64\tinstalled\t1.3\tawk\t, libc6\n\
                        libc6\tamd64\tinstalled\t2.36\t\t, \n\
                        libc6\ti386\tinstalled\t2.36\t\t, \n\
                        debconf\tall\tinstalled\t1\t\t, perl\n\
                        gone\tamd64\tconfig-files\t1\t\t, gcc\n";

    #[test]
    fn a_closure_follows_what_is_installed_of_the_alternatives() {
        let packages = Packages::parse(LIST);
        let closure = packages.closure(&BTreeSet::from(["gcc".to_owned()]));
        let names: Vec<_> = closure.keys().map(String::as_str).collect();
        assert_eq!(names, ["cpp", "gcc", "gcc-12", "libc6", "mawk"]);
        assert_eq!(closure["gcc-12"], "12.2");
        assert!(packages.key("gone").is_none());
        assert_eq!(packages.key("libc6:amd64").as_deref(), Some("libc6"));
        assert_eq!(packages.key("libc6:i386").as_deref(), Some("libc6:i386"));
    }

    #[test]
    fn a_line_has_names_and_a_path_and_notes_are_skipped() {
        let owner = |line: &str| split_owner(line.as_bytes());
        let found = owner("libc6:amd64: /lib/x y").expect("an owner");
        assert_eq!(found, ("libc6:amd64".into(), "/lib/x y".into()));
        assert_eq!(owner("diversion by dash from: /bin/sh"), None);
        assert_eq!(owner(""), None);
    }

    #[test]
    fn the_shell_of_this_machine_belongs_to_a_package_that_lists_it() {
        let packages = Packages::read().expect("answers");
        if packages.all.is_empty() {
            eprintln!("skipped: this machine has no dpkg-query");
            return;
        }
        let path = Path::new("/bin/sh").canonicalize().expect("a shell");
        let owners = packages
            .owners(&BTreeSet::from([path.clone()]))
            .expect("answers");
        let owner = owners.get(&path).expect("it belongs to a package");
        assert!(packages.version(owner).is_some_and(|it| !it.is_empty()));
        assert_eq!(packages.version("no-such-package"), None);
        let closure = packages.closure(&BTreeSet::from([owner.clone()]));
        let files = packages.files(closure.keys()).expect("answers");
        assert!(other_names(&path).iter().any(|name| files.contains(name)));
    }
}
