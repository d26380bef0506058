//! Debian's kernel source package, found and fetched by apt and never installed.
//!
//! apt uses separate lists and a separate cache below the build folder, with the machine's servers,
//! proxy and keys. That needs no privileges.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt_sources::{self, Entry};
use super::origin::{Origin, SourceKind, Supply};
use crate::build_dir::BuildDir;
use crate::progress::BuildStage;
use crate::tools::{self, BuildTool, tool};
use crate::{LabError, key};

const PACKAGE: &str = "linux-source-6.12";

/// The tarball in the package, relative to the root.
const TARBALL: &str = "usr/src/linux-source-6.12.tar.xz";

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

/// A package that apt can fetch.
#[derive(Debug)]
pub(super) struct Package {
    apt: Apt,
}

/// The folder of the private lists, cache and settings.
#[derive(Debug)]
struct Apt {
    folder: PathBuf,
}

/// Finds the newest version of the package: the installed one, else that of the servers.
pub(super) fn find(build_dir: &mut BuildDir<'_>) -> Result<Origin, LabError> {
    let installed = Path::new("/").join(TARBALL);
    if installed.is_file() {
        let version = installed_version(build_dir, &installed)?;
        return Ok(origin(&version, Supply::Archive(installed)));
    }
    let missing = tools::missing_of(&APT_TOOLS);
    if !missing.is_empty() {
        let reasons = missing
            .iter()
            .map(|tool| format!("there is no {}", tool.program));
        return Err(LabError::NoPackage {
            package: PACKAGE,
            reasons: reasons.collect(),
        });
    }
    build_dir.reporter.enter(BuildStage::Indexing);
    let apt = Apt::set_up(build_dir)?;
    let complaints = apt.update(build_dir)?;
    match apt.candidate(build_dir)? {
        Some(version) => Ok(origin(&version, Supply::Package(Package { apt }))),
        None => Err(LabError::NoPackage {
            package: PACKAGE,
            reasons: complaints,
        }),
    }
}

fn origin(version: &str, supply: Supply) -> Origin {
    let name = format!("{PACKAGE} {version}");
    Origin {
        kind: SourceKind::Debian,
        identity: name.clone(),
        description: name,
        supply,
    }
}

/// The version by dpkg; a digest of the contents if the file is not from the package.
fn installed_version(build_dir: &mut BuildDir<'_>, file: &Path) -> Result<String, LabError> {
    let mut dpkg = build_dir.command("dpkg-query");
    dpkg.args(["--show", "--showformat=${Version}", PACKAGE]);
    let answer = build_dir.ask("ask dpkg for the source's version", dpkg);
    match answer.map(|text| String::from_utf8_lossy(&text).trim().to_owned()) {
        Ok(version) if !version.is_empty() => Ok(version),
        Ok(_) | Err(LabError::Failed { .. } | LabError::Io { .. }) => {
            let key = key::of_file(file).map_err(LabError::io("read", file))?;
            Ok(format!("SHA-256 {key}"))
        }
        Err(other) => Err(other),
    }
}

impl Package {
    /// Fetches the package; returns the tarball in it.
    pub(super) fn fetch(&self, build_dir: &mut BuildDir<'_>) -> Result<PathBuf, LabError> {
        build_dir.reporter.enter(BuildStage::Downloading);
        let folder = build_dir.make_folder("package")?;
        let mut download = self.apt.command("apt-get", build_dir);
        download.args(["-q", "download", PACKAGE]);
        download.current_dir(&folder);
        build_dir.run("download the source", download)?;
        let package = only_file(&folder).map_err(LabError::io("find the package in", &folder))?;
        build_dir.reporter.enter(BuildStage::Unpacking);
        let mut unpack = build_dir.command("dpkg-deb");
        unpack.arg("--extract").arg(&package).arg(&folder);
        build_dir.run("unpack the package", unpack)?;
        Ok(folder.join(TARBALL))
    }
}

impl Apt {
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
        Ok(Self { folder })
    }

    /// Fetches the lists. If a server cannot be reached, returns apt's errors: the package may be
    /// on another server.
    fn update(&self, build_dir: &mut BuildDir<'_>) -> Result<Vec<String>, LabError> {
        let mut update = self.command("apt-get", build_dir);
        update.args(["-q", "update"]);
        match build_dir.run("fetch lists of packages", update) {
            Ok(()) => Ok(vec![
                "none of this machine's sources of packages has it".into(),
            ]),
            Err(LabError::Failed { said, .. }) => Ok(said),
            Err(other) => Err(other),
        }
    }

    /// The version that apt would install.
    fn candidate(&self, build_dir: &mut BuildDir<'_>) -> Result<Option<String>, LabError> {
        let mut policy = self.command("apt-cache", build_dir);
        policy.args(["policy", PACKAGE]);
        let answer = build_dir.ask("ask apt for the source's version", policy)?;
        Ok(candidate_in(&String::from_utf8_lossy(&answer)))
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

fn only_file(folder: &Path) -> io::Result<PathBuf> {
    let is_package = |path: &PathBuf| path.extension().is_some_and(|end| end == "deb");
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if is_package(&path) {
            return Ok(path);
        }
    }
    Err(io::ErrorKind::NotFound.into())
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
        let folder = tempfile::tempdir().expect("a folder");
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
        let folder = tempfile::tempdir().expect("a folder");
        assert!(machine_entries(folder.path()).expect("read").is_empty());
    }
}
