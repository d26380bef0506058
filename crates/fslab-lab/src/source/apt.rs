//! apt with a private copy of its lists: finds and fetches packages and installs none.
//!
//! The lists and the cache lie below the build directory; servers, proxy and keys are the
//! machine's. That needs no privileges.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use fslab_model::{Failure, FailureKind};

use super::apt_sources::{self, Entry};
use crate::LabError;
use crate::build_dir::BuildDir;
use crate::progress::BuildStage;
use crate::tools::{self, BuildTool, tool};

const APT_TOOLS: [BuildTool; 3] = [
    tool("apt-get", "apt"),
    tool("apt-cache", "apt"),
    tool("dpkg-deb", "dpkg"),
];

/// Read after the machine's own settings. Hooks are cleared: they maintain the system's lists and
/// caches, which are not used here; container images have one that empties the cache of any other
/// running apt. The cleared indexes are not needed.
const SETTINGS: &str = "\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::Contents-deb;
";

/// apt with its private directory, and what it reported while it fetched the lists.
#[derive(Debug)]
pub(crate) struct Apt {
    folder: PathBuf,
    /// Why a package may be missing: apt's errors, or that no source has it.
    complaints: Vec<String>,
}

/// A package that apt can fetch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DebianPackage {
    pub(crate) name: String,
    pub(crate) version: String,
}

fn no_package(package: &str, reasons: Vec<String>) -> LabError {
    let mut failure = Failure::missing_tool(format!("cannot get Debian's {package}"));
    failure.causes = reasons;
    failure
        .hint("use a kernel source tree or tarball with --source instead")
        .into()
}

impl Apt {
    /// Fetches the lists of packages. If a server cannot be reached, a package may be on another.
    ///
    /// # Errors
    /// A missing tool for `wanted` without apt on this machine.
    pub(crate) fn open(wanted: &str, build_dir: &mut BuildDir<'_>) -> Result<Self, LabError> {
        let missing = tools::missing_of(&APT_TOOLS);
        if !missing.is_empty() {
            let reasons = missing
                .iter()
                .map(|tool| format!("there is no {}", tool.program));
            return Err(no_package(wanted, reasons.collect()));
        }
        build_dir.reporter.enter(BuildStage::Indexing);
        let mut apt = Self::set_up(build_dir)?;
        apt.complaints = apt.update(build_dir)?;
        Ok(apt)
    }

