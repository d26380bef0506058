//! Jobs that read and write file data.

use fslab_model::{Bytes, Size, is_default};
use fslab_sys::Ability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::limits::{RECORD_BYTES_MAX, SEGMENTS_MAX, THREADS_MAX};
use super::{Advice, Pace, RecordShare, StdioTuning, UringTuning, ZoneShare};
use crate::{Access, Content, EngineKind};

/// Reads and writes of a file with all settings of the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DataJob {
    /// The engine instead of the plan's: "psync", "uring", "mmap" or "stdio".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineKind>,
    /// Path below the root of the file system. Unless threads share it, thread `n` from 1 on uses
    /// the same name with `.n` appended.
    pub file: PathBuf,
    /// Size of each file in bytes, or as a share of the file system's size.
    pub file_size: Size,
    /// The file is cut into files of this size, a multiple of the record: NAME.000, NAME.001, ...
    /// Not with uring.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1))]
    pub segment: Option<Bytes>,
    /// Bytes of one record. The last record of a file can be shorter.
    #[schemars(extend("minimum" = 1, "maximum" = RECORD_BYTES_MAX))]
    pub record: Bytes,
    /// Records of several lengths: { bytes = "4KiB", percent = 60 } for each, 100 % together. Each
    /// is a multiple of the shortest, at whose multiples records begin; `record` is the longest.
    /// Only with access "sequential" and "random-uniform", and without `verify`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub record_split: Vec<RecordShare>,
    /// Offset of the first record in bytes.
    pub offset: u64,
    /// What is done with each record. `mix`: percent of reads. `read-update`: reads, of which each
    /// thread's first, and one in so many after it, are updates. No updates with uring.
    pub direction: Direction,
    /// The order of records. `zipf`: few records have most of the accesses. `hot-cold`: a part of
    /// the file has so many percent of the accesses.
    pub access: Access,
    /// Parts of the file, from its beginning, each with its share of the accesses: { access_percent
    /// = 50, space_percent = 5 }; 100 % together. Only with access "random-uniform".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<ZoneShare>,
    /// Number of the sequence of random numbers: jobs that use one file at the same time differ by
    /// it.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = 0))]
    pub stream: u32,
    /// When a thread has done enough; `total-operations` is one pool that all threads take from. A
    /// time can be written `{ time = "10s" }`.
    pub amount: Amount,
    /// A thread ends after this time, even if it has not done its amount: `time_limit = "60s"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub time_limit_ns: Option<u64>,
    /// A thread waits so long before its first operation: `start_delay = "4s"`.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = 0))]
    pub start_delay_ns: u64,
    /// After this time each thread works until it has done as much as the fastest:
    /// `stonewall = "300s"`, as IOR's -D with wear-out. The file's size is the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub stonewall_ns: Option<u64>,
    /// Load before the measurement, whose operations are not counted: nanoseconds, or `ramp_up =
    /// "2s"`.
    pub ramp_up_ns: u64,
    /// When operations are issued. At a rate, fixed or as a Poisson process, latency is counted
    /// from the intended start.
    pub pace: Pace,
    /// How the file is opened. With "create", a file that is read and is missing or short is
    /// written before the phase is timed.
    pub open: OpenMode,
    /// Space that is reserved before the phase is timed.
    pub preparation: Preparation,
    /// pread(2) and pwrite(2); otherwise read(2) and write(2), with lseek(2) where needed. Only
    /// psync has the choice.
    pub positioned: bool,
    /// O_DIRECT: without the page cache.
    pub direct: bool,
    /// O_DSYNC or O_SYNC.
    pub open_sync: OpenSync,
    /// A hint to the kernel by posix_fadvise(2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Advice>,
    /// Calls that make data durable: { every = { operations = N, call = CALL }, updated = CALL,
    /// closing = CALL }, each CALL "fsync", "fdatasync", "file-range" or "msync"; on macOS also
    /// "barrier" and "drive". `operations` counts writes, not reads.
    pub sync: SyncPolicy,
    /// How far the data written can be compressed and deduplicated.
    pub content: Content,
    /// Generation of the content: another number gives other data.
    pub generation: u32,
    /// Compare what is read with what was written, and name file, offset, expected and found; needs
    /// records of a multiple of 4 KiB.
    pub verify: bool,
    /// Accept blocks of an earlier generation when verifying.
    pub older_generations: bool,
    /// Threads, or processes.
    #[schemars(range(min = 1, max = THREADS_MAX))]
    pub threads: u32,
    /// The kind of workers.
    pub workers: Workers,
    /// How threads share files.
    pub sharing: Sharing,
    /// In a load of several ranks, work on the part of the rank so many after this one.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = 0))]
    pub rank_shift: u32,
    /// Settings of the io_uring engine.
    pub uring: UringTuning,
    /// Settings of the stdio engine.
    pub stdio: StdioTuning,
}

