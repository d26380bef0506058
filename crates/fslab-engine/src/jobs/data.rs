//! Jobs that read and write the data of a file.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use super::{Advice, Pace, StdioTuning, UringTuning};
use crate::{Access, Content};

/// Threads of one job at most.
pub(super) const THREADS_MAX: u32 = 1024;
/// Segments of a file at most: each thread has all of them open.
pub(super) const SEGMENTS_MAX: u64 = 512;

/// Reads or writes of one file, or of one file per thread.
///
/// Make one with [`DataJob::read`] or [`DataJob::write`], and set what differs.
#[derive(Clone, Debug, PartialEq)]
pub struct DataJob {
    /// The file, below the root. With [`Sharing::Own`] thread 0 works on it, and thread `n` on the
    /// same name with `.n` appended.
    pub file: PathBuf,
    /// Bytes of the file that records are cut from.
    pub file_bytes: u64,
    /// The file is cut into files of this length, with `.000`, `.001`, ... appended to its name; a
    /// multiple of the record. `None`: it is one file.
    pub segment_bytes: Option<u64>,
    /// Length of a record: 1 byte to 128 MiB. The last one of the file may be shorter.
    pub record_bytes: u64,
    /// Where the first record begins in the file.
    pub offset_bytes: u64,
    /// Reading, writing, or both.
    pub direction: Direction,
    /// In what order.
    pub access: Access,
    /// When to stop.
    pub amount: Amount,
    /// What is done before that and thrown away, in nanoseconds.
    pub ramp_up_ns: u64,
    /// When operations are issued.
    pub pace: Pace,
    /// Whether the file is to be there.
    pub open: OpenMode,
    /// Space that is reserved before the clock starts.
    pub preparation: Preparation,
    /// pread(2) and pwrite(2); else lseek(2), where the next record is not the one behind the last,
    /// then read(2) or write(2). Only psync has the choice.
    pub positioned: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_DSYNC or O_SYNC.
    pub open_sync: OpenSync,
    /// A hint to the kernel.
    pub advice: Option<Advice>,
    /// Which calls make the data durable.
    pub sync: SyncPolicy,
    /// What is written, as to compression and deduplication.
    pub content: Content,
    /// How many times the content was replaced before; what is written, and expected, follows.
    pub generation: u32,
    /// Compare what is read with what was written. Needs records of whole blocks of 4 KiB.
    pub verify: bool,
    /// Accept blocks of an earlier generation as well: a rewrite need not have reached them all.
    pub older_generations: bool,
    /// How many threads, or processes.
    pub threads: u32,
    /// Which of the two.
    pub workers: Workers,
    /// Whether they share the file.
    pub sharing: Sharing,
    /// Settings of the io_uring engine.
    pub uring: UringTuning,
    /// Settings of the stdio engine.
    pub stdio: StdioTuning,
}

/// What is done with records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// They are read.
    Read,
    /// They are written.
    Write,
    /// Each is read or written, at random.
    Mix {
        /// Percent of the operations that read: 0 to 100.
        read_percent: u8,
    },
    /// Each is read, one byte of it is changed, and it is written back where it was. That is one
    /// operation, and its bytes count once.
    Update,
    /// They are read, and some are updated.
    ReadUpdate {
        /// One operation in so many updates, of each thread the first; at least 1.
        every: u64,
    },
}

/// When a thread has done enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// After as many operations as its part of the file has records.
    WholeFile,
    /// After so many operations of each thread.
    Operations(u64),
    /// After so many operations of all threads together: whoever is ready takes the next. Of the
    /// null engine, whose threads have no common clock, each does its even share.
    TotalOperations(u64),
    /// After so many bytes of each thread, rounded up to whole records.
    Bytes(u64),
    /// After so many nanoseconds; the operation that is under way then is completed.
    TimeNs(u64),
}

/// Whether a file is to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenMode {
    /// It must exist.
    Existing,
    /// It is created where it does not exist, and keeps what it holds.
    Create,
    /// It is created, and emptied where it exists.
    Replace,
}

/// What a write waits for, as set when the file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenSync {
    /// The page cache.
    None,
    /// O_DSYNC.
    Data,
    /// O_SYNC.
    Full,
}

/// Space that is reserved before the clock starts. It changes what writes cost: a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// None: the file grows as it is written.
    None,
    /// ftruncate(2) to its full length: a hole.
    Truncate,
    /// fallocate(2) of its full length.
    Allocate,
}

/// What works at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workers {
    /// Threads of this process.
    #[default]
    Threads,
    /// Processes, forked for the job; also a single one is. The null engine uses threads.
    Processes,
}

/// Whether threads share a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Each has a file, or a range of files, of its own.
    Own,
    /// All work on the same: where a pattern covers a file, each covers a part of its own; random
    /// accesses with replacement go everywhere.
    Shared,
}

/// Which calls make data durable, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SyncPolicy {
    /// Every so many writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<SyncEvery>,
    /// After each record that was updated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<SyncCall>,
    /// After the last operation; its time is part of the job's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closing: Option<SyncCall>,
}

/// A sync every so many writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncEvery {
    /// How many; at least 1.
    pub operations: u64,
    /// The call.
    pub call: SyncCall,
}

/// A call that makes data durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncCall {
    /// fsync(2); with mmap, msync(2) of the mapping and then fsync(2).
    Fsync,
    /// fdatasync(2); with mmap, msync(2) of the mapping and then fdatasync(2).
    Fdatasync,
    /// sync_file_range(2) of the whole file, waiting for it: pages only, no metadata, no flush.
    FileRange,
    /// msync(2) with MS_SYNC of the whole mapping; mmap only.
    Msync,
}

