//! Git as a job: its limits, what it needs, and what runs it.

use fslab_engine::RunContext;
use fslab_job::{Finished, Job, RunError, ensure_inside};
use fslab_model::{Brings, Bytes};

use super::parameters::GitParameters;
use super::steps::run_git;

impl Job for GitParameters {
    const NAME: &'static str = "git";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        if self.changes > self.files {
            let Self { files, changes, .. } = self;
            return Err(format!("changes = {changes}, more than files = {files}"));
        }
        Ok(())
    }

    /// The stream, the packs of both repositories, and the working tree.
    fn footprint(&self) -> Bytes {
        let versions = u64::from(self.commits) * u64::from(self.changes);
        let files = u64::from(self.files);
        Bytes((files * 5 + versions * 3) << 13)
    }

    /// Without git the phase is skipped, also in a guest.
    fn brings(&self) -> Brings {
        Brings::default().with_helpful(["git", "sh"])
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        run_git(self, context)
    }
}
