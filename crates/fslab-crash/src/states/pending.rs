//! The moments of a log at which power may fail.

use super::lifetimes::{Lifetimes, Moment};
use crate::log::DiskCache;
use crate::{LogRequest, RequestKind};

/// Most moments: twice the most requests of a log, and the most that its head has.
const MOMENTS_MAX: usize = 12 << 20;

/// Times at which power may fail, with what is durable and what is pending then.
#[derive(Debug)]
pub struct Moments {
    pub(super) lifetimes: Lifetimes,
    pub(super) all: Vec<Moment>,
}

/// More moments than are looked at.
#[derive(Debug, thiserror::Error)]
#[error("the disk log has more moments at which power can fail than the limit of {MOMENTS_MAX}")]
pub struct TooManyMoments;

impl Moments {
    /// The moments in each window, from its begin to its end, at which something is decided: both
    /// ends of the window, submission and end of every flush, ends of FUA writes, and `borders`,
    /// which are the begins and ends of operations, in order. Without a volatile cache the end of
    /// every request counts, and the time before it, when it may have been cut.
    ///
    /// # Errors
    /// [`TooManyMoments`]: windows of a sound log do not overlap.
    pub fn of(
        requests: &[LogRequest],
        windows: &[(u64, u64)],
        borders: &[u64],
        cache: DiskCache,
    ) -> Result<Self, TooManyMoments> {
        let (lifetimes, ends) = Lifetimes::of(requests, cache);
        let mut decisions = decisions(requests, cache);
        let mut moments = Self {
            lifetimes,
            all: Vec::new(),
        };
        for (begin_ns, end_ns) in windows {
            if begin_ns > end_ns {
                continue;
            }
            let within = |times: &[u64]| {
                let first = times.partition_point(|it| it < begin_ns);
                let end = times.partition_point(|it| it <= end_ns);
                first..end
            };
            let decided = within(&decisions);
            let own = &borders[within(borders)];
            let room = MOMENTS_MAX - moments.all.len();
            if decided.len() + own.len() + 2 > room {
                return Err(TooManyMoments);
            }
            let mut times = match windows.len() {
                // They are tens of MB: without other windows, no copy is needed.
                1 => {
                    decisions.truncate(decided.end);
                    decisions.drain(..decided.start);
                    std::mem::take(&mut decisions)
                }
                _ => decisions[decided].to_vec(),
            };
            times.extend([*begin_ns, *end_ns]);
            times.extend(own);
            times.sort_unstable();
            times.dedup();
            moments.add(requests, &ends, &times, borders);
        }
        Ok(moments)
    }

    /// Adds the moments of times that are in order.
    fn add(&mut self, requests: &[LogRequest], ends: &[u64], times: &[u64], borders: &[u64]) {
        let Some(first_ns) = times.first().copied() else {
            return;
        };
        let mut submitted = requests.partition_point(|it| it.submit_ns <= first_ns);
        let mut ended = ends.partition_point(|it| *it <= first_ns);
        let mut begun = borders.partition_point(|it| *it <= first_ns);
        self.all.reserve(times.len());
        for at_ns in times.iter().copied() {
            let later = requests[submitted..].iter();
            submitted += later.take_while(|it| it.submit_ns <= at_ns).count();
            let later = ends[ended..].iter();
            ended += later.take_while(|it| **it <= at_ns).count();
            let later = borders[begun..].iter();
            begun += later.take_while(|it| **it <= at_ns).count();
            self.all.push(Moment {
                at_ns,
                submitted: submitted as u32,
                ended: ended as u32,
                borders: begun as u32,
            });
        }
    }

    /// The number of moments.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The most writes that are pending at a moment.
    pub fn most_pending(&self) -> usize {
        let pending = |it: &Moment| self.lifetimes.pending(*it).writes as usize;
        self.all.iter().map(pending).max().unwrap_or(0)
    }

    /// The writes that are pending at a time.
    #[cfg(test)]
    pub(crate) fn at(requests: &[LogRequest], at_ns: u64, cache: DiskCache) -> Vec<usize> {
        let moments = Self::of(requests, &[(at_ns, at_ns)], &[], cache).expect("one");
        let pending = moments.lifetimes.each_pending(moments.all[0]);
        pending.map(|it| it as usize).collect()
    }
}

/// The times at which requests decide something, in order, each once.
fn decisions(requests: &[LogRequest], cache: DiskCache) -> Vec<u64> {
    let mut times = Vec::new();
    for request in requests {
        match (request.kind, cache) {
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
    times.sort_unstable();
    times.dedup();
    times
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::BlockList;

    /// What is pending, request by request, as the definition says.
    fn by_definition(requests: &[LogRequest], at_ns: u64, cache: DiskCache) -> Vec<usize> {
        let submitted = requests.iter().take_while(|it| it.submit_ns <= at_ns);
        let submitted: Vec<&LogRequest> = submitted.collect();
        let is_kept = |request: &LogRequest| {
            let is_flushed = submitted.iter().any(|flush| {
                flush.kind == RequestKind::Flush
                    && flush.done_ns <= at_ns
                    && request.done_ns <= flush.submit_ns
            });
            let is_done = request.done_ns <= at_ns;
            match cache {
                DiskCache::Volatile => is_flushed || request.fua && is_done,
                DiskCache::Durable => is_done,
            }
        };
        let numbered = submitted.iter().enumerate();
        let pending = numbered.filter(|(_, it)| it.changes() && !is_kept(it));
        pending.map(|(number, _)| number).collect()
    }

    fn request((kind, wait_ns, takes_ns, fua): (u8, u64, u64, bool), now: &mut u64) -> LogRequest {
        *now += wait_ns;
        LogRequest {
            kind: match kind {
                0 => RequestKind::Flush,
                1 => RequestKind::Discard,
                _ => RequestKind::Write,
            },
            blocks: BlockList::default(),
            sector: 0,
            sectors: u32::from(kind),
            submit_ns: *now,
            done_ns: *now + takes_ns,
            fua,
        }
    }

    proptest! {
        /// At every time, and the last one that there is.
        #[test]
        fn what_is_pending_is_what_the_definition_says(
            parts in proptest::collection::vec(
                (0_u8..4, 0_u64..3, 0_u64..12, any::<bool>()), 0..40),
            is_durable: bool,
        ) {
            let mut now = 0;
            let requests: Vec<LogRequest> =
                parts.into_iter().map(|it| request(it, &mut now)).collect();
            let cache = match is_durable {
                true => DiskCache::Durable,
                false => DiskCache::Volatile,
            };
            for at_ns in (0..now + 14).chain([u64::MAX]) {
                let found = Moments::at(&requests, at_ns, cache);
                let expected = by_definition(&requests, at_ns, cache);
                prop_assert_eq!(&found, &expected, "at {}", at_ns);
                let all = Moments::of(&requests, &[(0, at_ns)], &[], cache).expect("few");
                let last = all.all[all.len() - 1];
                prop_assert_eq!(last.at_ns, at_ns);
                let sums = all.lifetimes.pending(last);
                prop_assert_eq!(sums.writes as usize, expected.len());
                for (place, number) in expected.iter().enumerate() {
                    let nth = all.lifetimes.nth_pending(last, place);
                    prop_assert_eq!(nth as usize, *number);
                }
            }
        }
    }
}
