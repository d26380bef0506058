//! Debian's kernel packages: which one a request means, and its headers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::pc_kernel::PcKernel;
use crate::build_dir::BuildDir;
use crate::progress::BuildStage;
use crate::source::{Apt, DebianPackage};
use crate::{LabError, SourceKind};

/// Prefix and suffix of the packages of kernels for 64-bit PCs.
const IMAGE: (&str, &str) = ("linux-image-", "-amd64");
/// Flavours, whose names have the same suffix.
const FLAVOURS: [&str; 2] = ["-cloud", "-rt"];

/// Prefixes of the packages of a kernel's parts, before its release.
const PARTS: [&str; 3] = ["linux-base-", "linux-binary-", "linux-modules-"];

/// A kernel that was found, with the packages that building a module for it takes.
#[derive(Debug)]
pub(super) struct DebianKernel {
    apt: Apt,
    /// The release by uname(2), such as `6.1.0-56-amd64`.
    release: String,
    /// The kernel's package first.
    packages: Vec<DebianPackage>,
}

impl DebianKernel {
    /// The newest kernel whose version begins with `version`, such as `6.1` or `6.1.0-56`.
    pub(super) fn find(version: &str, build_dir: &mut BuildDir<'_>) -> Result<Self, LabError> {
        build_dir.reporter.enter(BuildStage::Looking);
        let (prefix, suffix) = IMAGE;
        let wanted = format!("{prefix}{version}…{suffix}");
        let apt = Apt::open(&wanted, build_dir)?;
        let names = apt.names(&format!("{prefix}{version}"), build_dir)?;
        let abi = newest(&names, version).ok_or_else(|| apt.missing(&wanted))?;
        let release = format!("{abi}{suffix}");
        let headers = format!("linux-headers-{release}");
        let image = format!("{prefix}{release}");
        // Debian 14 has the kernel, its modules and its configuration in separate packages.
        let parts = apt.dependencies(&image, build_dir)?.into_iter();
        let parts =
            parts.filter(|name| PARTS.iter().any(|part| *name == format!("{part}{release}")));
        let mut wanted: Vec<String> = [image].into_iter().chain(parts).collect();
        wanted.push(headers.clone());
        let needed = apt.dependencies(&headers, build_dir)?;
        let is_part =
            |name: &String| name.starts_with("linux-headers-") || name.starts_with("linux-kbuild-");
        wanted.extend(needed.into_iter().filter(is_part));
        let mut packages = Vec::new();
        for name in &wanted {
            packages.push(apt.candidate(name, build_dir)?);
        }
        Ok(Self {
            apt,
            release,
            packages,
        })
    }

    /// Fetches and unpacks all packages.
    pub(super) fn provide(&self, build_dir: &mut BuildDir<'_>) -> Result<PcKernel, LabError> {
        let folder = self.apt.fetch(&self.packages, "debian", build_dir)?;
        let release = &self.release;
        let headers = folder.join(format!("usr/src/linux-headers-{release}"));
        relocate(&headers, &folder)?;
        merge_modules(&folder)?;
        let each = self.packages.iter();
        let texts: Vec<_> = each
            .map(|it| format!("{} {}", it.name, it.version))
            .collect();
        let packages = self.packages.iter();
        Ok(PcKernel {
            release: release.clone(),
            kind: SourceKind::DebianKernel,
            source: texts.join(", "),
            packages: packages
                .map(|it| (it.name.clone(), it.version.clone()))
                .collect(),
            patches: Vec::new(),
            maintenance: BTreeMap::new(),
            config_ignored: Vec::new(),
            kernel: part_of(&folder, "vmlinuz", release),
            config: part_of(&folder, "config", release),
            modules: folder.join(format!("lib/modules/{release}")),
            headers,
            folder,
        })
    }
}

/// The path of a kernel's file: in /boot, or, since Debian 14, next to its modules.
fn part_of(unpacked: &Path, name: &str, release: &str) -> PathBuf {
    let in_boot = unpacked.join(format!("boot/{name}-{release}"));
    match in_boot.exists() {
        true => in_boot,
        false => unpacked.join(format!("lib/modules/{release}/{name}")),
    }
}

