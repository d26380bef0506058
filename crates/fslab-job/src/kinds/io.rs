//! The job `io`: a data job of the engine with all of its settings.

use std::path::PathBuf;

use fslab_engine::{DataJob, Direction, RunContext, Sharing, lay_out, lays_out, run_data};
use fslab_model::{Bytes, Need, PhaseKind, Size};

use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::ensure_inside;

impl Job for DataJob {
    const NAME: &'static str = "io";
    const RANKS: bool = true;

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.file)?;
        let is_share = self.file_size.is_share();
        let mut bytes = self.file_size.resolve(size)?;
        if is_share && self.sharing == Sharing::Interleaved {
            // Its records are dealt out in full.
            bytes -= bytes % self.record.0;
        }
        self.file_size = Size::Bytes(bytes);
        // Validated while planning, before a disk is formatted.
        self.validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        let files = match self.sharing {
            Sharing::Own => u64::from(self.threads),
            Sharing::Shared | Sharing::Interleaved => 1,
        };
        let end = self.file_size.bytes().saturating_add(self.offset);
        Bytes(end.saturating_mul(files))
    }

    fn data_files(&self, ranks: u32) -> Option<Vec<PathBuf>> {
        Some(self.of_ranks(ranks).files())
    }

    fn needs(&self) -> Vec<Need> {
        let end = self.file_size.bytes().saturating_add(self.offset);
        vec![longest_file(end, self.segment)]
    }

    fn kind(&self) -> Option<PhaseKind> {
        Some(kind_of(self.direction))
    }

    fn lays_out(&self) -> bool {
        lays_out(self)
    }

    fn lay_out(&self, context: &RunContext) -> Result<u64, RunError> {
        Ok(lay_out(context, self)?)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_data(context, self)?.into())
    }
}

/// The kind of a phase with that direction.
pub(super) fn kind_of(direction: Direction) -> PhaseKind {
    match direction {
        Direction::Read => PhaseKind::Read,
        Direction::Write => PhaseKind::Write,
        Direction::Mix { .. } | Direction::Update | Direction::ReadUpdate { .. } => {
            PhaseKind::Mixed
        }
    }
}

/// The file size that a file of `bytes` needs, with or without segments.
pub(super) fn longest_file(bytes: u64, segment: Option<Bytes>) -> Need {
    Need::FileBytes(Bytes(segment.map_or(bytes, |segment| bytes.min(segment.0))))
}
