//! The job `data`: reads or writes of one file, or of one file per thread.

use std::path::PathBuf;

use fslab_engine::limits::{RECORD_BYTES_MAX, THREADS_MAX};
use fslab_engine::{
    Access, Amount, Content, DataJob, Direction, EngineKind, OpenMode, RunContext, SyncCall,
    SyncEvery, SyncPolicy, Workers, run_data,
};
use fslab_model::{Bytes, Need, PhaseKind, Size, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::io::{kind_of, longest_file};
use crate::job::Job;
use crate::outcome::{Finished, RunError};
use crate::parameters::{ensure_inside, is_true, parse_engine};

/// Record of a workload without a default.
const RECORD_DEFAULT: Bytes = Bytes::mib(1);

/// Reads or writes of one file, or of one file per thread.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DataParameters {
    /// Path below the root of the file system. Thread `n` from 1 on uses the same name with `.n`
    /// appended.
    file: PathBuf,
    /// Size of each file in bytes, or as a share of the file system's size ("1/4"); rounded down
    /// to a multiple of the record.
    file_size: Size,
    /// Bytes of one record; 0 for the workload's default.
    #[schemars(extend("maximum" = RECORD_BYTES_MAX))]
    record: Bytes,
    /// Records per thread; 0 for as many as the file has.
    operations: u64,
    /// With access "strided": records from the start of one record to the start of the next.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = 0))]
    stride: u64,
    /// The call after the last write, timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    sync: Option<Closing>,
    /// With access "random": each record exactly once; otherwise with replacement.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    each_once: bool,
    /// Bytes of a stream's buffer, 0 for none; the record's size unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maximum" = RECORD_BYTES_MAX))]
    buffer: Option<Bytes>,
    /// pread(2) and pwrite(2); otherwise read(2) and write(2), with lseek(2)
    /// where needed.
    #[serde(skip_serializing_if = "is_true")]
    #[schemars(extend("default" = true))]
    positioned: bool,
    /// Bytes of each segment of the file (NAME.000, NAME.001, ...): a multiple of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1))]
    segment: Option<Bytes>,
    /// Threads or processes, each with its own file.
    #[serde(skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = THREADS_MAX))]
    #[schemars(extend("default" = 1))]
    threads: u32,
    /// The kind of workers.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = Workers::Threads))]
    workers: Workers,
    /// What is done with each record.
    direction: Direction,
    /// The order of records.
    access: DataAccess,
    /// How the file is opened; unless given, "replace" for writes and "existing" for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<OpenMode>,
    /// Generation of the content: another number gives other data.
    generation: u32,
    /// Compressibility and duplication of the data written.
    #[serde(skip_serializing_if = "is_default")]
    content: Content,
    /// Writes between two fsyncs, which are timed; 0 for no fsync.
    sync_every: u64,
    /// The engine instead of the plan's: "psync", "uring", "mmap" or "stdio".
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<String>,
    /// With engine "stdio": one getc(3) or putc(3) for each byte.
    by_character: bool,
}

/// The order of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum DataAccess {
    /// From the first to the last.
    Sequential,
    /// From the last to the first.
    Reverse,
    /// Every `stride`-th record, in as many passes as it takes to reach all.
    Strided,
    /// Uniformly random.
    Random,
    /// Always the first one.
    FirstRecord,
    /// `operations` records one after the other; the file is as long as these.
    Append,
}

/// The timed call after the last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Closing {
    /// No call: data may remain in the page cache.
    None,
    /// fsync(2) of each file.
    Fsync,
    /// fdatasync(2) of each file.
    Fdatasync,
}

impl Closing {
    /// The engine's call.
    pub(crate) fn call(self) -> Option<SyncCall> {
        match self {
            Self::None => None,
            Self::Fsync => Some(SyncCall::Fsync),
            Self::Fdatasync => Some(SyncCall::Fdatasync),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_one(value: &u32) -> bool {
    *value == 1
}

impl Default for DataParameters {
    fn default() -> Self {
        Self {
            file: "data".into(),
            file_size: Size::Written("1/4".into()),
            record: RECORD_DEFAULT,
            operations: 0,
            stride: 0,
            sync: None,
            each_once: false,
            buffer: None,
            positioned: true,
            segment: None,
            threads: 1,
            workers: Workers::Threads,
            direction: Direction::Read,
            access: DataAccess::Sequential,
            open: None,
            generation: 0,
            content: Content::default(),
            sync_every: 0,
            engine: None,
            by_character: false,
        }
    }
}

impl Job for DataParameters {
    const NAME: &'static str = "data";
    const RANKS: bool = true;
    const ZERO_IS_DEFAULT: &'static [&'static str] = &["record", "stride"];

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.file)?;
        let engine = parse_engine(self.engine.as_deref())?;
        if self.record.0 == 0 {
            self.record = RECORD_DEFAULT;
        }
        if engine == Some(EngineKind::Stdio) {
            self.buffer.get_or_insert(self.record);
        }
        // The file is as long as all appends, so that the engine never wraps to its start.
        if self.access == DataAccess::Append && self.operations > 0 {
            let bytes = self.operations.saturating_mul(self.record.0);
            self.file_size = Size::Bytes(bytes);
        }
        self.file_size = round_to_records(&self.file_size, self.record, size)?;
        if self.operations == 0 {
            self.operations = self.file_size.bytes() / self.record.0;
        }
        // Validated while planning, before a disk is formatted.
        self.job().validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        let bytes = self.file_size.bytes();
        Bytes(bytes.saturating_mul(self.threads.into()))
    }

    fn data_files(&self, ranks: u32) -> Option<Vec<PathBuf>> {
        let job = DataJob {
            file_size: self.file_size.clone(),
            ..self.job()
        };
        Some(job.of_ranks(ranks).files())
    }

