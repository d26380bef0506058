//! A requested source: its identity, and how it is unpacked.

use std::fmt;
use std::path::{Path, PathBuf};

use fslab_model::{Bytes, Failure, FailureKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::debian::Package;
use super::{archive, debian, tree};
use crate::LabError;
use crate::build_dir::BuildDir;
use crate::progress::BuildStage;

/// Space for a build: objects, and the kernel before it is stripped.
const BUILD_ROOM: Bytes = Bytes::mib(400);

/// Space for a build with its source of 1.6 GiB and the source's package.
const UNPACKED_ROOM: Bytes = Bytes::mib(2400);

/// The source that a user requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceRequest {
    /// Debian's package.
    Debian,
    /// A directory. It is not modified.
    Tree(PathBuf),
    /// A packed tree.
    Tarball(PathBuf),
    /// Debian's compiled kernel for PCs, by the beginning of its version.
    DebianKernel(String),
}

impl SourceRequest {
    /// The distribution's kernel that `text` names, such as `debian:6.1` or `debian:6.1.0-56`.
    pub fn distribution(text: &str) -> Result<Self, LabError> {
        let version = text.strip_prefix("debian:").filter(|version| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || ".+~-".contains(c);
            version.starts_with(|c: char| c.is_ascii_digit()) && version.chars().all(is_plain)
        });
        let version = version.ok_or_else(|| {
            let reason = "name a distribution's kernel as DISTRIBUTION:VERSION, for example \
                          debian:6.1 or debian:6.1.0-56";
            LabError::bad_source(Path::new(text), reason)
        })?;
        Ok(Self::DebianKernel(version.to_owned()))
    }

    /// The source at `path`: a tree if that is a directory, else a tarball.
    pub fn at(path: &Path) -> Result<Self, LabError> {
        let real = path.canonicalize();
        let path = real.map_err(|error| LabError::bad_source(path, error))?;
        if path.is_dir() {
            Ok(Self::Tree(path))
        } else {
            Ok(Self::Tarball(path))
        }
    }
}

/// Kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// Debian's package.
    Debian,
    /// A user's directory.
    Tree,
    /// A user's tarball.
    Tarball,
    /// Debian's compiled kernel.
    DebianKernel,
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Debian => "debian",
            Self::Tree => "tree",
            Self::Tarball => "tarball",
            Self::DebianKernel => "debian-kernel",
        })
    }
}

/// A source that was found.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) kind: SourceKind,
    /// Equal for equal contents.
    pub(crate) identity: String,
    /// Readable description.
    pub(crate) description: String,
    pub(super) supply: Supply,
}

/// How the source is provided.
#[derive(Debug)]
pub(super) enum Supply {
    /// It is a tree already.
    Tree(PathBuf),
    /// By unpacking.
    Archive(PathBuf),
    /// By apt, then by unpacking.
    Package(Package),
}

impl Origin {
    /// Identifies the source, without fetching or unpacking it.
    pub(crate) fn find(
        request: &SourceRequest,
        build_dir: &mut BuildDir<'_>,
    ) -> Result<Self, LabError> {
        build_dir.reporter.enter(BuildStage::Looking);
        match request {
            SourceRequest::Debian => debian::find(build_dir),
            SourceRequest::Tree(path) => tree::find(path, build_dir),
            SourceRequest::Tarball(path) => archive::find(path),
            SourceRequest::DebianKernel(version) => Err(LabError::bad_source(
                Path::new(version),
                "it is a compiled kernel, not a source",
            )),
        }
    }

    /// Provides the source as a tree; returns the tree's root.
    pub(crate) fn provide(&self, build_dir: &mut BuildDir<'_>) -> Result<PathBuf, LabError> {
        let room = match self.supply {
            Supply::Tree(_) => BUILD_ROOM,
            Supply::Archive(_) | Supply::Package(_) => UNPACKED_ROOM,
        };
        check_room(&build_dir.path(""), room)?;
        match &self.supply {
            Supply::Tree(path) => tree::link(path, build_dir),
            Supply::Archive(path) => archive::unpack(path, build_dir),
            Supply::Package(package) => {
                let path = package.fetch(build_dir)?;
                archive::unpack(&path, build_dir)
            }
        }
    }
}

fn check_room(folder: &Path, needed: Bytes) -> Result<(), LabError> {
    let available = fslab_sys::available_bytes(folder)
        .map(Bytes)
        .map_err(LabError::io("determine the free space in", folder))?;
    if available >= needed {
        return Ok(());
    }
    let folder = folder.display();
    let text = format!("a build takes {needed} in {folder}, but only {available} are free");
    let failure = Failure::new(FailureKind::NoSpace, text);
    let hint = "kernels are kept below XDG_CACHE_HOME; free space, or set it to another directory";
    Err(failure.hint(hint).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_a_tree_and_a_file_is_a_tarball() {
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("a.tar.xz");
        std::fs::write(&file, "").expect("written");
        let at = |path: &Path| SourceRequest::at(path).expect("there");
        assert!(matches!(at(folder.path()), SourceRequest::Tree(_)));
        assert!(matches!(at(&file), SourceRequest::Tarball(_)));
        let missing = SourceRequest::at(&folder.path().join("b"));
        assert!(missing.is_err());
    }

    #[test]
    fn a_full_disk_is_reported_before_anything_is_unpacked() {
        check_room(Path::new("/"), Bytes(0)).expect("nothing fits everywhere");
        let refused = check_room(Path::new("/"), Bytes(u64::MAX)).expect_err("refused");
        assert_eq!(Failure::from(refused).kind, FailureKind::NoSpace);
    }
}
