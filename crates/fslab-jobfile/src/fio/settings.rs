//! The settings of a job, with fio's defaults.

use super::units::{FioSize, KbBase};

/// How a job issues its I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FioEngine {
    /// read(2) and write(2).
    Moving,
    /// pread(2) and pwrite(2), or their vectored forms with one vector.
    Positioned,
    Libaio,
    PosixAio,
    Uring,
    Mmap,
    /// Operations on names, by fslab's word for them.
    Names(&'static str),
}

/// `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) is_random: bool,
    /// Bytes added to the position after each sequential record.
    pub(crate) gap: i64,
}

/// `random_distribution`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Distribution {
    Uniform,
    Zipf(f64),
    Pareto(f64),
    /// Percent of the accesses and of the file.
    Zoned(Vec<(u8, u8)>),
}

/// All settings that are expressed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FioSettings {
    pub(crate) base: KbBase,
    pub(crate) engine: FioEngine,
    pub(crate) pattern: Pattern,
    /// Bytes of reads and of writes.
    pub(crate) record: [u64; 2],
    /// Lengths and percents of reads and of writes.
    pub(crate) split: [Vec<(u64, u8)>; 2],
    pub(crate) alignment: Option<u64>,
    pub(crate) size: Option<FioSize>,
    pub(crate) io_size: Option<FioSize>,
    pub(crate) file_size: Option<u64>,
    pub(crate) offset: u64,
    pub(crate) offset_increment: u64,
    pub(crate) operations: Option<u64>,
    pub(crate) loops: u64,
    pub(crate) files: u64,
    pub(crate) files_in_turn: bool,
    pub(crate) copies: u64,
    pub(crate) depth: u64,
    pub(crate) batch: u64,
    pub(crate) direct: bool,
    /// fslab's word for O_DSYNC or O_SYNC.
    pub(crate) open_sync: Option<&'static str>,
    pub(crate) fsync: u64,
    pub(crate) fdatasync: u64,
    pub(crate) end_fsync: bool,
    pub(crate) runtime_ns: u64,
    pub(crate) time_based: bool,
    pub(crate) ramp_ns: u64,
    pub(crate) start_delay_ns: u64,
    /// Bytes per second of reads and of writes.
    pub(crate) rate: [Option<u64>; 2],
    pub(crate) rate_iops: [Option<u64>; 2],
    pub(crate) is_poisson: bool,
    pub(crate) think_ns: u64,
    pub(crate) think_operations: u64,
    pub(crate) distribution: Distribution,
    pub(crate) each_once: bool,
    /// The name of the file, which all copies of the job use.
    pub(crate) filename: Option<FioFile>,
    /// fslab's word for the preallocation.
    pub(crate) preparation: &'static str,
    pub(crate) overwrite: bool,
    pub(crate) create_on_open: bool,
    pub(crate) invalidate: bool,
    pub(crate) pre_read: bool,
    pub(crate) advice: Advice,
    pub(crate) stonewall: bool,
    pub(crate) wait_for: Option<String>,
    pub(crate) exitall: bool,
    pub(crate) is_thread: bool,
    pub(crate) compressible_percent: u64,
    pub(crate) duplicate_percent: u64,
    pub(crate) verifies: bool,
    pub(crate) do_verify: bool,
    pub(crate) read_percent: u64,
    pub(crate) polls: bool,
    pub(crate) registered_buffers: bool,
    pub(crate) registered_file: bool,
    pub(crate) submission_poll: bool,
}

/// A file that a job names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FioFile {
    /// As in the job file.
    pub(crate) given: String,
    /// Its last part, with plain characters.
    pub(crate) name: String,
    /// A name below /dev: a device has a size, so that the job may give none.
    pub(crate) is_device: bool,
}

/// `fadvise_hint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    None,
    /// By the order of the accesses.
    ByPattern,
    Sequential,
    Random,
    NoReuse,
}

impl Default for FioSettings {
    fn default() -> Self {
        Self {
            base: KbBase::default(),
            engine: FioEngine::Positioned,
            pattern: Pattern {
                reads: true,
                writes: false,
                is_random: false,
                gap: 0,
            },
            record: [4096; 2],
            split: [Vec::new(), Vec::new()],
            alignment: None,
            size: None,
            io_size: None,
            file_size: None,
            offset: 0,
            offset_increment: 0,
            operations: None,
            loops: 1,
            files: 1,
            files_in_turn: true,
            copies: 1,
            depth: 1,
            batch: 1,
            direct: false,
            open_sync: None,
            fsync: 0,
            fdatasync: 0,
            end_fsync: false,
            runtime_ns: 0,
            time_based: false,
            ramp_ns: 0,
            start_delay_ns: 0,
            rate: [None; 2],
            rate_iops: [None; 2],
            is_poisson: false,
            think_ns: 0,
            think_operations: 1,
            distribution: Distribution::Uniform,
            each_once: true,
            filename: None,
            preparation: "allocate",
            overwrite: false,
            create_on_open: false,
            invalidate: true,
            pre_read: false,
            advice: Advice::ByPattern,
            stonewall: false,
            wait_for: None,
            exitall: false,
            is_thread: false,
            compressible_percent: 0,
            duplicate_percent: 0,
            verifies: false,
            do_verify: true,
            read_percent: 50,
            polls: false,
            registered_buffers: false,
            registered_file: false,
            submission_poll: false,
        }
    }
}
