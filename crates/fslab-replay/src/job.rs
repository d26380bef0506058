//! Replaying as a job: what it needs, and what runs it.

use fslab_engine::RunContext;
use fslab_job::{Finished, Job, RunError, ensure_inside};
use fslab_model::{Brings, Bytes, InputPlace, Need};

use super::parameters::ReplayParameters;
use super::phase::replay;
use super::source::Source;

impl Job for ReplayParameters {
    const NAME: &'static str = "replay";
    const FOREIGN_NAMES: bool = true;

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        // A guest has the file by its digest, and not at the path of the host.
        if !Source::is_brought(&self.sha256) {
            self.trace = Source::absolute(&self.trace)?;
        }
        let source = Source::planned(&self.trace, &self.sha256)?;
        self.sha256 = source.sha256;
        self.footprint = Bytes(source.trace.footprint_bytes());
        self.largest = Bytes(source.trace.largest_bytes());
        self.symlinks = source.trace.has_symlinks();
        self.hard_links = source.trace.has_hard_links();
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        self.footprint
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::FileBytes(self.largest)];
        needs.extend(self.symlinks.then_some(Need::Symlinks));
        needs.extend(self.hard_links.then_some(Need::HardLinks(2)));
        needs
    }

    fn brings(&self) -> Brings {
        if Source::is_sample(&self.trace) {
            return Brings::default();
        }
        let sha256 = self.sha256.clone();
        Brings::default().with_file(self.trace.clone().into(), InputPlace::Content { sha256 })
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        replay(self, context)
    }
}
