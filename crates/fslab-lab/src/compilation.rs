//! A kernel's source on its way to a kernel: patched, edited, configured, compiled.

use std::ffi::OsString;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;

use fslab_model::Failure;

use crate::build_dir::BuildDir;
use crate::kept_objects::KeptObjects;
use crate::progress::BuildStage;
use crate::recipe::Recipe;
use crate::source::Origin;
use crate::{Architecture, LabError, SourceKind, additions, fragment};

/// Inputs of a compilation.
#[derive(Debug)]
pub(crate) struct Compilation {
    architecture: Architecture,
    recipe: Recipe,
    kind: SourceKind,
    tree: PathBuf,
    /// Output directory of make; the tree stays unchanged.
    pub(crate) output: PathBuf,
    jobs: NonZeroUsize,
}

/// What of the recipe was applied, and what this source does not know.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    pub(crate) patches: Vec<String>,
    pub(crate) edits_ignored: Vec<String>,
    pub(crate) config_ignored: Vec<String>,
}

impl Compilation {
    /// Provides the source of `origin` in `build_dir`; with `objects`, compiles what has changed
    /// since the last compilation with them, by the times of the files.
    pub(crate) fn of(
        origin: &Origin,
        architecture: Architecture,
        recipe: Recipe,
        jobs: NonZeroUsize,
        objects: Option<&KeptObjects>,
        build_dir: &mut BuildDir<'_>,
    ) -> Result<Self, LabError> {
        if let Some(kept) = objects {
            kept.lend_tree(build_dir)?;
        }
        Ok(Self {
            architecture,
            recipe,
            kind: origin.kind,
            tree: origin.provide(build_dir)?,
            output: match objects {
                Some(kept) => kept.output()?,
                None => build_dir.make_folder("build")?,
            },
            jobs,
        })
    }

    /// The tree that is compiled.
    pub(crate) fn tree(&self) -> &Path {
        &self.tree
    }

    /// Applies patches, edits and the configuration.
    pub(crate) fn prepare(&self, build_dir: &mut BuildDir<'_>) -> Result<Applied, LabError> {
        build_dir.reporter.enter(BuildStage::Configuring);
        Ok(Applied {
            patches: self.patch(build_dir)?,
            edits_ignored: accepted(
                self.kind,
                additions::install(&self.tree, self.recipe.drivers, &self.recipe.edits())?,
                "these edits do not match the kernel's source: ",
                "; ",
            )?,
            config_ignored: self.configure(build_dir)?,
        })
    }

    /// Compiles make's targets `targets`.
    pub(crate) fn compile(
        &self,
        targets: &[&str],
        build_dir: &mut BuildDir<'_>,
    ) -> Result<(), LabError> {
        build_dir.reporter.enter(BuildStage::Compiling);
        let mut make = self.make(build_dir);
        make.arg(format!("-j{}", self.jobs)).args(targets);
        build_dir.run("compile the kernel", make)
    }

    /// A command of make for this source.
    pub(crate) fn make(&self, build_dir: &BuildDir<'_>) -> Command {
        let mut make = build_dir.command("make");
        make.arg("-C").arg(&self.tree);
        make.arg(format!("ARCH={}", self.architecture.make_name()));
        make.arg(joined("O=", &self.output));
        // Neither is used, but their versions would appear in the configuration.
        make.args(["RUSTC=none", "PAHOLE=none"]);
        // For reproducible builds: the same bytes for every user, host and time.
        make.env("KBUILD_BUILD_USER", "fslab")
            .env("KBUILD_BUILD_HOST", "fslab")
            .env("KBUILD_BUILD_TIMESTAMP", "1970-01-01 00:00:00 UTC");
        make
    }

    /// The release by make.
    pub(crate) fn release(&self) -> Result<String, LabError> {
        let release = read(&self.output.join("include/config/kernel.release"))?;
        Ok(release.trim().to_owned())
    }

    /// The path of the complete configuration.
    pub(crate) fn config(&self) -> PathBuf {
        self.output.join(".config")
    }

    /// Patches Debian's source; returns the names of the patches.
    pub(crate) fn patch(&self, build_dir: &mut BuildDir<'_>) -> Result<Vec<String>, LabError> {
        let mut applied = Vec::new();
        let wanted = match self.kind {
            SourceKind::Debian => self.recipe.patches,
            SourceKind::Tree | SourceKind::Tarball | SourceKind::DebianKernel => &[],
        };
        for (name, text) in wanted {
            let file = build_dir.path(name);
            fs::write(&file, text).map_err(LabError::io("write", &file))?;
            let mut patch = build_dir.command("patch");
            patch.args(["--strip=1", "--batch", "--forward", "--directory"]);
            patch.arg(&self.tree).arg("--input").arg(&file);
            build_dir.run("patch the source", patch)?;
            applied.push((*name).to_owned());
        }
        Ok(applied)
    }

    /// Lines for file systems that only newer sources have.
    fn newer_config(&self) -> &'static str {
        // In older sources the symbol is another name of ntfs3.
        match self.tree.join("fs/ntfs/iomap.c").exists() {
            true => "CONFIG_NTFS_FS=y\n",
            false => "",
        }
    }

    /// Applies the configuration; returns the lines that the source does not know.
    fn configure(&self, build_dir: &mut BuildDir<'_>) -> Result<Vec<String>, LabError> {
        let wanted = build_dir.path("fragment");
        let config = [self.recipe.config, self.newer_config()].concat();
        fs::write(&wanted, config).map_err(LabError::io("write", &wanted))?;
        let mut make = self.make(build_dir);
        make.arg(joined("KCONFIG_ALLCONFIG=", &wanted))
            .arg("allnoconfig");
        build_dir.run("configure the kernel", make)?;
        let config = read(&self.config())?;
        Ok(accepted(
            self.kind,
            fragment::lines_without_effect(self.recipe.config, &config),
            CONFIG_REFUSED,
            ", ",
        )?)
    }
}

const CONFIG_REFUSED: &str = "the kernel's source ignores these configuration lines: ";

/// Debian's source must accept the complete configuration and every edit, which are written for it.
/// Other sources may lack file systems, and lines.
fn accepted(
    kind: SourceKind,
    ignored: Vec<String>,
    refused: &str,
    between: &str,
) -> Result<Vec<String>, Failure> {
    match kind {
        SourceKind::Debian if !ignored.is_empty() => {
            let text = format!("{refused}{}", ignored.join(between));
            Err(Failure::unsupported(text))
        }
        SourceKind::Debian | SourceKind::Tree | SourceKind::Tarball | SourceKind::DebianKernel => {
            Ok(ignored)
        }
    }
}

fn joined(name: &str, path: &Path) -> OsString {
    let mut word = OsString::from(name);
    word.push(path);
    word
}

fn read(path: &Path) -> Result<String, LabError> {
    fs::read_to_string(path).map_err(LabError::io("read", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debians_source_must_take_every_line_and_others_need_not() {
        let ignored = || vec!["CONFIG_A=y".to_owned()];
        let refused = accepted(SourceKind::Debian, ignored(), CONFIG_REFUSED, ", ");
        let refused = refused.expect_err("refused");
        assert!(refused.to_string().ends_with("CONFIG_A=y"), "{refused}");
        let kept = accepted(SourceKind::Tree, ignored(), CONFIG_REFUSED, ", ");
        assert_eq!(kept.expect("kept"), ignored());
        assert!(accepted(SourceKind::Debian, Vec::new(), CONFIG_REFUSED, ", ").is_ok());
    }
}
