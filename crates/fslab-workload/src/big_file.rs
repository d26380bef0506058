//! The parameters of workloads that move the data of one big file, or of one a thread.
//!
//! Every one of them takes `file`, `file_size`, `record`, `operations`, `threads`, `workers` and
//! `segment`. Of the others each says which it takes; to give another one is an error, since it
//! would change nothing.

use std::path::PathBuf;

use fslab_engine::{
    Access, Amount, DataJob, EngineKind, RunContext, SyncCall, SyncPolicy, Workers,
};
use fslab_model::{Bytes, Need};
use serde::{Deserialize, Serialize};

use crate::parameters::{Size, demand_inside};
use crate::workload::WorkloadParameters;

/// Largest record that a workload accepts.
const RECORD_MAX: Bytes = Bytes::mib(128);
/// The record of a workload that has none of its own.
const RECORD_DEFAULT: Bytes = Bytes::mib(1);
/// As many characters are timed as one operation: bonnie's chunk.
const CHARACTERS_DEFAULT: Bytes = Bytes::kib(8);
/// What the C library gives a stream on most file systems.
const STREAM_BUFFER: Bytes = Bytes::kib(4);

/// One big file and the record in which it is moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BigFile {
    /// Path below the file system's root. Thread `n` from 1 on works on the same name with `.n`
    /// appended.
    pub(crate) file: PathBuf,
    /// Its size, or a share of the file system's.
    pub(crate) file_size: Size,
    /// Size of one record; 0 for the workload's own.
    pub(crate) record: Bytes,
    /// How many records, of each thread; 0 for as many as the file has.
    pub(crate) operations: u64,
    /// For strided access: from the start of one record to the next, in records.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) stride: u64,
    /// What is called after the last write, within the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sync: Option<Closing>,
    /// Random access meets each record exactly once; else any record at any time.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) each_once: bool,
    /// Size of a stream's buffer; 0 for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) buffer: Option<Bytes>,
    /// pread(2) and pwrite(2); else read(2) and write(2), with lseek(2) where it takes one.
    #[serde(skip_serializing_if = "is_true")]
    pub(crate) positioned: bool,
    /// The file is cut into files of this size: NAME.000, NAME.001, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) segment: Option<Bytes>,
    /// How many work at the same time, each on a file of its own.
    #[serde(skip_serializing_if = "is_one")]
    pub(crate) threads: u32,
    /// Whether these are threads or processes.
    #[serde(skip_serializing_if = "are_threads")]
    pub(crate) workers: Workers,
    /// Which of the parameters that not every workload has this one has.
    #[serde(skip)]
    takes: Takes,
}

/// Parameters that not every workload has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Takes {
    /// `stride`.
    pub(crate) stride: bool,
    /// `sync`.
    pub(crate) sync: bool,
    /// `each_once`.
    pub(crate) each_once: bool,
    /// `buffer`.
    pub(crate) buffer: bool,
    /// `positioned`.
    pub(crate) positioned: bool,
}

impl Takes {
    /// What a workload of reads takes.
    pub(crate) const READS: Self = Self {
        stride: false,
        sync: false,
        each_once: false,
        buffer: false,
        positioned: true,
    };
    /// What a workload of writes takes.
    pub(crate) const WRITES: Self = Self {
        sync: true,
        ..Self::READS
    };
}

/// The call after the last write, whose time is part of the phase's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Closing {
    /// No call: what the page cache has taken is done.
    None,
    /// fsync(2) of each file.
    Fsync,
    /// fdatasync(2) of each file.
    Fdatasync,
}

