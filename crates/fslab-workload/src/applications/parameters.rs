//! Parameters that applications share.

use std::path::PathBuf;

use fslab_model::{Bytes, Need};
use serde::{Deserialize, Serialize};

use crate::parameters::demand_inside;
use crate::workload::WorkloadParameters;

/// Which part of an application's phase is run: with two phases, the files can be made in one and
/// be cold in the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// Parameters of a personality. What is 0 is the original's number, or as much of it as fits into
/// half of the file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PersonalityParameters {
    /// Where the files are, below the root.
    pub(crate) directory: PathBuf,
    /// How many.
    pub(crate) files: u64,
    /// Their mean size; sizes have a gamma distribution of shape 1.5.
    pub(crate) mean_size: Bytes,
    /// Files in a directory, and directories in one.
    pub(crate) directory_width: u64,
    /// How many of the files are there at the beginning.
    pub(crate) present_percent: u64,
    pub(crate) threads: u32,
    /// Loops of all threads together, which take them from one pool.
    pub(crate) operations: u64,
    /// No loop begins after so many seconds; 0 for no such limit.
    pub(crate) seconds: u64,
    /// The most that is appended at once.
    pub(crate) append: Bytes,
    /// The most that is read or written at once.
    pub(crate) record: Bytes,
    pub(crate) part: Part,
}

/// What a personality's original has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Original {
    pub(crate) directory: &'static str,
    pub(crate) files: u64,
    pub(crate) mean_bytes: u64,
    pub(crate) directory_width: u64,
    pub(crate) present_percent: u64,
    pub(crate) threads: u32,
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
            directory: PathBuf::new(),
            files: 0,
            mean_size: Bytes(0),
            directory_width: 0,
            present_percent: 0,
            threads: 0,
            operations: 0,
            seconds: 0,
            append: Bytes::kib(16),
            record: Bytes::mib(1),
            part: Part::default(),
        }
    }
}

impl PersonalityParameters {
    /// Takes the original's numbers where the study has none; the number of files is settled when
    /// the size of the file system is known.
    pub(crate) fn complete(&mut self, original: &Original) {
        if self.directory.as_os_str().is_empty() {
            self.directory = original.directory.into();
        }
        let or = |value: &mut u64, of_original: u64| {
            if *value == 0 {
                *value = of_original;
            }
        };
        or(&mut self.mean_size.0, original.mean_bytes);
        or(&mut self.directory_width, original.directory_width);
        or(&mut self.present_percent, original.present_percent);
        // Numbers that depend on the size have their bound in the original.
        if self.files == 0 {
            self.files = original.files | UNSETTLED;
        }
        if self.threads == 0 {
            self.threads = original.threads | UNSETTLED_THREADS;
        }
    }

    /// Bytes that a file takes on the average, with what it may grow by.
    fn each(&self) -> u64 {
        (self.mean_size.0)
            .saturating_add(self.append.0)
            .saturating_add(FILE_ROOM)
    }
}

/// Marks a number that is a bound yet, not a choice.
const UNSETTLED: u64 = 1 << 63;
const UNSETTLED_THREADS: u32 = 1 << 31;

impl WorkloadParameters for PersonalityParameters {
    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        demand_inside(&self.directory)?;
        if self.files & UNSETTLED != 0 {
            let fitting = size.0 / 2 / self.each().max(1);
            self.files = (self.files & !UNSETTLED).min(fitting).max(FILES_EACH_MIN);
        }
        if self.threads & UNSETTLED_THREADS != 0 {
            let most = u32::try_from(self.files / FILES_EACH_MIN).unwrap_or(u32::MAX);
            self.threads = (self.threads & !UNSETTLED_THREADS).min(most).max(1);
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
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        // A gamma distribution has a long tail; and what is appended stays where nothing is
        // deleted.
        let files = self.files.saturating_mul(self.each());
        let appended = self.operations.saturating_mul(self.append.0);
        Bytes(files.saturating_mul(5) / 4 + appended / 2)
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        None
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(self.mean_size.0.saturating_mul(16)))]
    }
}
