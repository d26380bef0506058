//! The gain of inline data: one phase creates two trees, of files at the threshold and of files one
//! byte longer; another reads them, after an unmount if the study wants that.
//!
//! The trees alternate directory by directory, and the first one changes each turn, since each
//! brings shared metadata into the cache for the other. The first turn is not counted if there are
//! more.

use std::fs;
use std::path::{Path, PathBuf};

use fslab_engine::{
    EngineKind, MetadataJob, MetadataOperation, MetadataSync, RunContext, TreeShape, run_metadata,
};
use fslab_job::{Finished, RunError};
use fslab_model::{MetricDefinition, definitions};

use super::parameters::InlineParameters;
use super::recorder::{ProbeRecorder, must, synthetic_probe};

/// Prefixes of the trees' names; the size of their files follows.
const AT: &str = "at-";
const ABOVE: &str = "above-";

/// A tree of files of one size.
struct GainTree {
    directory: PathBuf,
    bytes: u64,
}

/// Both trees.
pub(super) struct GainTrees<'a> {
    parameters: &'a InlineParameters,
    at: GainTree,
    above: GainTree,
}

impl<'a> GainTrees<'a> {
    pub(super) fn new(parameters: &'a InlineParameters, threshold: u64) -> Self {
        let tree = |prefix: &str, bytes: u64| GainTree {
            directory: parameters.directory.join(format!("{prefix}{bytes}")),
            bytes,
        };
        Self {
            parameters,
            at: tree(AT, threshold),
            above: tree(ABOVE, threshold + 1),
        }
    }

    /// The trees that `inline-probe` kept; `None` if there are none.
    fn kept(parameters: &'a InlineParameters, folder: &Path) -> Result<Option<Self>, RunError> {
        for entry in must("list", folder, fs::read_dir(folder))? {
            let entry = must("list", folder, entry)?;
            let name = entry.file_name();
            let bytes = name.to_str().and_then(|name| name.strip_prefix(AT));
            if let Some(threshold) = bytes.and_then(|bytes| bytes.parse().ok()) {
                return Ok(Some(Self::new(parameters, threshold)));
            }
        }
        Ok(None)
    }

    /// Creates and syncs the files of both trees, and reports the gain.
    pub(super) fn make(&self, recorder: &mut ProbeRecorder<'_>) -> Result<(), RunError> {
        let sync = MetadataSync {
            closing_syncfs: true,
            ..MetadataSync::default()
        };
        let times = self.alternate(recorder, |job| MetadataJob {
            sync,
            ..MetadataJob::new(MetadataOperation::Create, job)
        })?;
        report_gain(recorder, &definitions::INLINE_CREATE_GAIN, times);
        Ok(())
    }

    /// Reads the files of both trees, and reports the gain.
    fn read(&self, recorder: &mut ProbeRecorder<'_>) -> Result<(), RunError> {
        let times = self.alternate(recorder, |tree| {
            MetadataJob::new(MetadataOperation::Read, tree)
        })?;
        report_gain(recorder, &definitions::INLINE_READ_GAIN, times);
        Ok(())
    }

    /// Runs a job on the directories of both trees in alternation.
    fn alternate(
        &self,
        recorder: &mut ProbeRecorder<'_>,
        job: impl Fn(TreeShape) -> MetadataJob,
    ) -> Result<Times, RunError> {
        let files = self.parameters.files;
        let width = match self.parameters.files_per_directory {
            0 => files,
            width => width.min(files),
        };
        let turns = files.div_ceil(width);
        let mut times = Times::default();
        for turn in 0..turns {
            let count = width.min(files - turn * width);
            let mut sides = [(&self.at, false), (&self.above, true)];
            if turn % 2 == 1 {
                sides.reverse();
            }
            for (tree, is_above) in sides {
                let directory = tree.directory.join(format!("{turn:04}"));
                let job = MetadataJob {
                    file_size: tree.bytes.into(),
                    ..job(TreeShape::flat(&directory, count, 0))
                };
                let measured = run_metadata(recorder.context(), &job)?;
                recorder.add_operations(measured.operations);
                recorder.add_bytes(count * tree.bytes);
                if turn > 0 || turns == 1 {
                    times.add(is_above, measured.elapsed_ns);
                }
            }
        }
        Ok(times)
    }
}

/// Total times of both trees.
#[derive(Clone, Copy, Default)]
struct Times {
    at_ns: u64,
    above_ns: u64,
}

impl Times {
    fn add(&mut self, is_above: bool, ns: u64) {
        if is_above {
            self.above_ns += ns;
        } else {
            self.at_ns += ns;
        }
    }
}

/// Reports the ratio of the times above and at the threshold.
fn report_gain(recorder: &mut ProbeRecorder<'_>, metric: &MetricDefinition, times: Times) {
    if times.above_ns > 0 && times.at_ns > 0 {
        recorder.figure(metric, times.above_ns as f64 / times.at_ns as f64);
    } else {
        recorder.note("no gain can be computed: one of the two sizes took no measurable time");
    }
}

/// Reads both trees that `inline-probe` kept.
pub(crate) fn inline_read(
    parameters: &InlineParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        let files = parameters.files.max(1);
        return Ok(synthetic_probe(2 * files, files * parameters.largest.0));
    }
    let folder = context.root.join(&parameters.directory);
    let Some(trees) = GainTrees::kept(parameters, &folder)? else {
        let reason = "inline-probe kept no files to read: it found no threshold, or one of 0 B";
        return Err(RunError::Impossible(reason.into()));
    };
    let mut recorder = ProbeRecorder::new(context);
    trees.read(&mut recorder)?;
    Ok(recorder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_job::Job;
    use fslab_model::Bytes;

    #[test]
    fn kept_trees_are_read_and_without_any_the_phase_is_skipped_with_a_reason() {
        let folder = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 5);
        let mut parameters = InlineParameters {
            files: 20,
            files_per_directory: 8,
            ..InlineParameters::default()
        };
        parameters.resolve(Bytes::mib(8)).expect("resolves");
        fs::create_dir(folder.path().join("inline")).expect("a directory");
        let nothing = inline_read(&parameters, &context).expect_err("nothing was kept");
        assert!(matches!(nothing, RunError::Impossible(_)), "{nothing}");
        let trees = GainTrees::new(&parameters, 100);
        let mut recorder = ProbeRecorder::new(&context);
        trees.make(&mut recorder).expect("makes");
        let finished = inline_read(&parameters, &context).expect("reads");
        assert_eq!(finished.measured.operations, 40);
        assert_eq!(finished.measured.bytes, Some(20 * 100 + 20 * 101));
        assert!(finished.figures.contains_key("inline_read_gain"));
    }
}