impl Default for DataJob {
    /// Writes a quarter of the file system.
    fn default() -> Self {
        Self {
            engine: None,
            file: "data".into(),
            file_size: Size::Written("1/4".into()),
            segment: None,
            record: Bytes::mib(1),
            record_split: Vec::new(),
            offset: 0,
            direction: Direction::Write,
            access: Access::Sequential,
            zones: Vec::new(),
            stream: 0,
            amount: Amount::WholeFile,
            time_limit_ns: None,
            start_delay_ns: 0,
            stonewall_ns: None,
            ramp_up_ns: 0,
            pace: Pace::AsFastAsPossible,
            open: OpenMode::Create,
            preparation: Preparation::None,
            positioned: true,
            direct: false,
            open_sync: OpenSync::None,
            advice: None,
            sync: SyncPolicy::NONE,
            content: Content::default(),
            generation: 0,
            verify: false,
            older_generations: false,
            threads: 1,
            workers: Workers::Threads,
            sharing: Sharing::Own,
            rank_shift: 0,
            uring: UringTuning::default(),
            stdio: StdioTuning::default(),
        }
    }
}

/// Direction of operations on records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Each operation is a read or a write, by chance.
    Mix {
        /// Percent of reads.
        #[schemars(range(max = 100))]
        read_percent: u8,
    },
    /// Reads the record, changes one byte, and writes it back: one operation, whose bytes count
    /// once.
    Update,
    /// Reads, some of which are updates.
    ReadUpdate {
        /// One operation in this many is an update, starting with the first of each thread.
        #[schemars(range(min = 1))]
        every: u64,
    },
}

/// Amount of work of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// As many operations as its part of the file has records.
    WholeFile,
    /// This many operations per thread.
    Operations(u64),
    /// This many operations of all threads together; each ready thread takes the next. With the
    /// null engine, whose threads have no common clock, each does an even share.
    TotalOperations(u64),
    /// This many bytes per thread, rounded up to full records.
    Bytes(u64),
    /// This many nanoseconds; the operation in progress is completed.
    TimeNs(u64),
}

/// Whether a file must exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OpenMode {
    /// It must exist.
    Existing,
    /// It is created unless it exists; existing contents stay.
    Create,
    /// It is created; an existing file is truncated.
    Replace,
}

/// What writes wait for, by the flags of open(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OpenSync {
    /// The page cache only.
    None,
    /// O_DSYNC.
    Data,
    /// O_SYNC.
    Full,
}

/// Preallocation before the measurement. It changes the cost of writes: a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// None: the file grows with the writes.
    None,
    /// ftruncate(2) to the full length: a hole.
    Truncate,
    /// fallocate(2) of the full length.
    Allocate,
}

/// The kind of workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Workers {
    /// Threads of this process.
    #[default]
    Threads,
    /// Processes forked for the job. The null engine uses threads.
    Processes,
}

/// Whether workers share a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Each has a separate file, or range of files.
    Own,
    /// All use the same file, each a separate part of it; random accesses with replacement go to
    /// the complete file.
    Shared,
    /// All use the same file, every n-th record each. Data jobs only.
    Interleaved,
}

