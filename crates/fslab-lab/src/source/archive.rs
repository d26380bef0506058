//! A kernel source as a tarball: identity, and unpacking.

use std::fs;
use std::path::{Path, PathBuf};

use super::origin::{Origin, SourceKind, Supply};
use super::tree;
use crate::build_dir::BuildDir;
use crate::progress::BuildStage;
use crate::tools::{self, BuildTool, tool};
use crate::{LabError, key};

/// File extensions, and the program that unpacks them.
const FORMATS: [(&str, BuildTool); 7] = [
    (".tar.xz", tool("xz", "xz-utils")),
    (".txz", tool("xz", "xz-utils")),
    (".tar.gz", tool("gzip", "gzip")),
    (".tgz", tool("gzip", "gzip")),
    (".tar.bz2", tool("bzip2", "bzip2")),
    (".tar.zst", tool("zstd", "zstd")),
    (".tar", tool("tar", "tar")),
];

/// Identifies a user's tarball.
pub(super) fn find(path: &Path) -> Result<Origin, LabError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some((_, unpacker)) = FORMATS.iter().find(|(end, _)| name.ends_with(end)) else {
        let ends: Vec<_> = FORMATS.iter().map(|(end, _)| *end).collect();
        let reason = format!("its name must end in one of {}", ends.join(", "));
        return Err(LabError::bad_source(path, reason));
    };
    tools::demand_none(&tools::missing_of(&[*unpacker]))?;
    let key = key::of_file(path).map_err(LabError::io("read", path))?;
    Ok(Origin {
        kind: SourceKind::Tarball,
        identity: format!("tarball {key}"),
        description: format!("{} (SHA-256 {key})", path.display()),
        supply: Supply::Archive(path.to_owned()),
    })
}

/// Unpacks `archive`; returns the root of its tree.
pub(super) fn unpack(archive: &Path, build_dir: &mut BuildDir<'_>) -> Result<PathBuf, LabError> {
    build_dir.reporter.enter(BuildStage::Unpacking);
    let folder = build_dir.make_folder("source")?;
    let mut tar = build_dir.command("tar");
    // The archive's owners are those of another machine.
    tar.arg("--no-same-owner").arg("-x");
    tar.arg("-f").arg(archive).arg("-C").arg(&folder);
    build_dir.run("unpack the source", tar)?;
    let root = root_below(&folder).map_err(LabError::io("read", &folder))?;
    root.ok_or_else(|| LabError::bad_source(archive, "it contains no kernel source tree"))
}

/// The root of the tree: `folder` or one of its entries.
fn root_below(folder: &Path) -> std::io::Result<Option<PathBuf>> {
    let mut candidates = vec![folder.to_owned()];
    for entry in fs::read_dir(folder)? {
        candidates.push(entry?.path());
    }
    Ok(candidates.into_iter().find(|path| tree::is_kernel(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_tarball_by_its_name_is_refused() {
        let refused = find(Path::new("linux.zip")).expect_err("no tarball");
        assert!(refused.to_string().contains(".tar.xz"), "{refused}");
    }

    #[test]
    fn tarballs_are_distinguished_by_content_and_not_by_name() {
        let folder = tempfile::tempdir().expect("a directory");
        let identity = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::write(&path, content).expect("written");
            find(&path).expect("a tarball").identity
        };
        let first = identity("a.tar.gz", "one");
        assert_eq!(identity("b.tar.gz", "one"), first);
        assert_ne!(identity("a.tar.gz", "two"), first);
    }
}
