//! Parameters of `compile`.

use std::path::{Path, PathBuf};

use fslab_engine::RunContext;
use fslab_job::{Finished, Job, RunError, ensure_inside, sha256_of};
use fslab_model::{Brings, Bytes, InputPlace, PhaseKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::Size as TreeSize;
use super::steps::run_compile;
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
/// Further programs of the generated program's `configure` and Makefile; every Debian has them.
const SCRIPT_TOOLS: [(&str, &str); 3] = [("cp", "coreutils"), ("sed", "sed"), ("grep", "grep")];
/// Programs that other configure scripts call if they are installed.
const CONFIGURE_TOOLS: [&str; 11] = [
    "awk",
    "bash",
    "c++",
    "diff",
    "expr",
    "file",
    "find",
    "hostname",
    "m4",
    "perl",
    "pkg-config",
];
/// tar, and the programs that it starts for a compressed tarball.
const UNPACKERS: [(&str, &str); 5] = [
    ("tar", "tar"),
    ("gzip", "gzip"),
    ("bzip2", "bzip2"),
    ("xz", "xz-utils"),
    ("zstd", "zstd"),
];
/// Limit of parallel jobs.
const JOBS_MAX: u32 = 1024;
/// Limits by the digits of names.
const UNITS_MAX: u32 = 9_999;
const HEADERS_MAX: u32 = 999;
const FUNCTIONS_MAX: u32 = 99;
/// Default flags. With `-pipe`, only the linker writes temporary files.
const CFLAGS: &str = "-O1 -pipe";

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

impl Job for CompileParameters {
    const NAME: &'static str = "compile";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        match &self.tarball {
            Some(path) if !path.is_absolute() => {
                let path = path.display();
                return Err(format!("tarball = '{path}'; it must be an absolute path"));
            }
            Some(path) if path.as_os_str().as_encoded_bytes().contains(&0) => {
                return Err("tarball with a NUL character in it".to_owned());
            }
            Some(path) => self.sha256 = tarball_sha256(path, &self.sha256)?,
            None => {
                self.cflags.get_or_insert_with(|| CFLAGS.to_owned());
            }
        }
        for (name, words) in [
            ("configure_arguments", &self.configure_arguments),
            ("make_arguments", &self.make_arguments),
        ] {
            if words.iter().any(|word| word.contains('\0')) {
                return Err(format!("{name} with a NUL character in it"));
            }
        }
        let is_bad = |flags: &String| flags.contains(['|', '\\', '\n', '\0']);
        match self.cflags.as_ref().filter(|flags| is_bad(flags)) {
            Some(flags) => Err(format!("cflags = {flags:?}; no |, \\ or line break in it")),
            None => Ok(()),
        }
    }

    fn footprint(&self) -> Bytes {
        if let Some(path) = &self.tarball {
            return Bytes(tarball_bytes(path).saturating_mul(4));
        }
        // A unit's source, object, and part of an archive and of the program, the latter two also
        // installed; some file systems round each up to a large block.
        let small = u64::from(self.units) * (48 + u64::from(self.functions)) + 16 * 1024;
        Bytes((small + u64::from(self.headers) * 16) << 10)
    }

    fn brings(&self) -> Brings {
        let brings = Brings::default();
        match (self.step, &self.tarball) {
            (Step::Unpack, None) => brings,
            (Step::Unpack, Some(path)) => {
                let sha256 = self.sha256.clone();
                brings
                    .with_required(&UNPACKERS[..1])
                    .with_required(unpacker(path))
                    .with_file(path.clone(), InputPlace::Content { sha256 })
            }
            (_, None) => brings.with_required(&TOOLS).with_required(&SCRIPT_TOOLS),
            // A foreign configure may call any program.
            (_, Some(_)) => brings
                .with_required(&TOOLS)
                .with_required(&SCRIPT_TOOLS)
                .with_helpful(CONFIGURE_TOOLS),
        }
    }

    fn kind(&self) -> Option<PhaseKind> {
        Some(match self.step {
            Step::Unpack => PhaseKind::Write,
            Step::Configure | Step::Make | Step::Install | Step::Clean => PhaseKind::Metadata,
        })
    }

    fn foreign(&self) -> Option<String> {
        ProgramParameters::foreign(self)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        run_compile(self, context)
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

/// The program that tar starts for a tarball of that name; none if it is not compressed.
fn unpacker(path: &Path) -> &'static [(&'static str, &'static str)] {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or("");
    match extension {
        "gz" | "tgz" => &UNPACKERS[1..2],
        "bz2" | "tbz" | "tbz2" => &UNPACKERS[2..3],
        "xz" | "txz" | "lzma" => &UNPACKERS[3..4],
        "zst" | "tzst" => &UNPACKERS[4..5],
        _ => &[],
    }
}

/// The digest of the tarball; an error if another one was `expected`. An unreadable tarball is no
/// error here, since the phase will report it.
fn tarball_sha256(path: &Path, expected: &str) -> Result<String, String> {
    match sha256_of(path) {
        Ok(found) if expected.is_empty() || expected == found => Ok(found),
        Ok(found) => Err(format!(
            "tarball = '{}' of SHA-256 {found} where the plan has {expected}: it has changed since",
            path.display()
        )),
        Err(_) => Ok(expected.to_owned()),
    }
}

/// The tarball's length; 0 if it cannot be read, which the phase will report.
fn tarball_bytes(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

#[cfg(test)]
mod tests {
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
