//! Debian's kernel packages: which one a request means, and its headers.

use std::path::PathBuf;

use crate::LabError;
use crate::build_dir::BuildDir;
use crate::progress::BuildStage;
use crate::source::{Apt, DebianPackage};

/// Prefix and suffix of the packages of kernels for 64-bit PCs.
const IMAGE: (&str, &str) = ("linux-image-", "-amd64");
/// Flavours, whose names have the same suffix.
const FLAVOURS: [&str; 2] = ["-cloud", "-rt"];

/// A kernel that was found, with the packages that building a module for it takes.
#[derive(Debug)]
pub(super) struct DebianKernel {
    apt: Apt,
    /// The release by uname(2), such as `6.1.0-56-amd64`.
    pub(super) release: String,
    /// The kernel's package first.
    pub(super) packages: Vec<DebianPackage>,
}

/// The unpacked packages.
pub(super) struct Unpacked {
    /// The root of all.
    pub(super) folder: PathBuf,
    /// The kernel.
    pub(super) kernel: PathBuf,
    /// Its configuration.
    pub(super) config: PathBuf,
    /// Its modules.
    pub(super) modules: PathBuf,
    /// The tree that a module is built against.
    pub(super) headers: PathBuf,
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
        let mut wanted = vec![format!("{prefix}{release}"), headers.clone()];
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

    /// Identifies the packages with their versions.
    pub(super) fn identity(&self) -> String {
        let each = self.packages.iter();
        let texts: Vec<_> = each
            .map(|it| format!("{} {}", it.name, it.version))
            .collect();
        texts.join(", ")
    }

    /// Fetches and unpacks all packages.
    pub(super) fn unpack(&self, build_dir: &mut BuildDir<'_>) -> Result<Unpacked, LabError> {
        let folder = self.apt.fetch(&self.packages, "debian", build_dir)?;
        let release = &self.release;
        Ok(Unpacked {
            kernel: folder.join(format!("boot/vmlinuz-{release}")),
            config: folder.join(format!("boot/config-{release}")),
            modules: folder.join(format!("lib/modules/{release}")),
            headers: folder.join(format!("usr/src/linux-headers-{release}")),
            folder,
        })
    }
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
}
