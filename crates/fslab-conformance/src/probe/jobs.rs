//! The probes as jobs: their defaults, what they need, and what runs them.

use std::path::PathBuf;

use fslab_engine::RunContext;
use fslab_job::{Finished, Job, RunError, ensure_inside, tree_footprint};
use fslab_model::{Bytes, Need, Size};

use super::inline::inline_probe;
use super::inline_gain::inline_read;
use super::parameters::{InlineParameters, InlinePart, PrefetchParameters};
use super::readahead::prefetch;

/// Limit of the duration of a phase.
const READS_MAX: u64 = 1 << 20;

/// Limit of the sizes tried.
const SIZES_MAX: u64 = 1 << 16;

impl Job for PrefetchParameters {
    const NAME: &'static str = "prefetch";

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.file)?;
        let bytes = self.file_size.resolve(size)?;
        if !self.block.0.is_multiple_of(512) {
            return Err(format!(
                "block = {}; a block is a multiple of 512 B",
                self.block
            ));
        }
        let blocks = bytes / self.block.0;
        if blocks == 0 || blocks > READS_MAX {
            return Err(format!(
                "file_size = {} and block = {}; a file has 1 to {READS_MAX} blocks",
                Bytes(bytes),
                self.block
            ));
        }
        self.file_size = Size::Bytes(blocks * self.block.0);
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        Bytes(self.file_size.bytes())
    }

    fn data_files(&self, _ranks: u32) -> Option<Vec<PathBuf>> {
        Some(vec![self.file.clone()])
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(self.file_size.bytes()))]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        prefetch(self, context)
    }
}

impl Job for InlineParameters {
    const NAME: &'static str = "inline";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        let sizes = self.largest.0 / self.step.0;
        if sizes == 0 || sizes > SIZES_MAX {
            return Err(format!(
                "largest = {} and step = {}; there must be 1 to {SIZES_MAX} steps",
                self.largest, self.step
            ));
        }
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        let probed = self.largest.0.checked_div(self.step.0).unwrap_or(0);
        let gain = tree_footprint(self.files.saturating_mul(2), self.largest.0);
        let probed = tree_footprint(probed, self.largest.0);
        Bytes(gain.0.saturating_add(probed.0))
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(self.largest)]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        match self.part {
            InlinePart::Probe => inline_probe(self, context),
            InlinePart::Read => inline_read(self, context),
        }
    }
}
