//! Parameters of the probes.

use std::path::PathBuf;

use fslab_model::{Bytes, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