/// Moves modules to where depmod(8) looks below a directory: Debian 14 packs them below /usr.
fn merge_modules(unpacked: &Path) -> Result<(), LabError> {
    let (merged, plain) = (
        unpacked.join("usr/lib/modules"),
        unpacked.join("lib/modules"),
    );
    if plain.exists() || !merged.exists() {
        return Ok(());
    }
    let parent = unpacked.join("lib");
    fs::create_dir_all(&parent).map_err(LabError::io("make", &parent))?;
    fs::rename(&merged, &plain).map_err(LabError::io("move", &merged))
}

/// Debian's headers name their other directories by absolute paths, since they are made to be
/// installed: here they lie below `unpacked`.
fn relocate(headers: &Path, unpacked: &Path) -> Result<(), LabError> {
    let path = headers.join("Makefile");
    let text = fs::read_to_string(&path).map_err(LabError::io("read", &path))?;
    let there = format!("{}/usr/src/", unpacked.display());
    let text = text.replace("/usr/src/", &there);
    fs::write(&path, text).map_err(LabError::io("write", &path))
}

/// The newest of the kernels in `packages` whose version is `version` or continues it: `6.1.0-56`.
fn newest(packages: &[String], version: &str) -> Option<String> {
    let (prefix, suffix) = IMAGE;
    let abi = |name: &String| {
        let abi = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
        let rest = abi.strip_prefix(version)?;
        let is_it = rest.is_empty() || rest.starts_with(['.', '-', '+', '~']);
        let is_plain = !FLAVOURS.iter().any(|flavour| abi.ends_with(flavour));
        (is_it && is_plain).then(|| abi.to_owned())
    };
    packages
        .iter()
        .filter_map(abi)
        .max_by_key(|abi| numbers(abi))
}

/// The numbers of a version, in their order.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_below_usr_are_moved_and_others_stay() {
        for (packed, file) in [("usr/lib/modules", "new"), ("lib/modules", "old")] {
            let place = tempfile::tempdir().expect("a directory");
            let release = "7.2.13-amd64";
            let modules = place.path().join(packed).join(release);
            fs::create_dir_all(&modules).expect("made");
            fs::write(modules.join(file), "").expect("written");
            merge_modules(place.path()).expect("moved");
            let moved = place.path().join("lib/modules").join(release);
            assert!(moved.join(file).exists());
            let config = part_of(place.path(), "config", release);
            assert_eq!(config, moved.join("config"));
        }
    }

    #[test]
    fn the_newest_kernel_of_a_series_is_taken_and_no_flavour_of_it() {
        let names = [
            "linux-image-6.1.0-9-amd64",
            "linux-image-6.1.0-56-amd64",
            "linux-image-6.1.0-57-cloud-amd64",
            "linux-image-6.1.0-57-rt-amd64",
            "linux-image-6.1.0-57-amd64-dbg",
            "linux-image-6.1.0-57-amd64-unsigned",
            "linux-image-6.12.9+deb12-amd64",
            "linux-image-6.12.43+deb12-amd64",
        ]
        .map(str::to_owned);
        let found = |version| newest(&names, version);
        assert_eq!(found("6.1").as_deref(), Some("6.1.0-56"));
        assert_eq!(found("6.1.0-9").as_deref(), Some("6.1.0-9"));
        assert_eq!(found("6.12").as_deref(), Some("6.12.43+deb12"));
        assert_eq!(found("6.12.9").as_deref(), Some("6.12.9+deb12"));
        assert_eq!(found("6").as_deref(), Some("6.12.43+deb12"));
        assert_eq!(found("5.10"), None);
    }

    #[test]
    fn headers_are_found_below_the_folder_that_they_are_unpacked_in() {
        let folder = tempfile::tempdir().expect("a directory");
        let makefile = folder.path().join("Makefile");
        fs::write(
            &makefile,
            "include /usr/src/linux-headers-1-common/Makefile\n",
        )
        .expect("written");
        relocate(folder.path(), Path::new("/build")).expect("written");
        let text = fs::read_to_string(makefile).expect("read");
        assert_eq!(
            text,
            "include /build/usr/src/linux-headers-1-common/Makefile\n"
        );
    }
}
