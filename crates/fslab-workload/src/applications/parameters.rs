//! Parameters that applications share.

use std::path::PathBuf;

use fslab_engine::RunContext;
use fslab_model::{Bytes, Need};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow::Flow;
use super::personality::play;
use crate::job::Job;
use crate::parameters::{Size, ensure_inside};
use crate::workload::{Finished, RunError};

/// Which part of an application's phase is run: with two phases, the files can be made in one and
/// be cold in the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// Its files are made, and then it is timed.
    #[default]
    All,
    /// Its files are made, which is timed, and nothing else.
    Prepare,
    /// It is timed, with the files that an earlier phase of the same parameters has made.
    Play,
}

/// A set of files, and threads that repeat a loop of operations on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PersonalityParameters {
    /// The directory of the files, below the root.
    pub(crate) directory: PathBuf,
    /// How many files; 0 for as many as fit into half of the file system, at most `files_max`.
    pub(crate) files: u64,
    /// Their mean size in bytes; sizes have a gamma distribution of shape 1.5.
    #[schemars(with = "Size")]
    pub(crate) mean_size: Bytes,
    /// Files in a directory, and directories in one: at least 1.
    pub(crate) directory_width: u64,
    /// Percent of the files that exist at the beginning: 0 to 100.
    pub(crate) present_percent: u64,
    /// Threads: at most 4096, with two files each; 0 for as many as that allows, at most
    /// `threads_max`.
    pub(crate) threads: u32,
    /// Loops of all threads together, which take them from one pool; 0 for one per file.
    pub(crate) operations: u64,
    /// No loop begins after so many seconds; 0 for no such limit.
    pub(crate) seconds: u64,
    /// The most bytes of one append: 1 B to 64 MiB.
    #[schemars(with = "Size")]
    pub(crate) append: Bytes,
    /// The most bytes of one read(2) or write(2): 1 B to 64 MiB.
    #[schemars(with = "Size")]
    pub(crate) record: Bytes,
    /// "all", "prepare" (only make the files) or "play" (use the files of an earlier phase).
    pub(crate) part: Part,
    /// The most files where the study does not say how many.
    pub(crate) files_max: u64,
    /// The most threads where the study does not say how many.
    pub(crate) threads_max: u32,
    /// What each thread repeats.
    #[serde(rename = "loop")]
    pub(crate) flow: Flow,
}

/// Room that a file takes beside its data.
const FILE_ROOM: u64 = 8 << 10;
/// The fewest files of a thread: some that are there, and one that is not.
const FILES_EACH_MIN: u64 = 2;
/// More threads are a slip of the finger.
const THREADS_MAX: u32 = 4096;
const RECORD_MAX: Bytes = Bytes::mib(64);

impl Default for PersonalityParameters {
    fn default() -> Self {
        Self {
            directory: "personality".into(),
            files: 0,
            mean_size: Bytes::kib(16),
            directory_width: 20,
            present_percent: 80,
            threads: 0,
            operations: 0,
            seconds: 0,
            append: Bytes::kib(16),
            record: Bytes::mib(1),
            part: Part::default(),
            files_max: 1_000,
            threads_max: 1,
            flow: Flow::default(),
        }
    }
}

impl PersonalityParameters {
    /// Those of a built-in workload.
    #[cfg(test)]
    pub(super) fn built_in(name: &str) -> Self {
        let workload = crate::find(name).expect("is built in");
        let defaults = workload.definition().defaults.clone();
        crate::parameters::from_map(&defaults).expect("parameters of a personality")
    }

    /// Bytes that a file takes on the average, with what it may grow by.
    fn each(&self) -> u64 {
        (self.mean_size.0)
            .saturating_add(self.append.0)
            .saturating_add(FILE_ROOM)
    }
}

impl Job for PersonalityParameters {
    const NAME: &'static str = "personality";
    const ZERO_IS_DEFAULT: &'static [&'static str] = &[
        "directory",
        "mean_size",
        "directory_width",
        "present_percent",
    ];

    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        if self.files == 0 {
            let fitting = size.0 / 2 / self.each().max(1);
            self.files = self.files_max.min(fitting).max(FILES_EACH_MIN);
        }
        if self.threads == 0 {
            let most = u32::try_from(self.files / FILES_EACH_MIN).unwrap_or(u32::MAX);
            self.threads = self.threads_max.min(most).max(1);
        }
        if self.operations == 0 {
            self.operations = self.files;
        }
        if self.threads > THREADS_MAX {
            return Err(format!("threads = {}; at most {THREADS_MAX}", self.threads));
        }
        if self.files < u64::from(self.threads) * FILES_EACH_MIN {
            return Err(format!(
                "files = {}; each of the {} threads needs {FILES_EACH_MIN}",
                self.files, self.threads
            ));
        }
        if self.files > u64::from(u32::MAX) {
            return Err(format!("files = {}; at most {}", self.files, u32::MAX));
        }
        if self.present_percent > 100 {
            return Err(format!(
                "present_percent = {}; at most 100",
                self.present_percent
            ));
        }
        for (name, value) in [("record", self.record), ("append", self.append)] {
            if value.0 == 0 || value > RECORD_MAX {
                return Err(format!("{name} = {value}; it is 1 B to {RECORD_MAX}"));
            }
        }
        self.flow.validate()
    }

    fn footprint(&self) -> Bytes {
        // A gamma distribution has a long tail; and what is appended stays where nothing is
        // deleted.
        let files = self.files.saturating_mul(self.each());
        let appended = self.operations.saturating_mul(self.append.0);
        Bytes(files.saturating_mul(5) / 4 + appended / 2)
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(self.mean_size.0.saturating_mul(16)))]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        play(self, context)
    }
}
