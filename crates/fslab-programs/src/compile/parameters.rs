//! Parameters of `compile`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::Size as TreeSize;
use super::words::{are_known_flags, is_known_to_make};
use crate::permission::ProgramParameters;
use crate::shell_script::line;

/// Programs of a build, each with its package of Debian.
pub(super) const TOOLS: [(&str, &str); 4] = [
    ("sh", "dash"),
    ("make", "make"),
    ("cc", "gcc"),
    ("ar", "binutils"),
];

/// Limit of parallel jobs.
const JOBS_MAX: u32 = 1024;
/// Limits by the digits of names.
const UNITS_MAX: u32 = 9_999;
const HEADERS_MAX: u32 = 999;
const FUNCTIONS_MAX: u32 = 99;
/// Default flags. With `-pipe`, only the linker writes temporary files.
pub(super) const CFLAGS: &str = "-O1 -pipe";

/// A step of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    /// Write the source tree, or unpack it with tar.
    Unpack,
    /// `sh ./configure`.
    Configure,
    /// `make`.
    Make,
    /// `make install` into a directory of the file system.
    Install,
    /// `make clean`.
    Clean,
}

/// A step of a build with sh, cc and make. All parameters but `step` and `jobs` must be the same in
/// all phases of a build.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CompileParameters {
    /// The step of the build.
    pub(super) step: Step,
    /// The directory of the build, below the root: tree in `src`, temporary files in `tmp`,
    /// installation in `dest`.
    pub(super) directory: PathBuf,
    /// Translation units of the generated program.
    #[schemars(range(min = 1, max = UNITS_MAX))]
    pub(super) units: u32,
    /// Headers of the generated program.
    #[schemars(range(min = 1, max = HEADERS_MAX))]
    pub(super) headers: u32,
    /// Functions of each unit.
    #[schemars(range(min = 1, max = FUNCTIONS_MAX))]
    pub(super) functions: u32,
    /// Parallel jobs of make.
    #[schemars(range(min = 1, max = JOBS_MAX))]
    pub(super) jobs: u32,
    /// Absolute path of a tarball to build instead; it may be compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tarball: Option<PathBuf>,
    /// SHA-256 of the tarball: another content is another plan.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) sha256: String,
    /// CFLAGS for configure; "-O1 -pipe" unless given, and with a tarball none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cflags: Option<String>,
    /// Further arguments of configure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) configure_arguments: Vec<String>,
    /// Further arguments of make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) make_arguments: Vec<String>,
}

impl Default for CompileParameters {
    fn default() -> Self {
        Self {
            step: Step::Unpack,
            directory: "compile".into(),
            units: 300,
            headers: 120,
            functions: 12,
            jobs: 1,
            tarball: None,
            sha256: String::new(),
            cflags: None,
            configure_arguments: Vec::new(),
            make_arguments: Vec::new(),
        }
    }
}

impl CompileParameters {
    pub(super) fn size(&self) -> TreeSize {
        let number = |number: u32| number as usize;
        TreeSize {
            units: number(self.units),
            headers: number(self.headers),
            functions: number(self.functions),
        }
    }
}

impl ProgramParameters for CompileParameters {
    /// The tarball, and all words that are not known as harmless: configure, make and its shells
    /// interpret them.
    fn foreign(&self) -> Option<String> {
        let Self {
            step: _,
            // It reaches no shell: see `Build::destdir`.
            directory: _,
            units: _,
            headers: _,
            functions: _,
            jobs: _,
            tarball,
            // Only used as a digest.
            sha256: _,
            cflags,
            configure_arguments,
            make_arguments,
        } = self;
        let mut texts = Vec::new();
        if let Some(path) = tarball {
            texts.push(format!("configure and make of {}", path.display()));
        }
        if let Some(flags) = cflags.as_ref().filter(|flags| !are_known_flags(flags)) {
            texts.push(format!("cc with cflags = {flags:?}"));
        }
        if !configure_arguments.is_empty() {
            let words = line(configure_arguments);
            texts.push(format!("configure with configure_arguments {words}"));
        }
        let is_foreign = |word: &&String| !is_known_to_make(word, JOBS_MAX);
        let words: Vec<_> = make_arguments.iter().filter(is_foreign).cloned().collect();
        if !words.is_empty() {
            texts.push(format!("make with make_arguments {}", line(&words)));
        }
        (!texts.is_empty()).then(|| texts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use fslab_job::Job;
    use fslab_model::{Brings, InputPlace};

    use super::*;

    fn resolved(given: &serde_json::Value) -> Result<CompileParameters, String> {
        crate::resolved::resolved(given)
    }

    #[test]
    fn the_generated_program_has_default_cflags_and_a_tarball_has_none() {
        let ours = resolved(&serde_json::json!({})).expect("resolves");
        assert_eq!(ours.cflags.as_deref(), Some(CFLAGS));
        let theirs = resolved(&serde_json::json!({ "tarball": "/x.tar.gz" })).expect("resolves");
        assert_eq!(theirs.cflags, None);
    }

    #[test]
    fn a_step_brings_the_programs_that_it_starts_and_the_tarball_by_its_content() {
        let names = |brings: &Brings| brings.programs.keys().cloned().collect::<Vec<_>>();
        let ours = |step: &str| {
            let given = serde_json::json!({ "step": step });
            resolved(&given).expect("resolves").brings()
        };
        assert!(ours("unpack").is_empty(), "fslab writes the tree");
        for step in ["configure", "make", "install", "clean"] {
            let brings = ours(step);
            assert_eq!(
                names(&brings),
                ["ar", "cc", "cp", "grep", "make", "sed", "sh"]
            );
            assert!(brings.programs.values().all(|it| it.is_required));
        }
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("x.tar.bz2");
        std::fs::write(&path, "no tarball").expect("written");
        let given = |sha256: &str| serde_json::json!({ "tarball": path, "sha256": sha256 });
        let unpack = resolved(&given("")).expect("resolves");
        let brings = unpack.brings();
        assert_eq!(names(&brings), ["bzip2", "tar"]);
        let sha256 = unpack.sha256.clone();
        assert_eq!(sha256.len(), 64);
        assert_eq!(
            brings.files[&path],
            InputPlace::Content {
                sha256: sha256.clone()
            }
        );
        resolved(&given(&sha256)).expect("the same");
        let changed = resolved(&given(&"0".repeat(64))).expect_err("another content");
        assert!(changed.contains("changed since"), "{changed}");
    }

    #[test]
    fn invalid_parameters_are_refused_by_name() {
        for (given, word) in [
            (serde_json::json!({ "units": 0 }), "units"),
            (serde_json::json!({ "units": 10_000 }), "units"),
            (serde_json::json!({ "jobs": 0 }), "jobs"),
            (serde_json::json!({ "tarball": "x.tar" }), "absolute"),
            (serde_json::json!({ "cflags": "-DX='a|b'" }), "cflags"),
            (serde_json::json!({ "directory": "/x" }), "path"),
        ] {
            let problem = resolved(&given).expect_err(word);
            assert!(problem.contains(word), "{problem}");
        }
    }
}
