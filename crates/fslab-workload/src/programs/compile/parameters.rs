//! Parameters of `compile`: which step of which build.

use std::path::{Path, PathBuf};

use fslab_engine::RunContext;
use fslab_model::{Brings, Bytes, InputPlace, PhaseKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::Size as TreeSize;
use super::steps::run_compile;
use super::words::{are_known_flags, is_known_to_make};
use crate::inputs::sha256_of;
use crate::job::Job;
use crate::parameters::ensure_inside;
use crate::programs::ProgramParameters;
use crate::programs::script::line;
use crate::workload::{Finished, RunError};

/// What a build is made with, and the packages of Debian that have it.
pub(super) const TOOLS: [(&str, &str); 4] = [
    ("sh", "dash"),
    ("make", "make"),
    ("cc", "gcc"),
    ("ar", "binutils"),
];
/// What the script `configure` and the Makefile of our own program call besides: each of these
/// packages is on every Debian.
const SCRIPT_TOOLS: [(&str, &str); 3] = [("cp", "coreutils"), ("sed", "sed"), ("grep", "grep")];
/// What other scripts call, where it is installed.
const OF_SCRIPTS: [&str; 11] = [
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
/// tar, and what it starts for a compressed tarball.
const UNPACKERS: [(&str, &str); 5] = [
    ("tar", "tar"),
    ("gzip", "gzip"),
    ("bzip2", "bzip2"),
    ("xz", "xz-utils"),
    ("zstd", "zstd"),
];
/// The most jobs at once that anybody means.
const JOBS_MAX: u32 = 1024;
/// Names of units and headers have so many digits.
const UNITS_MAX: u32 = 9_999;
const HEADERS_MAX: u32 = 999;
const FUNCTIONS_MAX: u32 = 99;
/// What the compiler is told. Between its parts data goes through pipes, so that it leaves its
/// temporary files to the linker.
const CFLAGS: &str = "-O1 -pipe";

/// A step of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    /// The source tree is written, or unpacked by tar.
    Unpack,
    /// `sh ./configure`.
    Configure,
    /// `make`.
    Make,
    /// `make install` into a folder of the file system.
    Install,
    /// `make clean`.
    Clean,
}

/// Parameters of `compile`, which must be the same in all phases of a build, but for `step`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CompileParameters {
    /// What this phase does.
    pub(super) step: Step,
    /// Below the root: the tree is in `src`, temporary files in `tmp`, the installation in `dest`.
    pub(super) directory: PathBuf,
    /// Translation units of the program that is made from the seed.
    pub(super) units: u32,
    /// Its headers.
    pub(super) headers: u32,
    /// Functions of each unit.
    pub(super) functions: u32,
    /// Compilers at once.
    pub(super) jobs: u32,
    /// Instead of that program: a tarball, which may be compressed, by its absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tarball: Option<PathBuf>,
    /// SHA-256 of the tarball: another content under the same name is another plan.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) sha256: String,
    /// Given to configure in the environment. With a tarball: nothing, where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cflags: Option<String>,
    /// More words for configure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) configure_arguments: Vec<String>,
    /// More words for each make.
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

    fn settle(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        for (name, value, most) in [
            ("units", self.units, UNITS_MAX),
            ("headers", self.headers, HEADERS_MAX),
            ("functions", self.functions, FUNCTIONS_MAX),
            ("jobs", self.jobs, JOBS_MAX),
        ] {
            if value == 0 || value > most {
                return Err(format!("{name} = {value}; it must be 1 to {most}"));
            }
        }
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
        // A unit's source and object, its part of an archive and of the program, and those again
        // where they are installed; some file systems round each up to a large block.
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
            // What a foreign configure calls is not known.
            (_, Some(_)) => brings
                .with_required(&TOOLS)
                .with_required(&SCRIPT_TOOLS)
                .with_helpful(OF_SCRIPTS),
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
    /// What is built, where it is not fslab's program, and all words that are not known to do
    /// nothing else than they are for: configure, make and its shells interpret them.
    fn foreign(&self) -> Option<String> {
        let Self {
            step: _,
            // It reaches no shell: see the steps.
            directory: _,
            units: _,
            headers: _,
            functions: _,
            jobs: _,
            tarball,
            // A name among the inputs, and only where it is a digest.
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

/// What tar starts for a tarball of that name, beside itself; nothing for one that is not
/// compressed.
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

/// The digest of the tarball, which must be the one that was `expected`, if one was. Of one that
/// cannot be read nothing is known: the phase will say what is wrong with it.
fn tarball_sha256(path: &Path, expected: &str) -> Result<String, String> {
    match sha256_of(path) {
        Ok(found) if expected.is_empty() || expected == found => Ok(found),
        Ok(found) => Err(format!(
            "tarball = '{}' of SHA-256 {found} where the plan has {expected}: it was changed since",
            path.display()
        )),
        Err(_) => Ok(expected.to_owned()),
    }
}

/// The tarball's length; 0 where it cannot be asked: the phase will say what is wrong with it.
fn tarball_bytes(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(given: serde_json::Value) -> Result<CompileParameters, String> {
        let mut parameters: CompileParameters = serde_json::from_value(given).expect("parameters");
        parameters.settle(Bytes::gib(1)).map(|()| parameters)
    }

    #[test]
    fn the_compiler_of_our_own_program_is_told_to_use_pipes_and_that_of_others_nothing() {
        let ours = settled(serde_json::json!({})).expect("settles");
        assert_eq!(ours.cflags.as_deref(), Some(CFLAGS));
        let theirs = settled(serde_json::json!({ "tarball": "/x.tar.gz" })).expect("settles");
        assert_eq!(theirs.cflags, None);
    }

    #[test]
    fn a_step_brings_the_programs_that_it_starts_and_the_tarball_by_its_content() {
        let names = |brings: &Brings| brings.programs.keys().cloned().collect::<Vec<_>>();
        let ours = |step: &str| {
            let given = serde_json::json!({ "step": step });
            settled(given).expect("settles").brings()
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
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.tar.bz2");
        std::fs::write(&path, "no tarball").expect("written");
        let given = |sha256: &str| serde_json::json!({ "tarball": path, "sha256": sha256 });
        let unpack = settled(given("")).expect("settles");
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
        settled(given(&sha256)).expect("the same");
        let changed = settled(given(&"0".repeat(64))).expect_err("another content");
        assert!(changed.contains("changed since"), "{changed}");
    }

    #[test]
    fn parameters_that_make_no_sense_are_refused_by_name() {
        for (given, word) in [
            (serde_json::json!({ "units": 0 }), "units"),
            (serde_json::json!({ "units": 10_000 }), "units"),
            (serde_json::json!({ "jobs": 0 }), "jobs"),
            (serde_json::json!({ "tarball": "x.tar" }), "absolute"),
            (serde_json::json!({ "cflags": "-DX='a|b'" }), "cflags"),
            (serde_json::json!({ "directory": "/x" }), "path"),
        ] {
            let problem = settled(given).expect_err(word);
            assert!(problem.contains(word), "{problem}");
        }
    }
}
