//! Runs fslab in virtual time, with its own store and directory of images.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use fslab_model::RunRecord;
use serde_json::Value;

use super::footprint::{Footprint, Watch};
use crate::error::BenchError;

/// The command fslab, and where it may write.
pub(crate) struct Session {
    fslab: PathBuf,
    scratch: tempfile::TempDir,
    images: tempfile::TempDir,
}

/// A comparison to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison<'a> {
    /// A study's name, or the path of its file.
    pub(crate) study: &'a str,
    /// The profile.
    pub(crate) disk: &'a str,
    /// File systems.
    pub(crate) subjects: &'a [String],
    /// Their size where it is not the study's.
    pub(crate) size: Option<&'a str>,
    /// Guests at a time; `None` for one a processor.
    pub(crate) jobs: Option<u32>,
}

/// What a comparison left.
pub(crate) struct Compared {
    pub(crate) record: RunRecord,
    /// Real time of the command.
    pub(crate) real_ns: u64,
    /// What images and traces took.
    pub(crate) footprint: Footprint,
}

impl Session {
    /// With images in a new directory in `folder`.
    pub(crate) fn open(fslab: &Path, folder: &Path) -> Result<Self, BenchError> {
        let make = |parent: &Path| {
            tempfile::Builder::new()
                .prefix("fslab-bench-")
                .tempdir_in(parent)
                .map_err(|e| BenchError::io("make a directory in", parent, e))
        };
        Ok(Self {
            fslab: fslab.to_owned(),
            scratch: make(&std::env::temp_dir())?,
            images: make(folder)?,
        })
    }

    pub(crate) fn version(&self) -> Result<String, BenchError> {
        let output = self.output(&["--version".to_owned()])?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// The parameters of a disk's model, lines of `name=value`.
    pub(crate) fn model(&self, disk: &str) -> Result<String, BenchError> {
        let words = ["disk", "show", disk, "--json"].map(str::to_owned);
        let output = self.output(&words)?;
        let document: Value = serde_json::from_slice(&output.stdout)
            .map_err(|e| BenchError::output("fslab disk show", e.to_string()))?;
        let parameters = document["parameters"]
            .as_object()
            .ok_or_else(|| BenchError::output("fslab disk show", "no parameters"))?;
        let mut text = String::new();
        for (name, value) in parameters {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(text, "{name}={value}");
        }
        Ok(text)
    }

    /// Runs `comparison`. Trials may fail: their records say so.
    pub(crate) fn compare(&self, comparison: &Comparison<'_>) -> Result<Compared, BenchError> {
        let watch = Watch::start(self.images.path());
        let began = Instant::now();
        let output = self.output(&self.arguments(comparison));
        let real_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let footprint = watch.end();
        let output = output?;
        let record = serde_json::from_slice(&output.stdout).map_err(|_| BenchError::Command {
            command: format!("fslab compare --study {}", comparison.study),
            status: output.status.to_string(),
            output: String::from_utf8_lossy(&output.stderr).into_owned(),
        })?;
        Ok(Compared {
            record,
            real_ns,
            footprint,
        })
    }

    fn arguments(&self, comparison: &Comparison<'_>) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        let mut words = vec!["compare".to_owned()];
        words.extend(comparison.subjects.iter().cloned());
        let jobs = comparison.jobs.map(|jobs| jobs.to_string());
        let options = [
            ("--study", Some(comparison.study.to_owned())),
            ("--venue", Some("sim".to_owned())),
            ("--disk", Some(comparison.disk.to_owned())),
            ("--repeats", Some("1".to_owned())),
            ("--images", Some(path(self.images.path()))),
            ("--store", Some(path(&self.scratch.path().join("store.db")))),
            ("--size", comparison.size.map(str::to_owned)),
            ("--jobs", jobs),
        ];
        for (name, value) in options {
            words.extend(value.into_iter().flat_map(|it| [name.to_owned(), it]));
        }
        words.push("--json".to_owned());
        words
    }

    /// Reports land in the scratch directory, which is where fslab is started.
    fn output(&self, words: &[String]) -> Result<Output, BenchError> {
        Command::new(&self.fslab)
            .args(words)
            .current_dir(self.scratch.path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .map_err(|e| BenchError::io("run", &self.fslab, e))
    }
}
