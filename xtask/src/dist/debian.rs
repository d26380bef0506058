//! What Debian knows of this machine's files: package, version, source and copyright.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{read, text};

/// Files of the C compiler that are linked into a static program.
const STATIC_LIBRARIES: [&str; 4] = ["libc.a", "libm.a", "libgcc.a", "libgcc_eh.a"];

/// An installed package.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DebianPackage {
    pub(super) name: String,
    pub(super) version: String,
    /// Name and version of the package of its source.
    pub(super) source: String,
    pub(super) source_version: String,
    pub(super) section: String,
}

impl DebianPackage {
    /// The packages that have `files`, each once.
    pub(super) fn of_files(files: &[PathBuf]) -> Result<BTreeSet<Self>, String> {
        let mut asked = BTreeMap::new();
        for file in files {
            let real = std::fs::canonicalize(file)
                .map_err(|error| format!("cannot find {}: {error}", file.display()))?;
            // Packages may have registered a path of /usr by either name.
            let short = real.strip_prefix("/usr").ok();
            let short = short.map(|rest| Path::new("/").join(rest));
            asked.insert(real, short);
        }
        if asked.is_empty() {
            return Ok(BTreeSet::new());
        }
        let names = asked.keys().chain(asked.values().flatten());
        let owners = owners(names)?;
        let mut found = BTreeSet::new();
        for (real, short) in &asked {
            let owner = owners.get(real);
            let owner = owner.or_else(|| owners.get(short.as_ref()?));
            found.insert(owner.ok_or_else(|| format!("{} is in no package", real.display()))?);
        }
        let format = "${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Section}\n";
        let mut describe = Command::new("dpkg-query");
        let shown = text(describe.args(["-W", "-f", format]).args(found))?;
        shown.lines().map(Self::described).collect()
    }

    fn described(line: &str) -> Result<Self, String> {
        let parts: Vec<&str> = line.split('\t').collect();
        let [name, version, source, source_version, section] = parts[..] else {
            return Err(format!("dpkg-query describes a package as '{line}'"));
        };
        Ok(Self {
            name: name.to_owned(),
            version: version.to_owned(),
            source: source.to_owned(),
            source_version: source_version.to_owned(),
            section: section.to_owned(),
        })
    }

    /// Its copyright, as Debian ships it.
    pub(super) fn copyright(&self) -> Result<Vec<u8>, String> {
        read(
            &Path::new("/usr/share/doc")
                .join(&self.name)
                .join("copyright"),
        )
    }

    /// Refuses a package that is not of Debian's main part: others may not be distributed.
    pub(super) fn ensure_free(&self) -> Result<(), String> {
        match self.section.split_once('/') {
            None | Some(("main", _)) => Ok(()),
            Some((part, _)) => Err(format!("{} is in {part}: it cannot be shipped", self.name)),
        }
    }
}

/// The names of the packages that have the files, of those that a package has.
fn owners<'a>(
    files: impl Iterator<Item = &'a PathBuf>,
) -> Result<BTreeMap<PathBuf, String>, String> {
    let mut ask = Command::new("dpkg-query");
    // It ends with 1 where one of the files is in no package, and shows the others.
    let ended = ask.arg("-S").args(files).env("LC_ALL", "C").output();
    let ended = ended.map_err(|error| format!("cannot start dpkg-query: {error}"))?;
    if !matches!(ended.status.code(), Some(0 | 1)) {
        return Err(format!("dpkg-query -S ended with {}", ended.status));
    }
    Ok(owners_in(&String::from_utf8_lossy(&ended.stdout)))
}

/// The same from lines such as `libc6-dev:amd64: /usr/lib/x86_64-linux-gnu/libc.a`.
fn owners_in(shown: &str) -> BTreeMap<PathBuf, String> {
    let is_diversion = |names: &str| names.starts_with("diversion by ");
    let lines = shown.lines().filter_map(|line| line.split_once(": "));
    lines
        .filter(|(names, _)| !is_diversion(names))
        .filter_map(|(names, path)| {
            let first = names.split(", ").next()?;
            Some((PathBuf::from(path), first.to_owned()))
        })
        .collect()
}

/// The packages of the libraries that `compiler` links into a static program.
pub(super) fn static_libraries(compiler: &str) -> Result<Vec<DebianPackage>, String> {
    let mut files = Vec::new();
    for library in STATIC_LIBRARIES {
        let mut ask = Command::new(compiler);
        let file = text(ask.arg(format!("-print-file-name={library}")))?;
        let path = PathBuf::from(&file);
        if !path.is_absolute() {
            return Err(format!("{compiler} has no {library}"));
        }
        files.push(path);
    }
    Ok(DebianPackage::of_files(&files)?.into_iter().collect())
}

/// A table of packages with the packages of their sources.
pub(super) fn sources_table(packages: &[DebianPackage]) -> String {
    let mut text = "| package | version | source | version of the source |\n\
                    |---|---|---|---|\n"
        .to_owned();
    for it in packages {
        let (name, version, source) = (&it.name, &it.version, &it.source);
        text += &format!(
            "| {name} | {version} | {source} | {} |\n",
            it.source_version
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_outside_main_cannot_be_shipped() {
        let of = |section: &str| DebianPackage {
            section: section.to_owned(),
            ..DebianPackage::default()
        };
        of("admin").ensure_free().expect("free");
        let refused = of("non-free/admin").ensure_free().expect_err("not free");
        assert!(refused.contains("non-free"), "{refused}");
    }

    #[test]
    fn what_dpkg_says_of_files_is_read_without_diversions() {
        let said = "diversion by dash from: /bin/sh\ndash: /bin/sh\n\
                    a:amd64, b: /usr/share/both\n";
        let found = owners_in(said);
        let of = |path: &str| found.get(Path::new(path)).map(String::as_str);
        assert_eq!(
            (of("/bin/sh"), of("/usr/share/both")),
            (Some("dash"), Some("a:amd64"))
        );
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_file_of_no_package_is_named() {
        if !Path::new("/usr/bin/dpkg-query").exists() {
            return println!("skipped: a_file_of_no_package_is_named: no dpkg");
        }
        let ours = crate::root().join("Cargo.lock");
        let files = [PathBuf::from("/usr/bin/dpkg-query"), ours];
        let refused = DebianPackage::of_files(&files).expect_err("ours");
        assert!(refused.contains("Cargo.lock is in no package"), "{refused}");
    }

    #[test]
    fn the_c_library_has_a_package_with_its_source() {
        if !Path::new("/usr/bin/dpkg-query").exists() {
            return println!("skipped: the_c_library_has_a_package_with_its_source: no dpkg");
        }
        let found = static_libraries("cc").expect("packages");
        assert!(found.iter().any(|it| it.source == "glibc"), "{found:?}");
        assert!(!found[0].copyright().expect("a copyright").is_empty());
    }
}