impl Closing {
    /// The call; `None` for none.
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
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_one(value: &u32) -> bool {
    *value == 1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
pub(crate) fn is_true(value: &bool) -> bool {
    *value
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn are_threads(value: &Workers) -> bool {
    *value == Workers::Threads
}

impl Default for BigFile {
    fn default() -> Self {
        Self {
            file: "data".into(),
            file_size: Size::Written("1/4".into()),
            record: Bytes(0),
            operations: 0,
            stride: 0,
            sync: None,
            each_once: false,
            buffer: None,
            positioned: true,
            segment: None,
            threads: 1,
            workers: Workers::Threads,
            takes: Takes::default(),
        }
    }
}

impl WorkloadParameters for BigFile {
    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        demand_inside(&self.file)?;
        self.refuse_others()?;
        self.record_or(RECORD_DEFAULT);
        self.file_size = whole_records(&self.file_size, self.record, size)?;
        if self.operations == 0 {
            self.operations = self.records();
        }
        // The engine knows what makes no sense; a plan should know it before a disk is formatted.
        let job = self.read_job();
        job.validate().map_err(|error| error.to_string())
    }

    fn footprint(&self) -> Bytes {
        let bytes = self.file_size.bytes();
        Bytes(bytes.saturating_mul(self.threads.into()))
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        Some(self.read_job().files())
    }

    fn needs(&self) -> Vec<Need> {
        vec![longest_file(self.file_size.bytes(), self.segment)]
    }
}

/// The size of a file that has whole records: no phase then has to say what it did with the rest.
pub(crate) fn whole_records(file_size: &Size, record: Bytes, size: Bytes) -> Result<Size, String> {
    let bytes = file_size.resolve(size)?;
    if record.0 == 0 || record > RECORD_MAX {
        return Err(format!(
            "record = {record}; a record has 1 B to {RECORD_MAX}"
        ));
    }
    if bytes < record.0 {
        return Err(format!(
            "file_size = {}, which is less than one record of {record}",
            Bytes(bytes)
        ));
    }
    Ok(Size::Bytes(bytes - bytes % record.0))
}

/// What a file system must hold for a file of so many bytes, in one piece or cut.
pub(crate) fn longest_file(bytes: u64, segment: Option<Bytes>) -> Need {
    Need::FileBytes(Bytes(segment.map_or(bytes, |segment| bytes.min(segment.0))))
}

/// `context` with another engine; the null engine stays, which stands for every other.
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

impl BigFile {
    /// Says which parameters the workload takes.
    pub(crate) fn takes(&mut self, takes: Takes) {
        self.takes = takes;
    }

    /// The same, with an fsync at the end where the study names no other.
    pub(crate) fn takes_sync(&mut self, takes: Takes) {
        self.takes(Takes {
            sync: true,
            ..takes
        });
        self.sync.get_or_insert(Closing::Fsync);
    }

    /// Takes what a workload through a stream takes. The stream's buffer is as long as the record
    /// where the study names no other.
    pub(crate) fn takes_stream(&mut self, writes: bool) {
        self.record_or(RECORD_DEFAULT);
        self.takes_buffer(writes, self.record);
    }

    /// Takes what a workload of single characters takes.
    pub(crate) fn takes_characters(&mut self, writes: bool) {
        self.record_or(CHARACTERS_DEFAULT);
        self.takes_buffer(writes, STREAM_BUFFER);
    }

    fn takes_buffer(&mut self, writes: bool, buffer: Bytes) {
        let takes = Takes {
            buffer: true,
            ..Takes::default()
        };
        if writes {
            self.takes_sync(takes);
        } else {
            self.takes(takes);
        }
        self.buffer.get_or_insert(buffer);
    }

    /// Takes `record` where the study names none.
    pub(crate) fn record_or(&mut self, record: Bytes) {
        if self.record.0 == 0 {
            self.record = record;
        }
    }

    /// A job that writes the file as the parameters say.
    pub(crate) fn write_job(&self) -> DataJob {
        self.job(DataJob::write(
            self.file.clone(),
            self.file_size.bytes(),
            self.record.0,
        ))
    }

    /// A job that reads the file as the parameters say.
    pub(crate) fn read_job(&self) -> DataJob {
        self.job(DataJob::read(
            self.file.clone(),
            self.file_size.bytes(),
            self.record.0,
        ))
    }

    fn job(&self, job: DataJob) -> DataJob {
        let mut job = DataJob {
            amount: Amount::Operations(self.operations),
            segment_bytes: self.segment.map(|segment| segment.0),
            positioned: self.positioned,
            sync: SyncPolicy {
                closing: self.sync.and_then(Closing::call),
                ..SyncPolicy::NONE
            },
            threads: self.threads,
            workers: self.workers,
            ..job
        };
        if let Some(buffer) = self.buffer {
            job.stdio.buffer_bytes = buffer.0 as usize;
        }
        job
    }

    /// The order of random accesses.
    pub(crate) fn random(&self) -> Access {
        if self.each_once {
            Access::RandomOnce
        } else {
            Access::RandomUniform
        }
    }

    /// Number of records in the file.
    fn records(&self) -> u64 {
        self.file_size.bytes() / self.record.0.max(1)
    }

    fn refuse_others(&self) -> Result<(), String> {
        let takes = self.takes;
        let given = [
            ("stride", self.stride != 0 && !takes.stride),
            ("sync", self.sync.is_some() && !takes.sync),
            ("each_once", self.each_once && !takes.each_once),
            ("buffer", self.buffer.is_some() && !takes.buffer),
            ("positioned", !self.positioned && !takes.positioned),
        ];
        match given.into_iter().find(|(_, refused)| *refused) {
            Some((name, _)) => Err(format!("the parameter '{name}', which it has no use for")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_becomes_whole_records_and_as_many_operations() {
        let mut file = BigFile {
            record: Bytes::kib(64),
            ..BigFile::default()
        };
        file.settle(Bytes::gib(1)).expect("settles");
        assert_eq!(file.file_size, Size::Bytes(256 << 20));
        assert_eq!(file.operations, 4096);
    }

    #[test]
    fn a_file_that_is_no_multiple_of_the_record_is_shortened() {
        let mut file = BigFile {
            file_size: Size::Written("10000B".into()),
            record: Bytes::kib(4),
            ..BigFile::default()
        };
        file.settle(Bytes::gib(1)).expect("settles");
        assert_eq!(file.file_size, Size::Bytes(8192));
    }

    #[test]
    fn a_file_that_is_cut_needs_no_longer_files_than_its_segments() {
        let mut file = BigFile {
            segment: Some(Bytes::mib(64)),
            threads: 2,
            ..BigFile::default()
        };
        file.settle(Bytes::gib(1)).expect("settles");
        assert_eq!(file.needs(), [Need::FileBytes(Bytes::mib(64))]);
        assert_eq!(file.footprint(), Bytes::mib(512));
        let files = file.data_files().expect("files");
        assert_eq!(files.len(), 8);
        assert!(files.contains(&"data.003".into()) && files.contains(&"data.1.000".into()));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let default = BigFile::default;
        for (file, word) in [
            (
                BigFile {
                    record: Bytes::gib(1),
                    ..default()
                },
                "record",
            ),
            (
                BigFile {
                    file: "../x".into(),
                    ..default()
                },
                "path",
            ),
            (
                BigFile {
                    file: "/x".into(),
                    ..default()
                },
                "path",
            ),
            (
                BigFile {
                    file_size: Size::Written("1KiB".into()),
                    ..default()
                },
                "less than one record",
            ),
            (
                BigFile {
                    segment: Some(Bytes(5000)),
                    ..default()
                },
                "no multiples of its record",
            ),
            (
                BigFile {
                    threads: 0,
                    ..default()
                },
                "0 threads",
            ),
            (
                BigFile {
                    stride: 3,
                    ..default()
                },
                "'stride', which it has no use for",
            ),
            (
                BigFile {
                    sync: Some(Closing::None),
                    ..default()
                },
                "'sync'",
            ),
        ] {
            let problem = { file }.settle(Bytes::gib(1)).expect_err(word);
            assert!(problem.contains(word), "{problem}");
        }
    }
}