/// Calls that make data durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SyncPolicy {
    /// After a number of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<SyncEvery>,
    /// After each updated record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<SyncCall>,
    /// After the last operation; its time is part of the job's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closing: Option<SyncCall>,
}

/// A sync after a number of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyncEvery {
    /// The number of writes.
    #[schemars(range(min = 1))]
    pub operations: u64,
    /// The call.
    pub call: SyncCall,
}

/// A call that makes data durable.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum SyncCall {
    /// fsync(2); with mmap, msync(2) before it.
    Fsync,
    /// fdatasync(2); with mmap, msync(2) before it.
    Fdatasync,
    /// sync_file_range(2) with waiting: only pages, no metadata, no device flush.
    #[strum(serialize = "sync-file-range")]
    FileRange,
    /// msync(2) with MS_SYNC; mmap only.
    Msync,
    /// F_BARRIERFSYNC of macOS: orders writes, and does not wait for the medium.
    Barrier,
    /// fsync(2) of macOS: the data can stay in the drive's cache, in any order.
    #[strum(serialize = "sync-to-drive")]
    Drive,
}

impl SyncCall {
    /// Name of its latencies in results.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What it needs of the platform, if not every one has it.
    pub(crate) fn demanded(self) -> Option<Ability> {
        match self {
            Self::Barrier => Some(Ability::Barrier),
            Self::Drive => Some(Ability::DriveSync),
            Self::Fsync | Self::Fdatasync | Self::FileRange | Self::Msync => None,
        }
    }
}

impl SyncPolicy {
    /// The sync that follows writes, and its interval.
    pub(crate) fn periodic(self) -> Option<SyncEvery> {
        let updated = self.updated.map(|call| SyncEvery {
            operations: 1,
            call,
        });
        self.every.or(updated)
    }

    /// No sync.
    pub const NONE: Self = Self {
        every: None,
        updated: None,
        closing: None,
    };
    /// One fsync at the end.
    pub const CLOSING_FSYNC: Self = Self {
        every: None,
        updated: None,
        closing: Some(SyncCall::Fsync),
    };
    /// One fsync after each write.
    pub const FSYNC_EACH: Self = Self {
        every: Some(SyncEvery {
            operations: 1,
            call: SyncCall::Fsync,
        }),
        updated: None,
        closing: None,
    };
}

impl DataJob {
    /// Writes the complete file sequentially into the page cache, with one thread.
    pub fn write(file: impl Into<PathBuf>, file_bytes: u64, record_bytes: u64) -> Self {
        Self {
            file: file.into(),
            file_size: file_bytes.into(),
            record: Bytes(record_bytes),
            open: OpenMode::Replace,
            ..Self::default()
        }
    }

    /// Reads an existing file sequentially with one thread.
    pub fn read(file: impl Into<PathBuf>, file_bytes: u64, record_bytes: u64) -> Self {
        Self {
            direction: Direction::Read,
            open: OpenMode::Existing,
            ..Self::write(file, file_bytes, record_bytes)
        }
    }

    /// The job of so many ranks: with all their threads, and room in a shared file for each rank.
    pub fn of_ranks(&self, ranks: u32) -> Self {
        let bytes = self.file_size.bytes();
        let of_all = match self.sharing {
            Sharing::Own => bytes,
            Sharing::Shared | Sharing::Interleaved => bytes.saturating_mul(ranks.into()),
        };
        Self {
            threads: self.threads.saturating_mul(ranks),
            file_size: of_all.into(),
            ..self.clone()
        }
    }

    /// The file of thread `thread`, below the root; if it is segmented, the name without a segment
    /// number.
    pub fn file_of(&self, thread: u32) -> PathBuf {
        if thread == 0 || self.sharing != Sharing::Own {
            return self.file.clone();
        }
        with_extension(&self.file, &thread.to_string())
    }

