//! Building as a job: its defaults, what it needs, and what runs it.

use std::path::Path;

use fslab_engine::RunContext;
use fslab_job::{Finished, Job, RunError, ensure_inside, sha256_of};
use fslab_model::{Brings, Bytes, InputPlace, PhaseKind};

use super::parameters::{CFLAGS, CompileParameters, Step, TOOLS};
use super::steps::run_compile;
use crate::permission::ProgramParameters;

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
