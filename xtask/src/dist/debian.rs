//! What Debian knows of this machine's files: package, version, source and copyright.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::{read, text};

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
    /// The package that has `file`.
    ///
    /// # Errors
    /// A file of no package.
    pub(super) fn of_file(file: &Path) -> Result<Self, String> {
        let file = std::fs::canonicalize(file)
            .map_err(|error| format!("cannot find {}: {error}", file.display()))?;
        // Packages may have registered a path of /usr by either name.
        let short = file
            .strip_prefix("/usr")
            .map(|rest| Path::new("/").join(rest));
        let names = [Some(file.clone()), short.ok()];
        let owner = names.iter().flatten().find_map(|path| owner(path));
        let owner = owner.ok_or_else(|| format!("{} is in no package", file.display()))?;
        Self::named(&owner)
    }

    fn named(name: &str) -> Result<Self, String> {
        let format = "${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Section}";
        let shown = text(Command::new("dpkg-query").args(["-W", "-f", format, name]))?;
        let parts: Vec<&str> = shown.split('\t').collect();
        let [name, version, source, source_version, section] = parts[..] else {
            return Err(format!("dpkg-query describes {name} as '{shown}'"));
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
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn copyright(&self) -> Result<Vec<u8>, String> {
        read(
            &Path::new("/usr/share/doc")
                .join(&self.name)
                .join("copyright"),
        )
    }

    /// Refuses a package that is not of Debian's main part: others may not be distributed.
    ///
    /// # Errors
    /// Its section.
    pub(super) fn ensure_free(&self) -> Result<(), String> {
        match self.section.split_once('/') {
            None | Some(("main", _)) => Ok(()),
            Some((part, _)) => Err(format!("{} is in {part}: it cannot be shipped", self.name)),
        }
    }
}

fn owner(path: &Path) -> Option<String> {
    let found = text(Command::new("dpkg-query").arg("-S").arg(path)).ok()?;
    // `libc6-dev:amd64: /usr/lib/x86_64-linux-gnu/libc.a`
    let (name, _) = found.lines().next()?.split_once(": ")?;
    Some(name.to_owned())
}

/// The packages of the libraries that `compiler` links into a static program.
///
/// # Errors
/// A library that is not there, or of no package.
pub(super) fn static_libraries(compiler: &str) -> Result<Vec<DebianPackage>, String> {
    let mut found = BTreeSet::new();
    for library in STATIC_LIBRARIES {
        let mut ask = Command::new(compiler);
        let file = text(ask.arg(format!("-print-file-name={library}")))?;
        let path = PathBuf::from(&file);
        if !path.is_absolute() {
            return Err(format!("{compiler} has no {library}"));
        }
        found.insert(DebianPackage::of_file(&path)?);
    }
    Ok(found.into_iter().collect())
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
    fn the_c_library_has_a_package_with_its_source() {
        if !Path::new("/usr/bin/dpkg-query").exists() {
            return println!("skipped: the_c_library_has_a_package_with_its_source: no dpkg");
        }
        let found = static_libraries("cc").expect("packages");
        assert!(found.iter().any(|it| it.source == "glibc"), "{found:?}");
        assert!(!found[0].copyright().expect("a copyright").is_empty());
    }
}