    fn needs(&self) -> Vec<Need> {
        vec![longest_file(self.file_size.bytes(), self.segment)]
    }

    fn kind(&self) -> Option<PhaseKind> {
        Some(kind_of(self.direction))
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        // An unknown engine was refused while planning.
        let context = match parse_engine(self.engine.as_deref()) {
            Ok(Some(engine)) => &with_engine(context, engine),
            _ => context,
        };
        Ok(run_data(context, &self.job())?.into())
    }
}

impl DataParameters {
    fn job(&self) -> DataJob {
        let file_bytes = match self.access {
            // In a file of one record, every access is to the first.
            DataAccess::FirstRecord => self.record.0,
            _ => self.file_size.bytes(),
        };
        let new = match self.direction {
            Direction::Write => DataJob::write,
            _ => DataJob::read,
        };
        let job = new(self.file.clone(), file_bytes, self.record.0);
        let every = (self.sync_every > 0).then_some(SyncEvery {
            operations: self.sync_every,
            call: SyncCall::Fsync,
        });
        let mut job = DataJob {
            direction: self.direction,
            access: self.order(),
            amount: match self.operations {
                // A specification that no plan was made of.
                0 => Amount::WholeFile,
                operations => Amount::Operations(operations),
            },
            open: self.open.unwrap_or(job.open),
            generation: self.generation,
            content: self.content,
            segment: self.segment,
            positioned: self.positioned,
            sync: SyncPolicy {
                every,
                closing: self.sync.and_then(Closing::call),
                updated: None,
            },
            threads: self.threads,
            workers: self.workers,
            ..job
        };
        if let Some(buffer) = self.buffer {
            job.stdio.buffer_bytes = buffer.0 as usize;
        }
        job.stdio.by_character = self.by_character;
        job
    }

    fn order(&self) -> Access {
        match self.access {
            DataAccess::Sequential | DataAccess::FirstRecord | DataAccess::Append => {
                Access::Sequential
            }
            DataAccess::Reverse => Access::Reverse,
            DataAccess::Strided => Access::Strided {
                stride_records: self.stride,
            },
            DataAccess::Random if self.each_once => Access::RandomOnce,
            DataAccess::Random => Access::RandomUniform,
        }
    }
}

/// The size of a file in bytes, rounded down to a multiple of `record`.
pub(crate) fn round_to_records(
    file_size: &Size,
    record: Bytes,
    size: Bytes,
) -> Result<Size, String> {
    let bytes = file_size.resolve(size)?;
    if bytes < record.0 {
        return Err(format!(
            "file_size = {}, which is less than one record of {record}",
            Bytes(bytes)
        ));
    }
    Ok(Size::Bytes(bytes - bytes % record.0))
}

/// `context` with another engine, except that the null engine stays.
pub(crate) fn with_engine(context: &RunContext, engine: EngineKind) -> RunContext {
    let engine = match context.engine {
        EngineKind::Null => EngineKind::Null,
        _ => engine,
    };
    RunContext {
        engine,
        ..context.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_without_a_number_of_operations_works_on_the_entire_file() {
        let file: DataParameters =
            serde_json::from_value(serde_json::json!({"file_size": 65536, "record": 4096}))
                .expect("parameters");
        assert_eq!(file.job().amount, Amount::WholeFile);
    }

    #[test]
    fn a_share_is_rounded_to_records_and_each_is_an_operation() {
        let mut file = DataParameters {
            record: Bytes::kib(64),
            ..DataParameters::default()
        };
        file.resolve(Bytes::gib(1)).expect("resolves");
        assert_eq!(file.file_size, Size::Bytes(256 << 20));
        assert_eq!(file.operations, 4096);
    }

    #[test]
    fn a_file_size_is_rounded_down_to_a_multiple_of_the_record() {
        let mut file = DataParameters {
            file_size: Size::Written("10000B".into()),
            record: Bytes::kib(4),
            ..DataParameters::default()
        };
        file.resolve(Bytes::gib(1)).expect("resolves");
        assert_eq!(file.file_size, Size::Bytes(8192));
    }

    #[test]
    fn a_segmented_file_needs_files_of_the_segments_size_only() {
        let mut file = DataParameters {
            segment: Some(Bytes::mib(64)),
            threads: 2,
            ..DataParameters::default()
        };
        file.resolve(Bytes::gib(1)).expect("resolves");
        assert_eq!(file.needs(), [Need::FileBytes(Bytes::mib(64))]);
        assert_eq!(file.footprint(), Bytes::mib(512));
        let files = file.data_files(1).expect("files");
        assert_eq!(files.len(), 8);
        assert!(files.contains(&"data.003".into()) && files.contains(&"data.1.000".into()));
    }

    #[test]
    fn invalid_parameters_are_named() {
        let refused = |given: serde_json::Value, word: &str| {
            let mut file: DataParameters = serde_json::from_value(given).expect("parameters");
            let problem = file.resolve(Bytes::gib(1)).expect_err(word);
            assert!(problem.contains(word), "{problem}");
        };
        refused(serde_json::json!({ "record": "1GiB" }), "record");
        refused(serde_json::json!({ "file": "../x" }), "path");
        refused(serde_json::json!({ "file": "/x" }), "path");
        let short = serde_json::json!({ "file_size": "1KiB" });
        refused(short, "less than one record");
        let segment = serde_json::json!({ "segment": 5000 });
        refused(segment, "no multiples of its record");
        refused(serde_json::json!({ "threads": 0 }), "0 threads");
        refused(serde_json::json!({ "engine": "x" }), "'x'");
    }
}
