//! What is durable and what is pending at a time.

use serde::{Deserialize, Serialize};

use crate::{DiskLog, RequestKind};

/// Whether the disk loses what its cache holds when power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskCache {
    /// It does.
    Volatile,
    /// It does not: what has completed is durable.
    Durable,
}

/// A time at which power may fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The time: everything of this time has happened.
    pub at_ns: u64,
    /// Requests that were submitted.
    pub submitted: usize,
    /// The pending ones of them, in order.
    pub pending: Vec<usize>,
    /// Borders, such as ends of operations, up to this time.
    pub borders: usize,
}

impl Moment {
    /// The moment of `log` at a time.
    #[must_use]
    pub fn at(log: &DiskLog, at_ns: u64, cache: DiskCache) -> Self {
        let submitted = log.requests.partition_point(|it| it.submit_ns <= at_ns);
        let requests = &log.requests[..submitted];
        let flushes = requests
            .iter()
            .filter(|it| it.kind == RequestKind::Flush && it.done_ns <= at_ns);
        let flushed_ns = flushes.map(|it| it.submit_ns).max();
        let is_pending = |request: &crate::LogRequest| {
            let is_done = request.done_ns <= at_ns;
            let is_flushed = flushed_ns.is_some_and(|ns| request.done_ns <= ns);
            let is_kept = match cache {
                DiskCache::Volatile => is_flushed || request.fua && is_done,
                DiskCache::Durable => is_done,
            };
            request.changes() && !is_kept
        };
        let pending = (0..submitted).filter(|number| is_pending(&requests[*number]));
        Self {
            at_ns,
            submitted,
            pending: pending.collect(),
            borders: 0,
        }
    }
}

/// The moments from `begin_ns` to `end_ns` at which something is decided: both ends of that time,
/// submission and end of every flush, ends of FUA writes, and `borders`, which are the begins and
/// ends of operations, in order. Without a volatile cache the end of every request counts, and the
/// time before it, when it may have been cut.
#[must_use]
pub fn moments(
    log: &DiskLog,
    (begin_ns, end_ns): (u64, u64),
    borders: &[u64],
    cache: DiskCache,
) -> Vec<Moment> {
    let mut times = vec![begin_ns, end_ns];
    times.extend(borders);
    for request in &log.requests {
        match (&request.kind, cache) {
            (RequestKind::Flush, DiskCache::Volatile) => {
                times.extend([request.submit_ns, request.done_ns]);
            }
            (_, DiskCache::Volatile) if request.fua => times.push(request.done_ns),
            (_, DiskCache::Volatile) | (RequestKind::Flush, DiskCache::Durable) => {}
            (_, DiskCache::Durable) => {
                times.extend([request.done_ns.saturating_sub(1), request.done_ns]);
            }
        }
    }
    times.retain(|at_ns| (begin_ns..=end_ns).contains(at_ns));
    times.sort_unstable();
    times.dedup();
    let moment = |at_ns: u64| Moment {
        borders: borders.iter().filter(|border| **border <= at_ns).count(),
        ..Moment::at(log, at_ns, cache)
    };
    times.into_iter().map(moment).collect()
}
