//! Parameters of the probes.

use std::path::PathBuf;

use fslab_engine::RunContext;
use fslab_job::{Finished, Job, RunError, ensure_inside, tree_footprint};
use fslab_model::{Bytes, Need, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inline::inline_probe;
use super::inline_gain::inline_read;
use super::readahead::prefetch;

/// Limit of the duration of a phase.
const READS_MAX: u64 = 1 << 20;
/// Limit of the sizes tried.
const SIZES_MAX: u64 = 1 << 16;
/// Longest wait for a stable count, in milliseconds.
const WAIT_MS_MAX: u64 = 10_000;

/// Reads a cold file block by block, and counts which other blocks each read brings in.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PrefetchParameters {
    /// Path below the file system's root. Created if it is missing or of another size.
    pub(crate) file: PathBuf,
    /// Size of the file, or a share of the file system's size.
    pub(crate) file_size: Size,
    /// Bytes per read: a multiple of 512.
    #[schemars(extend("minimum" = 512))]
    pub(crate) block: Bytes,
    /// The order of blocks.
    pub(crate) order: ReadOrder,
    /// Milliseconds for which the count of resident pages must be stable.
    #[schemars(range(min = 1, max = WAIT_MS_MAX))]
    pub(crate) wait_ms: u64,
}

/// The order in which blocks are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReadOrder {
    /// From the first to the last.
    Sequential,
    /// Each once, in an order derived from the seed.
    Random,
}

impl Default for PrefetchParameters {
    fn default() -> Self {
        Self {
            file: "prefetch".into(),
            file_size: Size::Written("4MiB".into()),
            block: Bytes::kib(4),
            order: ReadOrder::Sequential,
            wait_ms: 20,
        }
    }
}

impl PrefetchParameters {
    /// Number of blocks of the file.
    pub(crate) fn blocks(&self) -> u64 {
        self.file_size.bytes() / self.block.0.max(1)
    }
}

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

/// Finds the largest file without a separate data block and creates files of that size, or reads
/// them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct InlineParameters {
    /// The directory of the files, below the file system's root.
    pub(crate) directory: PathBuf,
    /// The largest size tried.
    pub(crate) largest: Bytes,
    /// Distance between sizes, before the threshold is bisected to the byte.
    #[schemars(extend("minimum" = 1))]
    pub(crate) step: Bytes,
    /// Files of the threshold's size, and as many of one byte more, that measure the gain; 0 for
    /// none.
    pub(crate) files: u64,
    /// Files in each directory; 0 for all in one.
    pub(crate) files_per_directory: u64,
    /// What the phase does.
    pub(crate) part: InlinePart,
}

/// The two phases of the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InlinePart {
    /// Finds the threshold.
    Probe,
    /// Reads the files at the threshold and above it.
    Read,
}

impl Default for InlineParameters {
    fn default() -> Self {
        Self {
            directory: "inline".into(),
            largest: Bytes::kib(8),
            step: Bytes(64),
            files: 1_000,
            files_per_directory: 200,
            part: InlinePart::Probe,
        }
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

#[cfg(test)]
mod tests {
    use fslab_model::Parameters;

    use super::*;

    #[test]
    fn invalid_values_are_named() {
        let wrong = |parameters: PrefetchParameters, word: &str| {
            let value = serde_json::to_value(parameters).expect("a map");
            let given = value.as_object().expect("a map");
            let problem = fslab_job::resolved::<PrefetchParameters>(given, Bytes::gib(1));
            let problem = problem.expect_err(word).to_string();
            assert!(problem.contains(word), "{problem}");
        };
        let good = PrefetchParameters::default;
        let block = Bytes(1_000);
        wrong(PrefetchParameters { block, ..good() }, "multiple of 512 B");
        let file_size = Size::Bytes(1);
        wrong(
            PrefetchParameters {
                file_size,
                ..good()
            },
            "blocks",
        );
        wrong(
            PrefetchParameters {
                wait_ms: 0,
                ..good()
            },
            "wait_ms",
        );
        let none = Parameters::from_iter([("step".to_owned(), 0.into())]);
        let problem = fslab_job::resolved::<InlineParameters>(&none, Bytes::gib(1));
        let problem = problem.expect_err("no step").to_string();
        assert_eq!(problem, "step = 0 B; it must be 1 B or more");
    }
}
