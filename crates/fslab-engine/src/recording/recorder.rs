//! The recorder of one thread: a histogram per kind of operation, counts, progress.

use fslab_model::{LatencyCounts, OperationLatency};

use super::SeriesRecorder;

/// Index of a kind of operation in a recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(usize);

/// Recorded operations of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    latencies: Vec<(&'static str, LatencyCounts)>,
    series: SeriesRecorder,
    operations: u64,
    bytes: u64,
    notes: Vec<String>,
}

impl Recorder {
    /// An empty recorder whose series has intervals of `interval_ns`.
    pub(crate) fn new(interval_ns: u64) -> Self {
        Self {
            latencies: Vec::new(),
            series: SeriesRecorder::new(interval_ns),
            operations: 0,
            bytes: 0,
            notes: Vec::new(),
        }
    }

    /// Adds a kind of operation; allocates, so it must be called before the measurement.
    pub(crate) fn slot(&mut self, operation: &'static str) -> Slot {
        let known = self
            .latencies
            .iter()
            .position(|(name, _)| *name == operation);
        Slot(known.unwrap_or_else(|| {
            self.latencies.push((operation, LatencyCounts::default()));
            self.latencies.len() - 1
        }))
    }

    /// Starts at `now_ns`, discarding the ramp-up.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        if self.operations > 0 {
            for (_, counts) in &mut self.latencies {
                counts.clear();
            }
        }
        self.series.begin(now_ns);
        self.operations = 0;
        self.bytes = 0;
    }

    /// Records an operation of the job.
    #[inline(always)]
    pub(crate) fn operation(&mut self, slot: Slot, start_ns: u64, end_ns: u64, bytes: u64) {
        self.latencies[slot.0]
            .1
            .record(end_ns.saturating_sub(start_ns));
        self.series.record(end_ns, bytes);
        self.operations += 1;
        self.bytes += bytes;
    }

    /// Records the latency of an auxiliary operation, such as an fsync, which is not counted.
    #[inline]
    pub(crate) fn auxiliary(&mut self, slot: Slot, start_ns: u64, end_ns: u64) {
        self.latencies[slot.0]
            .1
            .record(end_ns.saturating_sub(start_ns));
    }

    /// Adds a note that qualifies the figures; for events that occur at most once.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Takes the notes.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Operations recorded.
    pub(crate) fn operations(&self) -> u64 {
        self.operations
    }

    /// Bytes recorded.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The latencies of all kinds that occurred, and the series.
    pub(crate) fn finish(self) -> (Vec<OperationLatency>, SeriesRecorder) {
        let latencies = self
            .latencies
            .into_iter()
            .map(|(operation, counts)| OperationLatency {
                operation: operation.to_owned(),
                histogram: counts.histogram(),
            })
            .filter(|latency| latency.histogram.count() > 0);
        (latencies.collect(), self.series)
    }
}
