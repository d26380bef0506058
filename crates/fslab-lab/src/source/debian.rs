//! Debian's kernel source package, found and fetched by apt and never installed.

use std::path::{Path, PathBuf};

use super::apt::{Apt, DebianPackage};
use super::origin::{Origin, SourceKind, Supply};
use crate::build_dir::BuildDir;
use crate::{LabError, key};

const PACKAGE: &str = "linux-source-6.12";

/// The tarball in the package, relative to the root.
const TARBALL: &str = "usr/src/linux-source-6.12.tar.xz";

/// The source's package.
#[derive(Debug)]
pub(super) struct Package {
    apt: Apt,
    package: DebianPackage,
}

/// Finds the newest version of the package: the installed one, else that of the servers.
pub(super) fn find(build_dir: &mut BuildDir<'_>) -> Result<Origin, LabError> {
    let installed = Path::new("/").join(TARBALL);
    if installed.is_file() {
        let version = installed_version(build_dir, &installed)?;
        return Ok(origin(&version, Supply::Archive(installed)));
    }
    let apt = Apt::open(PACKAGE, build_dir)?;
    let package = apt.candidate(PACKAGE, build_dir)?;
    let version = package.version.clone();
    Ok(origin(&version, Supply::Package(Package { apt, package })))
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
        Err(stopped) if stopped.is_interruption() => Err(stopped),
        Ok(_) | Err(_) => {
            let key = key::of_file(file).map_err(LabError::io("read", file))?;
            Ok(format!("SHA-256 {key}"))
        }
    }
}

impl Package {
    /// Fetches the package; returns the tarball in it.
    pub(super) fn fetch(&self, build_dir: &mut BuildDir<'_>) -> Result<PathBuf, LabError> {
        let packages = std::slice::from_ref(&self.package);
        let folder = self.apt.fetch(packages, "package", build_dir)?;
        Ok(folder.join(TARBALL))
    }
}
