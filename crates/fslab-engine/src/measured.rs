//! The figures of a job: of all threads together, and of each.

use fslab_model::{CpuUse, LatencyHistogram, OperationLatency, TimeSeries};

/// The figures of a job.
///
/// `operations` counts records or files. Syncs are not counted: their latencies are recorded under
/// separate names.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Start of the first operation, on the common clock.
    pub start_ns: u64,
    /// From the start of the first thread to that of the last.
    pub start_skew_ns: u64,
    /// From the start of the first operation to the end of the last, including a closing sync.
    pub elapsed_ns: u64,
    /// Operations completed.
    pub operations: u64,
    /// Bytes requested; `None` for a job without data.
    pub bytes: Option<u64>,
    /// Latencies by kind of operation.
    pub latencies: Vec<OperationLatency>,
    /// Progress over time.
    pub series: Option<TimeSeries>,
    /// Processor use of the process during the job; `None` without real time.
    pub cpu: Option<CpuUse>,
    /// Figures by thread.
    pub threads: Vec<ThreadMeasured>,
    /// End of the first thread to finish, from the start of the first operation: until then all
    /// threads were working.
    pub first_done_ns: u64,
    /// End of the last thread; equal to `elapsed_ns`.
    pub last_done_ns: u64,
    /// Notes that qualify the figures.
    pub notes: Vec<String>,
}

/// The figures of one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadMeasured {
    /// From the start of its first operation to the end of its last.
    pub elapsed_ns: u64,
    /// Operations completed.
    pub operations: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Its latencies by kind of operation.
    pub latencies: Vec<OperationLatency>,
    /// Its processor use; `None` without real time.
    pub cpu: Option<CpuUse>,
}

impl Measured {
    /// Of a rank that did nothing.
    pub const NOTHING: Self = Self {
        start_ns: 0,
        start_skew_ns: 0,
        elapsed_ns: 0,
        operations: 0,
        bytes: None,
        latencies: Vec::new(),
        series: None,
        cpu: None,
        threads: Vec::new(),
        first_done_ns: 0,
        last_done_ns: 0,
        notes: Vec::new(),
    };

    /// The latencies of `operation`; `None` if it did not occur.
    pub fn latency(&self, operation: &str) -> Option<&LatencyHistogram> {
        let of_it = |latency: &&OperationLatency| latency.operation == operation;
        self.latencies
            .iter()
            .find(of_it)
            .map(|latency| &latency.histogram)
    }
}
