//! The job `parallel`: several data jobs at the same time, each with parameters of `io`; size and
//! record default to those of the phase. All start together; the phase ends with the last one, its
//! closing sync included. The phase's figures are those of all jobs together; the lists
//! `job-throughput`, `job-operation-rate` and `job-elapsed` have those of each, from its first
//! operation to its end. Threads are in the order of the jobs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fslab_engine::limits::RECORD_BYTES_MAX;
use fslab_engine::{
    DataJob, Direction, Measured, OpenMode, RunContext, lay_out, lays_out, run_data_together,
};
use fslab_model::{Bytes, Need, Parameters, PhaseKind, Size, ValueList};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::job::{self, Job};
use crate::outcome::{Finished, RunError};
use crate::parameters::{from_map, to_map};

/// Limit of jobs.
const JOBS_MAX: usize = 64;
/// Limit of the files of all jobs, since a plan lists them.
const FILES_MAX: usize = 1 << 17;

/// Several jobs of `io` at the same time.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ParallelParameters {
    /// Default size of the jobs' files, or a share of the file system's size.
    file_size: Size,
    /// Default record of the jobs.
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_BYTES_MAX))]
    record: Bytes,
    /// The jobs: parameters of `io`.
    jobs: Vec<Parameters>,
}

impl Default for ParallelParameters {
    /// One job reads the file of other workloads, and one writes a second file.
    fn default() -> Self {
        let reader = [
            ("file", Value::from("data")),
            ("direction", "read".into()),
            ("open", "existing".into()),
        ];
        let writer = [
            ("file", Value::from("data-beside")),
            ("direction", "write".into()),
            ("open", "replace".into()),
            ("sync", serde_json::json!({ "closing": "fsync" })),
        ];
        let job = |job: &[(&str, Value)]| {
            let named = job.iter().cloned();
            named.map(|(name, value)| (name.into(), value)).collect()
        };
        Self {
            file_size: Size::Written("1/4".into()),
            record: Bytes::mib(1),
            jobs: vec![job(&reader), job(&writer)],
        }
    }
}

impl ParallelParameters {
    /// The jobs. Invalid ones were refused while planning.
    fn jobs(&self) -> impl Iterator<Item = DataJob> {
        self.jobs.iter().filter_map(|job| from_map(job).ok())
    }

    /// Fills in defaults of the job `given` and turns shares of `size` into bytes.
    fn resolved(&self, given: &Parameters, size: Bytes) -> Result<Parameters, String> {
        let mut filled = given.clone();
        let file_size = self.file_size.bytes();
        filled.entry("file_size").or_insert(file_size.into());
        filled.entry("record").or_insert(self.record.0.into());
        let job: DataJob = job::resolved(&filled, size).map_err(|error| error.with_hint())?;
        Ok(to_map(&job))
    }

    /// A file that one job truncates and another uses, which would be a race.
    fn conflicting_file(&self) -> Option<PathBuf> {
        let mut users: BTreeMap<PathBuf, u32> = BTreeMap::new();
        for file in self.jobs().flat_map(|job| job.files()) {
            *users.entry(file).or_default() += 1;
        }
        let mut replaced = self.jobs().filter(|job| job.open == OpenMode::Replace);
        replaced.find_map(|job| job.files().into_iter().find(|file| users[file] > 1))
    }
}

impl Job for ParallelParameters {
    const NAME: &'static str = "parallel";
    const RANKS: bool = true;

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        if self.jobs.is_empty() {
            return Err("jobs = []; there must be at least one".into());
        }
        if self.jobs.len() > JOBS_MAX {
            return Err(format!(
                "{} jobs; there may be at most {JOBS_MAX}",
                self.jobs.len()
            ));
        }
        self.file_size = Size::Bytes(self.file_size.resolve(size)?);
        let resolved = (1..).zip(&self.jobs).map(|(number, job)| {
            let resolved = self.resolved(job, size);
            resolved.map_err(|problem| format!("job {number}: {problem}"))
        });
        self.jobs = resolved.collect::<Result<_, _>>()?;
        let files: usize = self.jobs().map(|job| job.files().len()).sum();
        if files > FILES_MAX {
            return Err(format!(
                "{files} files, of all jobs and threads together; at most {FILES_MAX}"
            ));
        }
        match self.conflicting_file() {
            None => Ok(()),
            Some(file) => Err(format!(
                "a job that replaces '{}' and another that uses it",
                file.display()
            )),
        }
    }

    /// Jobs may share a file, which then counts once.
    fn footprint(&self) -> Bytes {
        let mut largest: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for job in self.jobs() {
            let bytes = largest.entry(job.file.clone()).or_default();
            *bytes = job.footprint().0.max(*bytes);
        }
        Bytes(
            largest
                .values()
                .fold(0, |sum, bytes| sum.saturating_add(*bytes)),
        )
    }

    fn data_files(&self, ranks: u32) -> Option<Vec<PathBuf>> {
        let jobs = self.jobs().map(|job| job.of_ranks(ranks));
        let mut files: Vec<_> = jobs.flat_map(|job| job.files()).collect();
        files.sort();
        files.dedup();
        Some(files)
    }

    fn needs(&self) -> Vec<Need> {
        self.jobs().flat_map(|job| job.needs()).collect()
    }

    fn kind(&self) -> Option<PhaseKind> {
        let all = |direction| self.jobs().all(|job| job.direction == direction);
        Some(if all(Direction::Read) {
            PhaseKind::Read
        } else if all(Direction::Write) {
            PhaseKind::Write
        } else {
            PhaseKind::Mixed
        })
    }

    fn lays_out(&self) -> bool {
        self.jobs().any(|job| lays_out(&job))
    }

    fn lay_out(&self, context: &RunContext) -> Result<u64, RunError> {
        let mut missing_bytes = 0;
        for job in self.jobs().filter(lays_out) {
            missing_bytes += lay_out(context, &job)?;
        }
        Ok(missing_bytes)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        let jobs: Vec<_> = self.jobs().collect();
        let together = run_data_together(context, &jobs)?;
        Ok(Finished {
            lists: lists(&together.each),
            ..together.all.into()
        })
    }
}

