//! The commands of fslab, with a cache of labs and a store in the directory of the run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::catalogue::Mutant;
use super::verdict::Judged;
use crate::exact::cannot;

/// The same order and the same contents in every run.
const SEED: &str = "1";
/// Real time for a trial of seconds, on a busy machine: a fault may keep the kernel busy for ever.
const TRIAL_LIMIT: &str = "10m";

/// The program, and the directory in which everything is kept.
pub(crate) struct Fslab {
    pub(crate) program: PathBuf,
    pub(crate) work: PathBuf,
}

impl Fslab {
    /// Unpacks the default kernel's source into `folder`, unless it is there.
    pub(crate) fn unpack_source(&self, folder: &Path) -> Result<(), String> {
        if folder.exists() {
            return Ok(());
        }
        self.output(&["lab", "source", &text(folder)]).map(drop)
    }

    /// Builds the lab `name` of `source`; objects stay for the next one.
    pub(crate) fn build(&self, name: &str, source: &Path) -> Result<(), String> {
        let (source, objects) = (text(source), text(&self.work.join("objects")));
        let words = ["--source", &source, "--objects", &objects];
        let words = [&["lab", "build", "--name", name][..], &words].concat();
        self.output(&words).map(drop)
    }

    /// Runs a study with the lab `kernel`; returns the log of its disk.
    pub(crate) fn record(
        &self,
        subject: &str,
        study: &str,
        kernel: &str,
        folder: &str,
    ) -> Result<PathBuf, String> {
        let logs = self.work.join("logs").join(folder);
        if logs.exists() {
            fs::remove_dir_all(&logs).map_err(|error| cannot("remove", &logs, &error))?;
        }
        fs::create_dir_all(&logs).map_err(|error| cannot("make", &logs, &error))?;
        let to = text(&logs);
        let run = ["--venue", "sim", "--lab", kernel, "--record-disk", &to];
        let repeats = [
            "--repeats",
            "1",
            "--seed",
            SEED,
            "--trial-limit",
            TRIAL_LIMIT,
        ];
        let words = [&["compare", subject, "--study", study][..], &run, &repeats].concat();
        self.output(&words)?;
        let listed = logs
            .read_dir()
            .map_err(|error| cannot("read", &logs, &error))?;
        let files = listed.filter_map(|entry| Some(entry.ok()?.path()));
        let mut found = files.filter(|path| path.extension().is_some_and(|end| end == "disklog"));
        found
            .next()
            .ok_or_else(|| format!("{subject} with {kernel} has left no log in {to}"))
    }

    /// Judges the states of a log with the lab `kernel`, as the mutant wants it.
    pub(crate) fn judge(
        &self,
        log: &Path,
        kernel: &str,
        mutant: &Mutant,
        states_max: usize,
    ) -> Result<Judged, String> {
        let (log, states) = (text(log), states_max.to_string());
        let mut words = vec!["crash", "judge", &log, "--json", "--lab", kernel];
        words.extend(["--max-states", &states]);
        for (option, value) in [("--phase", &mutant.phase), ("--cache", &mutant.cache)] {
            if let Some(value) = value {
                words.extend([option, value]);
            }
        }
        Judged::parse(&self.output(&words)?)
    }

    /// What a command prints; an error has the end of its errors.
    fn output(&self, words: &[&str]) -> Result<Vec<u8>, String> {
        let mut command = Command::new(&self.program);
        command.args(words).arg("--no-config").stdin(Stdio::null());
        // Reports are written where the command runs.
        command.current_dir(&self.work);
        for (variable, folder) in [
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_STATE_HOME", "state"),
        ] {
            command.env(variable, self.work.join(folder));
        }
        let output = command.output();
        let output =
            output.map_err(|error| format!("cannot start {}: {error}", self.program.display()))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = errors.lines().rev().take(ERROR_LINES).collect();
        let lines: Vec<&str> = lines.into_iter().rev().collect();
        let name = words.join(" ");
        Err(format!(
            "fslab {name}: {}\n{}",
            output.status,
            lines.join("\n")
        ))
    }
}

const ERROR_LINES: usize = 12;

fn text(path: &Path) -> String {
    path.display().to_string()
}
