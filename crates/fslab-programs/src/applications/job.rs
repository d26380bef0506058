//! The personalities as a job: its defaults, what it needs, and what runs it.

use fslab_engine::RunContext;
use fslab_job::{Finished, Job, RunError, ensure_inside};
use fslab_model::{Bytes, Need};

use super::parameters::PersonalityParameters;
use super::personality::play;

/// Least files of a thread: one that exists and one that does not.
const FILES_EACH_MIN: u64 = 2;

impl Job for PersonalityParameters {
    const NAME: &'static str = "personality";
    const ZERO_IS_DEFAULT: &'static [&'static str] = &[
        "directory",
        "mean_size",
        "directory_width",
        "present_percent",
    ];

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
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
        if self.files < u64::from(self.threads) * FILES_EACH_MIN {
            return Err(format!(
                "files = {}; each of the {} threads needs {FILES_EACH_MIN}",
                self.files, self.threads
            ));
        }
        self.flow.validate()
    }

    fn footprint(&self) -> Bytes {
        // A quarter more for the long tail of the gamma distribution; appended data stays unless
        // files are deleted.
        let files = self.files.saturating_mul(self.each());
        let appended = match self.flow.removes_files() {
            true => 0,
            false => self.operations.saturating_mul(self.append.0),
        };
        Bytes(files.saturating_mul(5) / 4 + appended / 2)
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(self.mean_size.0.saturating_mul(16)))]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        play(self, context)
    }
}
