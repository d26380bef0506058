//! What a job left behind: figures of all threads together, and of each.

use fslab_model::{CpuUse, LatencyHistogram, OperationLatency, TimeSeries};

/// What a job left behind.
///
/// `operations` counts records or files. Calls of fsync and its kin are not in it: they stand among
/// the latencies under their own name.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// When the first operation began, on the clock that times them all.
    pub start_ns: u64,
    /// From the start of the first operation to the end of the last, a closing sync included.
    pub elapsed_ns: u64,
    /// Operations completed.
    pub operations: u64,
    /// Bytes that were asked to move; `None` for a job that moves no data.
    pub bytes: Option<u64>,
    /// Latencies by kind of operation.
    pub latencies: Vec<OperationLatency>,
    /// Progress over time.
    pub series: Option<TimeSeries>,
    /// Processor use of the process during the job; `None` where no real time passed.
    pub cpu: Option<CpuUse>,
    /// The figures of each thread, in the order of the threads.
    pub threads: Vec<ThreadMeasured>,
    /// When the first thread had done its share, from the start of the first operation: until
    /// then all of them were at work.
    pub first_done_ns: u64,
    /// When the last one had; equal to `elapsed_ns`.
    pub last_done_ns: u64,
    /// What a reader of the figures must know.
    pub notes: Vec<String>,
}

/// What one thread of a job did.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadMeasured {
    /// From the start of its first operation to the end of its last.
    pub elapsed_ns: u64,
    /// Operations that it completed.
    pub operations: u64,
    /// Bytes that it moved.
    pub bytes: u64,
    /// Its latencies by kind of operation.
    pub latencies: Vec<OperationLatency>,
    /// Its processor use; `None` where no real time passed.
    pub cpu: Option<CpuUse>,
}

impl Measured {
    /// The latencies of `operation`; `None` where there was no such operation.
    #[must_use]
    pub fn latency(&self, operation: &str) -> Option<&LatencyHistogram> {
        let of_it = |latency: &&OperationLatency| latency.operation == operation;
        self.latencies
            .iter()
            .find(of_it)
            .map(|latency| &latency.histogram)
    }
}
