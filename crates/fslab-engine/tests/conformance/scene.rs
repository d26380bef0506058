//! A directory and an engine, in which jobs run.

use std::error::Error;
use std::fs;
use std::path::Path;

use fslab_engine::{
    DataJob, EngineError, EngineKind, Measured, MetadataJob, RunContext, run_data, run_metadata,
};
use fslab_model::LatencyHistogram;
use tempfile::TempDir;

/// Engines that store data.
pub(crate) const KEEPING: &[EngineKind] = &[
    EngineKind::Psync,
    EngineKind::Uring,
    EngineKind::Mmap,
    EngineKind::Stdio,
];
/// Every engine.
pub(crate) const ALL: &[EngineKind] = EngineKind::ALL;
/// File length of most tests: no multiple of the block size.
pub(crate) const FILE_BYTES: u64 = 1_000_000;

/// True if the error names `path`.
pub(crate) fn names(error: &EngineError, path: &Path) -> bool {
    error.to_string().contains(&path.display().to_string())
}

/// A temporary directory and an engine.
pub(crate) struct Scene {
    pub(crate) folder: TempDir,
    pub(crate) context: RunContext,
}

/// A new scene for `engine`.
pub(crate) fn scene(engine: EngineKind) -> Scene {
    let folder = tempfile::tempdir().expect("a directory");
    let context = RunContext::new(engine, folder.path(), 42);
    Scene { folder, context }
}

impl Scene {
    pub(crate) fn run(&self, job: &DataJob) -> Result<Measured, EngineError> {
        run_data(&self.context, job)
    }

    pub(crate) fn run_names(&self, job: &MetadataJob) -> Result<Measured, EngineError> {
        run_metadata(&self.context, job)
    }

    /// Runs a job that must succeed.
    pub(crate) fn done(&self, job: &DataJob) -> Measured {
        self.succeed(self.run(job))
    }

    /// Runs a job that must succeed.
    pub(crate) fn done_names(&self, job: &MetadataJob) -> Measured {
        self.succeed(self.run_names(job))
    }

    fn succeed(&self, result: Result<Measured, EngineError>) -> Measured {
        let engine = self.context.engine;
        result.unwrap_or_else(|error| panic!("{engine}: {error}: {:?}", error.source()))
    }

    pub(crate) fn content(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).expect("the file is there")
    }
}

/// Number of latencies recorded of `operation`.
pub(crate) fn count(measured: &Measured, operation: &str) -> u64 {
    measured
        .latency(operation)
        .map_or(0, LatencyHistogram::count)
}
