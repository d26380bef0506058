//! The builds of fslab that are run: as it is, longer, without symbols, from another checkout. Each
//! is a directory with fslab and the program that guests run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::run;

/// Which fslab is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Program {
    /// The one that is compared with.
    AsIs,
    /// A copy with 10 MB of zeros behind it.
    Padded,
    /// A copy without symbols and debug information.
    Stripped,
    /// Built from a copy of the sources in another directory, with another optimisation.
    Otherwise,
    /// Built with the profile that the one that is compared with was not built with.
    OtherProfile,
}

impl Program {
    /// Whether cargo has to build it.
    pub(crate) const fn needs_build(self) -> bool {
        matches!(self, Self::Otherwise | Self::OtherProfile)
    }
}

const NAME: &str = "fslab";
/// Where the program that guests run is, from fslab; an older build is its own.
const GUEST_PROGRAMS: [&str; 2] = ["fslab-guest", "../lib/fslab/fslab-guest"];
const PAD_BYTES: usize = 10_000_000;

/// How the second checkout is built: not as any profile of the workspace is.
const OTHER_PROFILE: [&str; 5] = [
    "profile.release.opt-level=1",
    "profile.release.debug=false",
    "profile.release.strip=true",
    "profile.release.lto=false",
    "profile.release.codegen-units=7",
];

/// Where the programs are, and where they are made.
#[derive(Debug)]
pub(crate) struct Programs<'a> {
    /// The directory of the workspace.
    pub(crate) root: &'a Path,
    /// Where copies are put.
    pub(crate) folder: &'a Path,
    /// The one that is compared with, which lies in `folder`.
    pub(crate) plain: PathBuf,
}

impl Programs<'_> {
    /// The path of a build's fslab, which is made where it is not there.
    pub(crate) fn path(&self, program: Program) -> Result<PathBuf, String> {
        match program {
            Program::AsIs => Ok(self.plain.clone()),
            Program::Padded => each(&self.plain, &self.folder.join("padded"), |from, to| {
                let mut bytes = read(from)?;
                bytes.resize(bytes.len() + PAD_BYTES, 0);
                fs::write(to, bytes).map_err(|error| cannot("write", to, &error))?;
                make_executable(to)
            }),
            Program::Stripped => each(&self.plain, &self.folder.join("stripped"), |from, to| {
                run(Command::new("strip").arg("-o").args([to, from]))
            }),
            Program::Otherwise => {
                let build = self.root.join("target/exact");
                let checkout = build.join("checkout");
                copy_sources(self.root, &checkout)?;
                let profile = OTHER_PROFILE.iter().flat_map(|line| ["--config", line]);
                let built = build_release(&checkout, &build.join("build"), profile)?;
                copy(&built, &self.folder.join("otherwise"))
            }
            Program::OtherProfile => {
                let target = self.root.join("target");
                let release = build_release(self.root, &target, [])?;
                let is_release = read(&release)? == read(&self.plain)?;
                let other = if is_release {
                    build_dev(self.root)?
                } else {
                    release
                };
                copy(&other, &self.folder.join("other-profile"))
            }
        }
    }
}

/// Builds fslab in the dev profile.
pub(crate) fn build_dev(root: &Path) -> Result<PathBuf, String> {
    let target = root.join("target");
    cargo_build(root, &target, &["--quiet"])?;
    Ok(target.join("debug/fslab"))
}

fn build_release<'a>(
    root: &Path,
    target: &Path,
    profile: impl IntoIterator<Item = &'a str>,
) -> Result<PathBuf, String> {
    let words: Vec<&str> = ["--quiet", "--release"]
        .into_iter()
        .chain(profile)
        .collect();
    cargo_build(root, target, &words)?;
    Ok(target.join("release/fslab"))
}

fn cargo_build(root: &Path, target: &Path, words: &[&str]) -> Result<(), String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(root)
        .args(["build", "--locked", "--package", "fslab-cli"])
        .args(words)
        .arg("--target-dir")
        .arg(target);
    run(&mut cargo)
}

/// Copies each file that git knows of. What a file of the copy holds already is left as it is, so
/// that a second build is short.
fn copy_sources(root: &Path, checkout: &Path) -> Result<(), String> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z"]);
    let listed = git.stderr(Stdio::inherit()).output();
    let listed = listed.map_err(|error| format!("cannot start git: {error}"))?;
    if !listed.status.success() {
        return Err(format!("git ls-files: {}", listed.status));
    }
    let names = String::from_utf8(listed.stdout).map_err(|_| "a name that is no text")?;
    for name in names.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), checkout.join(name));
        // Removed since, and not committed.
        if !from.is_file() {
            continue;
        }
        let bytes = read(&from)?;
        if fs::read(&to).is_ok_and(|old| old == bytes) {
            continue;
        }
        let folder = to.parent().unwrap_or(checkout);
        fs::create_dir_all(folder).map_err(|error| cannot("make", folder, &error))?;
        fs::copy(&from, &to).map_err(|error| cannot("copy", &from, &error))?;
    }
    Ok(())
}

/// Copies a build, by the path of its fslab, into `folder`; returns the path of the copy.
pub(crate) fn copy(fslab: &Path, folder: &Path) -> Result<PathBuf, String> {
    each(fslab, folder, |from, to| {
        fs::copy(from, to).map_err(|error| cannot("copy", from, &error))?;
        make_executable(to)
    })
}

/// Makes each program of a build in `folder` from that of the build of `fslab`; returns the path of
/// its fslab.
fn each(
    fslab: &Path,
    folder: &Path,
    make: impl Fn(&Path, &Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    fs::create_dir_all(folder).map_err(|error| cannot("make", folder, &error))?;
    make_executable(folder)?;
    let copied = folder.join(NAME);
    make(fslab, &copied)?;
    for place in GUEST_PROGRAMS {
        let program = fslab.with_file_name(place);
        if program.is_file() {
            make(&program, &folder.join(GUEST_PROGRAMS[0]))?;
            break;
        }
    }
    Ok(copied)
}

fn make_executable(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, mode).map_err(|error| cannot("make executable", path, &error))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| cannot("read", path, &error))
}

pub(crate) fn cannot(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}
