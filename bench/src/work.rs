//! What is measured: the rows of the bench, their figures, and how much is done.

use std::fmt;
use std::str::FromStr;

/// Length of a record of random reads, in bytes.
pub(crate) const RECORD_BYTES: u64 = 4096;
/// Length of a record of sequential writes and reads, in bytes.
pub(crate) const STREAM_RECORD_BYTES: u64 = 1 << 20;
/// Length of each of many files, in bytes.
pub(crate) const SMALL_FILE_BYTES: u64 = 50_000;
/// Reads in flight of the io_uring rows.
pub(crate) const QUEUE_DEPTH: u64 = 32;
/// Reads submitted and completions awaited with one system call.
pub(crate) const QUEUE_BATCH: u64 = 16;
/// Length of a record of seeks, in bytes: bonnie++ reports no rate of less than half a second, and
/// makes as many seeks however long a record is.
pub(crate) const SEEK_RECORD_BYTES: u64 = 1 << 20;
/// Processes that seek, as in bonnie++.
pub(crate) const SEEKERS: u64 = 5;
/// Of so many seeks of a process the first changes its record, as in bonnie++.
pub(crate) const SEEKS_PER_UPDATE: u64 = 10;
/// The file that records are read from, below a run's directory.
pub(crate) const DATA_FILE: &str = "data";
/// The directory that many files are made in, below a run's directory: the same for every
/// contender, since on ext4 a directory's place on the disk decides how fast files are made in it.
pub(crate) const FILES_FOLDER: &str = "files";

/// A row of the bench: work that every contender is asked to do, by one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Work {
    /// Cached 4 KiB random reads, one pread(2) after the other.
    Pread,
    /// The same from the last record to the first.
    Backward,
    /// Cached 4 KiB random reads from a mapped file.
    Mmap,
    /// The same through io_uring, buffered.
    Ring,
    /// The same through io_uring, with O_DIRECT.
    RingDirect,
    /// Create, stat and unlink empty files.
    Names,
    /// Write and read one file in records of 1 MiB.
    Stream,
    /// Write, read, and read and verify files of 50 kB.
    Files,
    /// Random reads of 1 MiB by several processes, one in ten written back.
    Seeks,
}

/// Something that is measured in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Figure {
    /// Random reads per second.
    RandomRead,
    /// Reads from the end of a file to its beginning, per second.
    BackwardRead,
    /// Files created per second.
    Create,
    /// stat(2) per second.
    Stat,
    /// Files unlinked per second.
    Unlink,
    /// Bytes written per second.
    StreamWrite,
    /// Bytes read per second.
    StreamRead,
    /// Files created and written per second.
    FilesWrite,
    /// Files opened and read per second.
    FilesRead,
    /// Files opened, read and verified per second.
    FilesVerified,
    /// Seeks per second.
    Seek,
}

/// How much is done in one run of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amounts {
    /// Length of the file that records are read from.
    pub(crate) data_bytes: u64,
    /// Reads of 4 KiB.
    pub(crate) reads: u64,
    /// Random reads with O_DIRECT.
    pub(crate) direct_reads: u64,
    /// Empty files.
    pub(crate) names: u64,
    /// Length of the file that is written and read in large records.
    pub(crate) stream_bytes: u64,
    /// Files of 50 kB.
    pub(crate) files: u64,
    /// Seeks of all processes together.
    pub(crate) seeks: u64,
}

impl Work {
    pub(crate) const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// What is done, in words and amounts.
    pub(crate) fn title(self, amounts: &Amounts) -> String {
        let data = mebibytes(amounts.data_bytes);
        let reads = self.operations(amounts);
        match self {
            Self::Pread => format!("{reads} cached random reads of 4 KiB from {data}, pread(2)"),
            Self::Backward => format!(
                "{reads} cached reads of 4 KiB from {data}, from the last record to the first, pread(2)"
            ),
            Self::Mmap => {
                format!("{reads} cached random reads of 4 KiB from {data}, copied from a mapping")
            }
            Self::Ring => format!(
                "{reads} random reads of 4 KiB from {data}, io_uring, depth {QUEUE_DEPTH}, \
                 batch {QUEUE_BATCH}, buffered"
            ),
            Self::RingDirect => format!(
                "{reads} random reads of 4 KiB from {data}, io_uring, depth {QUEUE_DEPTH}, \
                 batch {QUEUE_BATCH}, O_DIRECT"
            ),
            Self::Names => format!("create, stat, unlink {} empty files", amounts.names),
            Self::Stream => format!(
                "write and read {} in records of 1 MiB, buffered, without preallocation",
                mebibytes(amounts.stream_bytes)
            ),
            Self::Files => format!(
                "{} files of 50 kB written, read, read and verified",
                amounts.files
            ),
            Self::Seeks => format!(
                "{reads} cached random reads of 1 MiB from {data} by {SEEKERS} processes, every \
                 {SEEKS_PER_UPDATE}th changed, written back and synced"
            ),
        }
    }