impl SyncCall {
    /// The name under which its latencies are recorded.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::FileRange => "sync-file-range",
            Self::Msync => "msync",
        }
    }
}

impl SyncPolicy {
    /// The sync that follows writes, and how often.
    pub(crate) fn periodic(self) -> Option<SyncEvery> {
        let updated = self.updated.map(|call| SyncEvery {
            operations: 1,
            call,
        });
        self.every.or(updated)
    }

    /// No call at all.
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
    /// The whole file is written from its beginning, into the page cache, by one thread.
    pub fn write(file: impl Into<PathBuf>, file_bytes: u64, record_bytes: u64) -> Self {
        Self {
            direction: Direction::Write,
            open: OpenMode::Replace,
            ..Self::read(file, file_bytes, record_bytes)
        }
    }

    /// The whole of an existing file is read from its beginning by one thread.
    pub fn read(file: impl Into<PathBuf>, file_bytes: u64, record_bytes: u64) -> Self {
        Self {
            file: file.into(),
            file_bytes,
            segment_bytes: None,
            record_bytes,
            offset_bytes: 0,
            direction: Direction::Read,
            access: Access::Sequential,
            amount: Amount::WholeFile,
            ramp_up_ns: 0,
            pace: Pace::AsFastAsPossible,
            open: OpenMode::Existing,
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
            uring: UringTuning::default(),
            stdio: StdioTuning::default(),
        }
    }

    /// The file of thread `thread`, below the root; where it is cut, the name of it all.
    #[must_use]
    pub fn file_of(&self, thread: u32) -> PathBuf {
        if thread == 0 || self.sharing == Sharing::Shared {
            return self.file.clone();
        }
        with_extension(&self.file, &thread.to_string())
    }

    /// The files that thread `thread` works on, below the root, in the order of their content.
    #[must_use]
    pub fn files_of(&self, thread: u32) -> Vec<PathBuf> {
        let file = self.file_of(thread);
        match self.segment_bytes {
            None => vec![file],
            Some(segment_bytes) => {
                let count = self.end_bytes().div_ceil(segment_bytes.max(1));
                (0..count.min(SEGMENTS_MAX))
                    .map(|segment| segment_of(&file, segment))
                    .collect()
            }
        }
    }

    /// The files of all threads, each once. Of a job that [`DataJob::validate`] refuses, no more
    /// than a valid one has.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        (0..self.owners().min(THREADS_MAX))
            .flat_map(|thread| self.files_of(thread))
            .collect()
    }

    /// How many files there are, where none is cut.
    pub(crate) fn owners(&self) -> u32 {
        match self.sharing {
            Sharing::Own => self.threads,
            Sharing::Shared => 1,
        }
    }

    /// The file of thread `thread` that holds the byte at `offset`.
    pub(crate) fn file_at(&self, thread: u32, offset: u64) -> PathBuf {
        let file = self.file_of(thread);
        match self.segment_bytes {
            None => file,
            Some(segment_bytes) => segment_of(&file, offset / segment_bytes.max(1)),
        }
    }

    /// Where the last record ends.
    pub(crate) fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.file_bytes)
    }

    /// How long file `index` of those of a thread must be.
    pub(crate) fn length_of(&self, index: usize) -> u64 {
        let segment_bytes = self.segment_bytes.unwrap_or(u64::MAX);
        let before = segment_bytes.saturating_mul(index as u64);
        self.end_bytes().saturating_sub(before).min(segment_bytes)
    }

    /// Whether `call` is among the calls that make the job's data durable.
    pub(crate) fn syncs_by(&self, call: SyncCall) -> bool {
        let periodic = self.sync.periodic();
        self.sync.closing == Some(call) || periodic.is_some_and(|every| every.call == call)
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

    /// Whether records are written that were not read before.
    pub(crate) fn makes_data(&self) -> bool {
        self.writes() && !self.updates()
    }

    /// Whether records are read, changed and written back.
    pub(crate) fn updates(&self) -> bool {
        matches!(
            self.direction,
            Direction::Update | Direction::ReadUpdate { .. }
        )
    }
}

/// `file` with a dot and `extension` behind its whole name.
fn with_extension(file: &Path, extension: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn segment_of(file: &Path, segment: u64) -> PathBuf {
    with_extension(file, &format!("{segment:03}"))
}

/// Whether `path` leads out of the folder that it is relative to.
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
    fn a_job_that_makes_no_sense_is_refused_with_a_reason() {
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
                    record_bytes: 0,
                    ..good.clone()
                },
                "records of 0 bytes",
            ),
            (
                DataJob {
                    record_bytes: 1 << 30,
                    ..good.clone()
                },
                "records of",
            ),
            (
                DataJob {
                    file_bytes: 0,
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
                "no whole blocks",
            ),
            (
                DataJob {
                    verify: true,
                    ..good.clone()
                },
                "something else than reads",
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
                    segment_bytes: Some(5000),
                    ..good.clone()
                },
                "no multiples of its record",
            ),
            (
                DataJob {
                    segment_bytes: Some(4096),
                    file_bytes: 1 << 30,
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
    fn threads_have_files_of_their_own_unless_they_share() {
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
    fn a_file_that_is_cut_has_numbered_segments_of_which_the_last_is_short() {
        let job = DataJob {
            segment_bytes: Some(4096),
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
