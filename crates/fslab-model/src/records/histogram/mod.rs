//! Latency distributions: buckets, counts while recording, and what is kept of them.
//!
//! ```text
//!     LatencyCounts (dense, for recording) --> LatencyHistogram (sparse) <--> encoding (HDR "V2")
//! ```

mod buckets;
mod encoding;
mod latency_counts;
mod latency_histogram;

pub use latency_counts::LatencyCounts;
pub use latency_histogram::{HistogramError, LatencyHistogram};