/// A figure of one job.
type Figure = fn(&Measured) -> Option<f64>;

fn lists(each: &[Measured]) -> Vec<ValueList> {
    fn per_second(count: Option<u64>, elapsed_ns: u64) -> Option<f64> {
        let rate = |count| count as f64 * 1e9 / elapsed_ns as f64;
        count.filter(|_| elapsed_ns > 0).map(rate)
    }
    let list = |(name, y, figure): (&str, &str, Figure)| ValueList {
        name: name.into(),
        x: "job".into(),
        y: y.into(),
        points: (1_u32..)
            .zip(each)
            .filter_map(|(number, job)| Some((f64::from(number), figure(job)?)))
            .collect(),
    };
    let figures: [(&str, &str, Figure); 3] = [
        ("job-throughput", "throughput (B/s)", |job| {
            per_second(job.bytes, job.elapsed_ns)
        }),
        ("job-operation-rate", "operation rate (op/s)", |job| {
            per_second(Some(job.operations), job.elapsed_ns)
        }),
        ("job-elapsed", "duration (ns)", |job| {
            Some(job.elapsed_ns as f64)
        }),
    ];
    figures.map(list).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(jobs: &Value) -> Result<ParallelParameters, String> {
        let mut parameters: ParallelParameters =
            serde_json::from_value(serde_json::json!({ "jobs": jobs })).expect("parameters");
        parameters.resolve(Bytes::gib(1)).map(|()| parameters)
    }

    #[test]
    fn the_footprint_counts_each_file_of_the_jobs_once() {
        let jobs = serde_json::json!([
            { "file": "a", "file_size": "1MiB", "direction": "read" },
            { "file": "a", "file_size": "2MiB", "direction": "write", "open": "existing" },
            { "file": "b", "file_size": "4MiB", "threads": 2 },
        ]);
        let parameters = resolved(&jobs).expect("resolves");
        assert_eq!(parameters.footprint(), Bytes::mib(10));
        let files = parameters.data_files(1).expect("files");
        assert_eq!(files, ["a", "b", "b.1"].map(PathBuf::from));
    }

    #[test]
    fn jobs_default_to_size_and_record_of_the_phase() {
        let given = serde_json::json!({
            "file_size": "1/8", "record": 8192,
            "jobs": [{ "file": "a" }, { "file": "b", "file_size": "1MiB", "record": 4096 }],
        });
        let mut parameters: ParallelParameters = serde_json::from_value(given).expect("parameters");
        parameters.resolve(Bytes::gib(1)).expect("resolves");
        let sizes: Vec<_> = parameters
            .jobs()
            .map(|job| (job.file_size.bytes(), job.record.0))
            .collect();
        assert_eq!(sizes, [(128 << 20, 8192), (1 << 20, 4096)]);
    }

    #[test]
    fn invalid_jobs_are_refused_by_number_or_file() {
        let none = resolved(&serde_json::json!([])).expect_err("none");
        assert!(none.contains("at least one"), "{none}");
        let unknown = serde_json::json!([{ "fiel": "a" }]);
        let unknown = resolved(&unknown).expect_err("unknown");
        assert_eq!(unknown, "job 1: fiel: unknown key (did you mean 'file'?)");
        let bad = serde_json::json!([{ "file": "a" }, { "file": "b", "threads": 0 }]);
        let bad = resolved(&bad).expect_err("0 threads");
        assert_eq!(bad, "job 2: threads = 0; it must be 1 to 1024");
        let conflict = serde_json::json!([
            { "file": "a", "direction": "read" },
            { "file": "a", "open": "replace" },
        ]);
        let conflict = resolved(&conflict).expect_err("a conflict");
        assert!(conflict.contains("replaces 'a'"), "{conflict}");
    }
}