    /// What is measured.
    pub(crate) fn figures(self) -> &'static [Figure] {
        match self {
            Self::Pread | Self::Mmap | Self::Ring | Self::RingDirect => &[Figure::RandomRead],
            Self::Backward => &[Figure::BackwardRead],
            Self::Names => &[Figure::Create, Figure::Stat, Figure::Unlink],
            Self::Stream => &[Figure::StreamWrite, Figure::StreamRead],
            Self::Files => &[Figure::FilesWrite, Figure::FilesRead, Figure::FilesVerified],
            Self::Seeks => &[Figure::Seek],
        }
    }

    /// Operations of one figure in one run.
    pub(crate) fn operations(self, amounts: &Amounts) -> u64 {
        match self {
            Self::Pread | Self::Backward | Self::Mmap | Self::Ring => amounts.reads,
            Self::RingDirect => amounts.direct_reads,
            Self::Names => amounts.names,
            Self::Stream => amounts.stream_bytes / STREAM_RECORD_BYTES,
            Self::Files => amounts.files,
            Self::Seeks => amounts.seeks,
        }
    }

    /// Whether a run takes about a second.
    pub(crate) fn is_short(self) -> bool {
        self.uses_data_file()
    }

    /// Whether one process and one thread does all of a run, so that what an operation costs it can
    /// be counted.
    pub(crate) fn is_counted(self) -> bool {
        self != Self::Seeks
    }

    /// Memory that the files of a run take, where that is much.
    pub(crate) fn memory_bytes(self, amounts: &Amounts) -> u64 {
        match self {
            Self::Stream => amounts.stream_bytes,
            Self::Files => amounts.files * SMALL_FILE_BYTES.next_multiple_of(4096),
            _ => 0,
        }
    }

    /// Whether the file that records are read from is needed.
    pub(crate) fn uses_data_file(self) -> bool {
        !self.makes_files() && self != Self::Stream
    }

    /// Whether many files are made in one directory, where every command is started.
    pub(crate) fn makes_files(self) -> bool {
        matches!(self, Self::Names | Self::Files)
    }
}

impl FromStr for Work {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().copied().find(|work| work.name() == text);
        found.ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|work| work.name()).collect();
            format!("there is no row '{text}'; there are {}", known.join(", "))
        })
    }
}

impl Figure {
    /// The name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RandomRead => "random read",
            Self::BackwardRead => "backward read",
            Self::Create => "create",
            Self::Stat => "stat",
            Self::Unlink => "unlink",
            Self::StreamWrite => "write",
            Self::StreamRead => "read",
            Self::FilesWrite => "write files",
            Self::FilesRead => "read files",
            Self::FilesVerified => "read and verify files",
            Self::Seek => "seek",
        }
    }

    /// A rate of this figure, with its unit.
    pub(crate) fn show(self, per_second: f64) -> String {
        match self {
            Self::StreamWrite | Self::StreamRead => {
                format!("{:.0} MiB/s", per_second / f64::from(1 << 20))
            }
            _ => format!("{per_second:.0}/s"),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Amounts {
    /// What the project's targets are stated for.
    pub(crate) const FULL: Self = Self {
        data_bytes: 256 << 20,
        reads: 400_000,
        direct_reads: 200_000,
        names: 50_000,
        stream_bytes: 2 << 30,
        files: 20_000,
        seeks: 8_192,
    };

    /// Enough to see that everything works; no figure means anything.
    pub(crate) const QUICK: Self = Self {
        data_bytes: 8 << 20,
        reads: 5_000,
        direct_reads: 2_000,
        names: 500,
        stream_bytes: 16 << 20,
        files: 100,
        seeks: 100,
    };

    /// The same work with `1 / divisor` of the operations.
    pub(crate) fn divided(self, divisor: u64) -> Self {
        let part = |count: u64| (count / divisor).max(1);
        Self {
            data_bytes: self.data_bytes,
            reads: part(self.reads),
            direct_reads: part(self.direct_reads),
            names: part(self.names),
            stream_bytes: part(self.stream_bytes / STREAM_RECORD_BYTES) * STREAM_RECORD_BYTES,
            files: part(self.files),
            seeks: part(self.seeks),
        }
    }

    /// The same work with `count` operations in every row.
    pub(crate) fn with_operations(self, count: u64) -> Self {
        Self {
            data_bytes: self.data_bytes,
            reads: count,
            direct_reads: count,
            names: count,
            stream_bytes: count * STREAM_RECORD_BYTES,
            files: count,
            seeks: count,
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_name_and_an_unknown_one_names_them_all() {
        for &work in Work::ALL {
            assert_eq!(work.name().parse(), Ok(work));
        }
        let error = "sleep".parse::<Work>().expect_err("is no row");
        assert!(error.contains("ring-direct"), "{error}");
    }

    #[test]
    fn a_part_of_the_work_is_never_nothing() {
        let part = Amounts::QUICK.divided(1_000_000);
        for &work in Work::ALL {
            assert_eq!(work.operations(&part), 1, "{work:?}");
            assert_eq!(work.operations(&part.with_operations(7)), 7);
        }
    }
}
