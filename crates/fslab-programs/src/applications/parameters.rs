//! Parameters of filebench's personalities, and the parts of a phase.

use std::path::PathBuf;

use fslab_job::PhasePart;
use fslab_model::{Bytes, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow::Flow;

/// A set of files, and threads that repeat a loop of operations, as in filebench.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PersonalityParameters {
    /// The directory of the files, below the root.
    pub(crate) directory: PathBuf,
    /// Number of files; 0 for as many as fit into half of the file system, at most `files_max`.
    #[schemars(range(max = u32::MAX))]
    pub(crate) files: u64,
    /// Mean size of a file in bytes.
    pub(crate) mean_size: Bytes,
    /// How sizes are distributed.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "gamma"))]
    pub(crate) sizes: SizeLaw,
    /// Entries of a directory.
    #[schemars(range(min = 1))]
    pub(crate) directory_width: u64,
    /// Percent of the files that exist at the start.
    #[schemars(range(max = 100))]
    pub(crate) present_percent: u64,
    /// Threads, each with at least two files; 0 for as many as that allows, at most `threads_max`.
    #[schemars(range(max = THREADS_MAX))]
    pub(crate) threads: u32,
    /// Iterations of the loop by all threads together; 0 for one per file.
    pub(crate) operations: u64,
    /// Seconds after which no iteration starts; 0 for no limit.
    pub(crate) seconds: u64,
    /// Most bytes of one append.
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_MAX.0))]
    pub(crate) append: Bytes,
    /// Most bytes of one read(2) or write(2).
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_MAX.0))]
    pub(crate) record: Bytes,
    /// What the phase does.
    pub(crate) part: PhasePart,
    /// Limit of `files` if that is 0.
    #[schemars(range(max = u32::MAX))]
    pub(crate) files_max: u64,
    /// Limit of `threads` if that is 0.
    #[schemars(range(max = THREADS_MAX))]
    pub(crate) threads_max: u32,
    /// The loop that each thread repeats.
    #[serde(rename = "loop")]
    pub(crate) flow: Flow,
}

/// How the sizes of files are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SizeLaw {
    /// A gamma distribution of shape 1.5.
    #[default]
    Gamma,
    /// All files have the mean size.
    Fixed,
}

/// Space of a file besides its data.
const FILE_ROOM: u64 = 8 << 10;

/// Limit of threads.
const THREADS_MAX: u32 = 4096;
const RECORD_MAX: Bytes = Bytes::mib(64);

impl Default for PersonalityParameters {
    fn default() -> Self {
        Self {
            directory: "personality".into(),
            files: 0,
            mean_size: Bytes::kib(16),
            sizes: SizeLaw::Gamma,
            directory_width: 20,
            present_percent: 80,
            threads: 0,
            operations: 0,
            seconds: 0,
            append: Bytes::kib(16),
            record: Bytes::mib(1),
            part: PhasePart::default(),
            files_max: 1_000,
            threads_max: 1,
            flow: Flow::default(),
        }
    }
}

impl PersonalityParameters {
    /// The parameters of a built-in workload.
    #[cfg(test)]
    pub(super) fn built_in(name: &str) -> Self {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads"));
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("a file");
        let definition = fslab_model::WorkloadDefinition::from_toml(&text).expect("a workload");
        let defaults = definition.defaults;
        fslab_job::from_map(&defaults).expect("parameters of a personality")
    }

    /// Average space of a file, with one append.
    pub(super) fn each(&self) -> u64 {
        (self.mean_size.0)
            .saturating_add(self.append.0)
            .saturating_add(FILE_ROOM)
    }
}