    /// The files of thread `thread`, below the root, in the order of their contents.
    pub fn files_of(&self, thread: u32) -> Vec<PathBuf> {
        let file = self.file_of(thread);
        match self.segment {
            None => vec![file],
            Some(Bytes(segment_bytes)) => {
                let count = self.end_bytes().div_ceil(segment_bytes.max(1));
                (0..count.min(SEGMENTS_MAX))
                    .map(|segment| segment_of(&file, segment))
                    .collect()
            }
        }
    }

    /// The files of all threads, without duplicates. For an invalid job the list is bounded as for
    /// a valid one.
    pub fn files(&self) -> Vec<PathBuf> {
        (0..self.owners().min(THREADS_MAX))
            .flat_map(|thread| self.files_of(thread))
            .collect()
    }

    /// Those of `threads` that have a file; a shared one is that of thread 0.
    pub(crate) fn owners_among(&self, threads: Range<u32>) -> Range<u32> {
        match self.sharing {
            Sharing::Own => threads,
            Sharing::Shared | Sharing::Interleaved => threads.start.min(1)..threads.end.min(1),
        }
    }

    /// Number of files, without segmentation.
    pub(crate) fn owners(&self) -> u32 {
        match self.sharing {
            Sharing::Own => self.threads,
            Sharing::Shared | Sharing::Interleaved => 1,
        }
    }

    /// The file of thread `thread` with the byte at `offset`.
    pub(crate) fn file_at(&self, thread: u32, offset: u64) -> PathBuf {
        let file = self.file_of(thread);
        match self.segment {
            None => file,
            Some(Bytes(segment_bytes)) => segment_of(&file, offset / segment_bytes.max(1)),
        }
    }

    /// End of the last record.
    pub(crate) fn end_bytes(&self) -> u64 {
        self.offset.saturating_add(self.file_size.bytes())
    }

    /// Required length of file `index` of a thread.
    pub(crate) fn length_of(&self, index: usize) -> u64 {
        let segment_bytes = self.segment.map_or(u64::MAX, |segment| segment.0);
        let before = segment_bytes.saturating_mul(index as u64);
        self.end_bytes().saturating_sub(before).min(segment_bytes)
    }

    /// True if the job makes data durable by `call`.
    pub(crate) fn syncs_by(&self, call: SyncCall) -> bool {
        let periodic = self.sync.periodic();
        self.sync.closing == Some(call) || periodic.is_some_and(|every| every.call == call)
    }

    /// The calls that make data durable.
    pub(crate) fn sync_calls(&self) -> impl Iterator<Item = SyncCall> {
        let periodic = self.sync.periodic().map(|every| every.call);
        self.sync.closing.into_iter().chain(periodic)
    }

    pub(crate) fn reads(&self) -> bool {
        !matches!(
            self.direction,
            Direction::Write | Direction::Mix { read_percent: 0 }
        )
    }

    pub(crate) fn writes(&self) -> bool {
        !matches!(
            self.direction,
            Direction::Read | Direction::Mix { read_percent: 100 }
        )
    }

    /// True if records are written that were not read before.
    pub(crate) fn makes_data(&self) -> bool {
        self.writes() && !self.updates()
    }

    /// True if records are updated.
    pub(crate) fn updates(&self) -> bool {
        matches!(
            self.direction,
            Direction::Update | Direction::ReadUpdate { .. }
        )
    }
}

