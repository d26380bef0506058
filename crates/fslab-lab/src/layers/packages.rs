//! What Debian's list of packages says of this machine: whose file something is, what a package
//! depends on, and which files it has.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::LayerError;

/// Separates the fields of a line: no field has one.
const FIELDS: &str = "${Package}\t${Architecture}\t${db:Status-Status}\t${Version}\t${Provides}\t\
                      ${Pre-Depends}, ${Depends}\n";
/// Packages that hold nothing which a program of another one reads while it runs: they install and
/// configure, and would bring most of a system.
const OF_INSTALLATION: [&str; 5] = [
    "debconf",
    "debconf-2.0",
    "dpkg",
    "init-system-helpers",
    "lsb-base",
];
/// What a compiler needs to make programs and only recommends.
const OF_COMPILERS: &str = "libc6-dev";
const COMPILERS: [&str; 6] = ["c++", "c89", "c99", "cc", "g++", "gcc"];

/// The packages that are installed.
#[derive(Debug, Default)]
pub(super) struct Packages {
    /// By name; with its architecture where it is not the first of that name.
    all: BTreeMap<String, Package>,
    /// Who provides a name that is none of a package.
    providers: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Clone, Debug)]
struct Package {
    architecture: String,
    version: String,
    /// Each a list of alternatives.
    depends: Vec<Vec<String>>,
}

impl Packages {
    /// Those of this machine; none where it is not one of Debian's kind.
    pub(super) fn read() -> Result<Self, LayerError> {
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

    /// The package of each of `paths` that belongs to one.
    pub(super) fn owners(
        &self,
        paths: &BTreeSet<PathBuf>,
    ) -> Result<BTreeMap<PathBuf, String>, LayerError> {
        let mut owners = BTreeMap::new();
        if self.all.is_empty() || paths.is_empty() {
            return Ok(owners);
        }
        // A path may be listed by its other name, from before /usr was merged.
        let asked = paths.iter().flat_map(|path| other_names(path));
        let words: Vec<_> = asked.map(|path| pattern(&path)).collect();
        // It ends with status 1 where some belong to none.
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

    /// `name` as it is listed here, where that is installed: `gcc`, or `libc6:amd64`.
    fn key(&self, name: &str) -> Option<String> {
        if self.all.contains_key(name) {
            return Some(name.to_owned());
        }
        let (plain, architecture) = name.split_once(':')?;
        let found = self.all.get(plain)?;
        let is_right = found.architecture == architecture || architecture == "any";
        is_right.then(|| plain.to_owned())
    }

    /// The packages without which those of `first` do not run, they among them, with their versions.
    pub(super) fn closure(&self, first: &BTreeSet<String>) -> BTreeMap<String, String> {
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

    /// The alternative that is installed: a package of that name, or the first that provides one.
    fn choice(&self, alternatives: &[String]) -> Option<String> {
        let installed = alternatives.iter().find_map(|name| self.key(name));
        installed.or_else(|| {
            let mut providers = alternatives.iter().filter_map(|it| self.providers.get(it));
            providers.find_map(|providers| providers.first().cloned())
        })
    }

    /// What the program `name` needs and its package does not depend on.
    pub(super) fn companion(&self, name: &str) -> Option<String> {
        let is_compiler = COMPILERS.contains(&name);
        is_compiler.then(|| self.key(OF_COMPILERS)).flatten()
    }

    /// The paths that the packages `names` have, folders too, as they are listed.
    pub(super) fn files<'a>(
        &self,
        names: impl Iterator<Item = &'a String>,
    ) -> Result<BTreeSet<PathBuf>, LayerError> {
        let names: Vec<_> = names.map(|name| name.clone().into()).collect();
        if names.is_empty() {
            return Ok(BTreeSet::new());
        }
        let output = query(&["--listfiles", "--"], &names)?;
        let text = output.map(|output| output.stdout).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n');
        // Beside paths there are notes on diversions.
        let paths = lines.filter(|line| line.first() == Some(&b'/') && *line != b"/.");
        Ok(paths.map(|line| OsStr::from_bytes(line).into()).collect())
    }
}

/// `a (>= 1) | b:any, c` as names.
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

/// `libc6:amd64: /lib/x` or `a, b: /usr/share/doc` as names and path.
fn split_owner(line: &[u8]) -> Option<(String, PathBuf)> {
    let at = line.windows(3).position(|window| window == b": /")?;
    let names = String::from_utf8_lossy(&line[..at]).into_owned();
    let is_note = names.starts_with("diversion ");
    (!is_note).then(|| (names, OsStr::from_bytes(&line[at + 2..]).into()))
}

/// A path below /usr has been listed without it before /usr was merged, and the other way round.
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

/// The path as dpkg-query takes it: it reads patterns.
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

/// Asks dpkg-query; `None` where there is none. Status 1 says that some of what was asked for is
/// not there.
fn query(words: &[&str], more: &[std::ffi::OsString]) -> Result<Option<Output>, LayerError> {
    let failed = |reason: String| LayerError::Packages { reason };
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
    fn an_answer_is_names_and_a_path_and_a_note_is_none() {
        let owner = |line: &str| split_owner(line.as_bytes());
        let found = owner("libc6:amd64: /lib/x y").expect("an owner");
        assert_eq!(found, ("libc6:amd64".into(), "/lib/x y".into()));
        assert_eq!(owner("diversion by dash from: /bin/sh"), None);
        assert_eq!(owner(""), None);
    }

    #[test]
    fn the_shell_of_this_machine_belongs_to_a_package_that_has_it() {
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
        let closure = packages.closure(&BTreeSet::from([owner.clone()]));
        let files = packages.files(closure.keys()).expect("answers");
        assert!(other_names(&path).iter().any(|name| files.contains(name)));
    }
}
