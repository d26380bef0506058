//! The job `files`: every metadata job of the engine.

use fslab_engine::{
    FileKind, MetadataJob, MetadataOperation, NameStyle, Names, RunContext, run_metadata,
};
use fslab_model::{Bytes, Need};

use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::{ensure_inside, sized_footprint};

/// Longest name with a random part, in bytes.
const STYLED_NAME_BYTES: u32 = 19;

/// The most files that exist at a time.
fn files_max(job: &MetadataJob) -> u64 {
    let trees = if job.base_per_worker { job.threads } else { 1 };
    let of_one = match job.operation {
        MetadataOperation::Turnover => {
            let kept = job.kept_directories.saturating_mul(job.files_per_directory);
            job.files.min(kept)
        }
        _ if job.kind != FileKind::File => 1,
        _ => job.files,
    };
    of_one.saturating_mul(trees.into())
}

impl Job for MetadataJob {
    const NAME: &'static str = "files";
    const RANKS: bool = true;

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        // Validated while planning, before a disk is formatted.
        self.validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        sized_footprint(files_max(self), &self.file_size)
    }

    fn needs(&self) -> Vec<Need> {
        use MetadataOperation as Operation;
        let mut needs = vec![Need::FileBytes(Bytes(self.file_size.longest()))];
        let steps = std::iter::once(&self.operation).chain(&self.then);
        needs.extend(steps.filter_map(|step| match step {
            Operation::Link => Some(Need::HardLinks(2)),
            Operation::Symlink | Operation::Readlink => Some(Need::Symlinks),
            Operation::Chmod | Operation::Chown => Some(Need::Permissions),
            Operation::SetXattr | Operation::GetXattr => Some(Need::ExtendedAttributes),
            _ => None,
        }));
        needs.extend(match self.kind {
            FileKind::File => None,
            FileKind::Link => Some(Need::HardLinks(self.files)),
            FileKind::Symlink => Some(Need::Symlinks),
        });
        needs.extend(
            (self.name_style != NameStyle::Number).then_some(Need::NameBytes(STYLED_NAME_BYTES)),
        );
        needs.extend(match self.names {
            Names::Links => Some(Need::HardLinks(2)),
            Names::Symlinks => Some(Need::Symlinks),
            Names::Files | Names::Renamed => None,
        });
        needs
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, self)?.into())
    }
}