/// `file` with a dot and `extension` appended.
fn with_extension(file: &Path, extension: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn segment_of(file: &Path, segment: u64) -> PathBuf {
    with_extension(file, &format!("{segment:03}"))
}

/// True if `path` leaves the directory that it is relative to.
pub(super) fn is_outside(path: &Path) -> bool {
    use std::path::Component;
    path.as_os_str().is_empty()
        || path
            .components()
            .any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_model::FailureKind;

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    fn an_invalid_job_is_refused_with_a_reason() {
        let good = DataJob::write("f", 1 << 20, 4096);
        good.validate().expect("makes sense");
        let bad = [
            (
                DataJob {
                    file: "../f".into(),
                    ..good.clone()
                },
                "leaves the root",
            ),
            (
                DataJob {
                    file: "/etc/f".into(),
                    ..good.clone()
                },
                "leaves the root",
            ),
            (
                DataJob {
                    record: Bytes(0),
                    ..good.clone()
                },
                "records of 0 bytes",
            ),
            (
                DataJob {
                    record: Bytes::gib(1),
                    ..good.clone()
                },
                "records of",
            ),
            (
                DataJob {
                    file_size: 0.into(),
                    ..good.clone()
                },
                "a file of 0 bytes",
            ),
            (
                DataJob {
                    threads: 0,
                    ..good.clone()
                },
                "0 threads",
            ),
            (
                DataJob {
                    verify: true,
                    ..DataJob::read("f", 10_000, 1000)
                },
                "no full blocks",
            ),
            (
                DataJob {
                    verify: true,
                    ..good.clone()
                },
                "operations other than reads",
            ),
            (
                DataJob {
                    access: Access::Strided { stride_records: 0 },
                    ..good.clone()
                },
                "a stride of 0",
            ),
            (
                DataJob {
                    segment: Some(Bytes(5000)),
                    ..good.clone()
                },
                "no multiples of its record",
            ),
            (
                DataJob {
                    segment: Some(Bytes(4096)),
                    file_size: (1 << 30).into(),
                    ..good.clone()
                },
                "262144 segments",
            ),
            (
                DataJob {
                    direction: Direction::Update,
                    ..good.clone()
                },
                "a file that was emptied",
            ),
            (
                DataJob {
                    direction: Direction::ReadUpdate { every: 0 },
                    ..DataJob::read("f", 1 << 20, 4096)
                },
                "every 0 operations",
            ),
            (
                DataJob {
                    sync: SyncPolicy {
                        updated: Some(SyncCall::Fsync),
                        ..SyncPolicy::NONE
                    },
                    ..good.clone()
                },
                "of which there is none",
            ),
            (
                DataJob {
                    direction: Direction::Update,
                    sync: SyncPolicy {
                        updated: Some(SyncCall::Fsync),
                        ..SyncPolicy::FSYNC_EACH
                    },
                    ..DataJob::read("f", 1 << 20, 4096)
                },
                "another every so many writes",
            ),
            (
                DataJob {
                    pace: Pace::Fixed { per_second: 0.0 },
                    ..good
                },
                "0 operations per second",
            ),
        ];
        for (job, reason) in bad {
            let error = job.validate().expect_err(reason);
            assert_eq!(error.kind(), FailureKind::BadInput);
            assert!(error.to_string().contains(reason), "{error}");
        }
    }

    #[test]
    fn threads_have_separate_files_unless_they_share() {
        let own = DataJob::read("d/f", 1, 1);
        assert_eq!(own.file_of(0), Path::new("d/f"));
        assert_eq!(own.file_of(3), Path::new("d/f.3"));
        let shared = DataJob {
            sharing: Sharing::Shared,
            ..own
        };
        assert_eq!(shared.file_of(3), Path::new("d/f"));
    }

    #[test]
    fn a_segmented_file_has_numbered_segments_and_a_short_last_one() {
        let job = DataJob {
            segment: Some(Bytes(4096)),
            threads: 2,
            ..DataJob::read("d/f", 10_000, 1024)
        };
        job.validate().expect("makes sense");
        let names = |thread| job.files_of(thread);
        assert_eq!(
            names(0),
            ["d/f.000", "d/f.001", "d/f.002"].map(PathBuf::from)
        );
        assert_eq!(names(1)[2], Path::new("d/f.1.002"));
        assert_eq!(job.files().len(), 6);
        assert_eq!(job.file_at(1, 4096), Path::new("d/f.1.001"));
        assert_eq!(
            [0, 1, 2].map(|index| job.length_of(index)),
            [4096, 4096, 1808]
        );
        let whole = DataJob::read("d/f", 10_000, 1024);
        assert_eq!(
            (whole.files(), whole.length_of(0)),
            (vec!["d/f".into()], 10_000)
        );
    }
}
