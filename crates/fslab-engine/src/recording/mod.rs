//! Recording during a job without allocations: latencies, counts, progress over time.

mod clock;
mod recorder;
mod series;
mod span;

pub use clock::cpu_use;
pub(crate) use clock::{Clock, MonotonicClock, SyntheticClock};
pub(crate) use recorder::{Recorder, Slot};
pub(crate) use series::SeriesRecorder;
pub(crate) use span::{ThreadOutcome, combine, sum_of_cpu};