    fn set_up(build_dir: &mut BuildDir<'_>) -> Result<Self, LabError> {
        for name in ["sources", "lists/partial", "cache/archives/partial"] {
            build_dir.make_folder(&format!("apt/{name}"))?;
        }
        let folder = build_dir.path("apt");
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(LabError::io("write", &path))
        };
        write("settings", SETTINGS)?;
        let settings = Path::new("/etc/apt");
        let entries = machine_entries(settings).map_err(LabError::io("read", settings))?;
        let os_release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let added = apt_sources::codename(&os_release)
            .map(|codename| apt_sources::backports(&entries, codename))
            .unwrap_or_default();
        let (mut list, mut stanzas) = (String::new(), String::new());
        for entry in entries.iter().chain(&added) {
            let text = match entry {
                Entry::Line { .. } => &mut list,
                Entry::Stanza(_) => &mut stanzas,
            };
            // Writing to a string does not fail.
            let _ = write!(text, "{entry}");
        }
        write("sources/machine.list", &list)?;
        write("sources/machine.sources", &stanzas)?;
        Ok(Self {
            folder,
            complaints: Vec::new(),
        })
    }

    fn update(&self, build_dir: &mut BuildDir<'_>) -> Result<Vec<String>, LabError> {
        let mut update = self.command("apt-get", build_dir);
        update.args(["-q", "update"]);
        match build_dir.run("fetch lists of packages", update) {
            Ok(()) => Ok(vec!["none of this machine's package sources has it".into()]),
            // It ran and failed, so the causes are what it said.
            Err(LabError::Other(failure)) if failure.kind == FailureKind::Unsupported => {
                Ok(failure.causes)
            }
            Err(other) => Err(other),
        }
    }

    /// The version of `package` that apt would install.
    ///
    /// # Errors
    /// A missing tool if no source has it.
    pub(crate) fn candidate(
        &self,
        package: &str,
        build_dir: &mut BuildDir<'_>,
    ) -> Result<DebianPackage, LabError> {
        let answer = self.ask(&["policy", package], build_dir)?;
        let version = candidate_in(&answer).ok_or_else(|| self.missing(package))?;
        Ok(DebianPackage {
            name: package.to_owned(),
            version,
        })
    }

    /// The error that no source has `package`.
    pub(crate) fn missing(&self, package: &str) -> LabError {
        no_package(package, self.complaints.clone())
    }

    /// The names of all packages that begin with `prefix`.
    pub(crate) fn names(
        &self,
        prefix: &str,
        build_dir: &mut BuildDir<'_>,
    ) -> Result<Vec<String>, LabError> {
        let answer = self.ask(&["pkgnames", prefix], build_dir)?;
        Ok(answer.lines().map(str::to_owned).collect())
    }

    /// The packages that `package` depends on; of alternatives the first.
    pub(crate) fn dependencies(
        &self,
        package: &str,
        build_dir: &mut BuildDir<'_>,
    ) -> Result<Vec<String>, LabError> {
        let answer = self.ask(&["show", "--no-all-versions", package], build_dir)?;
        let line = answer
            .lines()
            .find_map(|line| line.strip_prefix("Depends: "));
        let groups = line.unwrap_or_default().split(", ");
        let name = |group: &str| {
            group
                .split([' ', ':'])
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        Ok(groups.map(name).filter(|name| !name.is_empty()).collect())
    }

    /// Fetches `packages` and unpacks them into `folder`, a new directory of the build.
    pub(crate) fn fetch(
        &self,
        packages: &[DebianPackage],
        folder: &str,
        build_dir: &mut BuildDir<'_>,
    ) -> Result<PathBuf, LabError> {
        build_dir.reporter.enter(BuildStage::Downloading);
        let downloads = build_dir.make_folder(&format!("{folder}.packages"))?;
        let mut download = self.command("apt-get", build_dir);
        download.args(["-q", "download"]);
        download.args(
            packages
                .iter()
                .map(|it| format!("{}={}", it.name, it.version)),
        );
        download.current_dir(&downloads);
        build_dir.run("download Debian's packages", download)?;
        build_dir.reporter.enter(BuildStage::Unpacking);
        let unpacked = build_dir.make_folder(folder)?;
        let listed = package_files(&downloads).map_err(LabError::io("read", &downloads))?;
        for package in listed {
            let mut unpack = build_dir.command("dpkg-deb");
            unpack.arg("--extract").arg(&package).arg(&unpacked);
            build_dir.run("unpack a package", unpack)?;
        }
        fs::remove_dir_all(&downloads).map_err(LabError::io("remove", &downloads))?;
        Ok(unpacked)
    }

    fn ask(&self, words: &[&str], build_dir: &mut BuildDir<'_>) -> Result<String, LabError> {
        let mut command = self.command("apt-cache", build_dir);
        command.args(words);
        let answer = build_dir.ask("ask apt for a package", command)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    fn command(&self, program: &str, build_dir: &BuildDir<'_>) -> Command {
        let mut command = build_dir.command(program);
        command.arg("-c").arg(self.folder.join("settings"));
        let mut option = |name: &str, value: &Path| {
            command.arg("-o").arg(format!("{name}={}", value.display()));
        };
        option("Dir::Etc::sourcelist", Path::new("/dev/null"));
        option("Dir::Etc::sourceparts", &self.folder.join("sources"));
        option("Dir::State::lists", &self.folder.join("lists"));
        option("Dir::Cache", &self.folder.join("cache"));
        // As root, apt would download as a user who has no access to root's cache.
        option("APT::Sandbox::User", Path::new(""));
        option("Acquire::Languages", Path::new("none"));
        option("Acquire::Retries", Path::new("2"));
        command
    }
}

/// The candidate in the output of `apt-cache policy`.
fn candidate_in(policy: &str) -> Option<String> {
    policy
        .lines()
        .find_map(|line| line.trim().strip_prefix("Candidate: "))
        .filter(|version| *version != "(none)")
        .map(str::to_owned)
}

/// The entries in `settings`, laid out like /etc/apt.
fn machine_entries(settings: &Path) -> io::Result<Vec<Entry>> {
    let mut files = vec![settings.join("sources.list")];
    let parts = settings.join("sources.list.d");
    if parts.is_dir() {
        for part in fs::read_dir(parts)? {
            files.push(part?.path());
        }
    }
    files.sort();
    let mut entries = Vec::new();
    for file in files.iter().filter(|file| file.is_file()) {
        let parse = match file.extension().and_then(|end| end.to_str()) {
            Some("list") => apt_sources::parse_list,
            Some("sources") => apt_sources::parse_stanzas,
            _ => continue,
        };
        let text = fs::read(file)?;
        entries.extend(parse(&String::from_utf8_lossy(&text)));
    }
    Ok(entries)
}

/// The packages in `folder`, sorted by name.
fn package_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "deb") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_candidate_is_read_from_what_apt_prints() {
        let policy = "linux-source-6.12:\n  Installed: (none)\n  Candidate: 6.12.95-1~bpo12+1\n  \
                      Version table:\n     6.12.95-1~bpo12+1 100\n";
        assert_eq!(candidate_in(policy).as_deref(), Some("6.12.95-1~bpo12+1"));
        assert_eq!(candidate_in("a:\n  Candidate: (none)\n"), None);
        assert_eq!(candidate_in(""), None);
    }

    #[test]
    fn sources_are_read_from_both_kinds_of_file_and_from_no_other() {
        let folder = tempfile::tempdir().expect("a directory");
        let parts = folder.path().join("sources.list.d");
        fs::create_dir(&parts).expect("made");
        let line = |name: &str| format!("deb http://{name}.example/ bookworm main\n");
        let stanza = "Types: deb\nURIs: http://c.example/\nSuites: bookworm\nComponents: main\n";
        fs::write(folder.path().join("sources.list"), line("a")).expect("written");
        fs::write(parts.join("b.list"), line("b")).expect("written");
        fs::write(parts.join("c.sources"), stanza).expect("written");
        fs::write(parts.join("d.list.disabled"), line("d")).expect("written");
        let entries = machine_entries(folder.path()).expect("read");
        let text: String = entries.iter().map(ToString::to_string).collect();
        for name in ["a", "b", "c"] {
            assert!(text.contains(&format!("http://{name}.example/")), "{text}");
        }
        assert_eq!(entries.len(), 3);
    }

    #[test]
    fn a_machine_without_sources_has_no_entries() {
        let folder = tempfile::tempdir().expect("a directory");
        assert!(machine_entries(folder.path()).expect("read").is_empty());
    }
}
