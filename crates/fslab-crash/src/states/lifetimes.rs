//! From when to when each write is pending, so that what is pending at a time is counted, found and
//! summed up without a list of it.
//!
//! A write is pending from its submission until one moment, at which it becomes durable for good.
//! In the order of these ends, the writes that are pending at a time are those behind a place and
//! submitted before that time: as all that are submitted later are behind that place, too, they
//! are the smallest numbers there. A list for each moment would take the square of the requests.

use std::ops::Range;

use super::wavelet::Wavelet;
use crate::log::DiskCache;
use crate::{LogRequest, RequestKind};

/// The end of a write that never becomes durable.
const NEVER: u64 = u64::MAX;
/// The place of a flush, which is never pending, among the ends.
const NO_PLACE: u32 = u32::MAX;
/// Pending writes are found by passing over as many others at most: that is faster.
const PASSED_OVER: usize = 32;

/// When each write is pending, and sums over the writes.
#[derive(Debug)]
pub(super) struct Lifetimes {
    /// The place of each request among the ends.
    places: Vec<u32>,
    /// Requests in the order of their ends.
    order: Wavelet,
    /// Sums over the first requests, by submission.
    submitted: Vec<Sums>,
    /// Sums over the first writes, by their ends.
    ended: Vec<Sums>,
}

/// What is added up over writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// A random number of each, see [`mark`].
    pub(super) marks: u64,
    pub(super) writes: u32,
    /// Places where they are cut, see [`cuts`].
    pub(super) cuts: u32,
}

impl Sums {
    fn add(&mut self, number: usize, request: &LogRequest) {
        self.marks = self.marks.wrapping_add(mark(number, request.sectors));
        self.writes += 1;
        self.cuts += cuts(request.sectors).count() as u32;
    }

    fn without(self, others: Self) -> Self {
        Self {
            marks: self.marks.wrapping_sub(others.marks),
            writes: self.writes - others.writes,
            cuts: self.cuts - others.cuts,
        }
    }
}

/// A number of a write of which so many sectors are kept; states have the sum of theirs.
pub(super) fn mark(request: usize, sectors: u32) -> u64 {
    fslab_stats::Random::new(request as u64, sectors.into()).next_u64()
}

/// Where a write is cut: after its first sector, in the middle, and before its last.
pub(super) fn cuts(sectors: u32) -> impl Iterator<Item = u32> {
    let cuts = [1, sectors / 2, sectors.saturating_sub(1)];
    // In order; of a short write, several are one.
    let is_new = move |place: &usize| {
        let cut = cuts[*place];
        (1..sectors).contains(&cut) && cuts[..*place].iter().all(|it| *it != cut)
    };
    (0..cuts.len()).filter(is_new).map(move |it| cuts[it])
}

impl Lifetimes {
    /// Those of requests by the time of their submission, of which there are fewer than 2^32, and
    /// the times at which writes become durable, in order, without those that never do.
    pub(super) fn of(requests: &[LogRequest], cache: DiskCache) -> (Self, Vec<u64>) {
        let end = ends(requests, cache);
        let changes = |number: &u32| requests[*number as usize].changes();
        let mut order: Vec<u32> = (0..requests.len() as u32).filter(changes).collect();
        order.sort_unstable_by_key(|number| (end[*number as usize], *number));
        let ends = order.iter().map(|number| end[*number as usize]);
        let ends: Vec<u64> = ends.take_while(|end| *end != NEVER).collect();
        drop(end);
        let mut places = vec![NO_PLACE; requests.len()];
        let mut sums = Sums::default();
        let mut ended = Vec::with_capacity(order.len() + 1);
        ended.push(sums);
        for (place, number) in order.iter().enumerate() {
            places[*number as usize] = place as u32;
            sums.add(*number as usize, &requests[*number as usize]);
            ended.push(sums);
        }
        let mut sums = Sums::default();
        let mut submitted = Vec::with_capacity(requests.len() + 1);
        submitted.push(sums);
        for (number, request) in requests.iter().enumerate() {
            if request.changes() {
                sums.add(number, request);
            }
            submitted.push(sums);
        }
        let lifetimes = Self {
            places,
            order: Wavelet::of(order),
            submitted,
            ended,
        };
        (lifetimes, ends)
    }

    /// The sums over all writes that were submitted.
    pub(super) fn submitted(&self, moment: Moment) -> Sums {
        self.submitted[moment.submitted as usize]
    }

    /// The sums over the pending writes.
    pub(super) fn pending(&self, moment: Moment) -> Sums {
        let ended = self.ended[moment.ended as usize];
        self.submitted(moment).without(ended)
    }

    /// The mark of a write of which all is kept.
    pub(super) fn mark_of(&self, request: u32) -> u64 {
        let (before, with) = (request as usize, request as usize + 1);
        let after = self.submitted[with].marks;
        after.wrapping_sub(self.submitted[before].marks)
    }

    /// The pending write with so many pending ones before it.
    pub(super) fn nth_pending(&self, moment: Moment, number: usize) -> u32 {
        self.order.smallest(self.behind(moment), number)
    }

    fn behind(&self, moment: Moment) -> Range<usize> {
        moment.ended as usize..self.order.len()
    }

    /// The pending writes in order, at a price for each that does not grow with the log.
    pub(super) fn each_pending(&self, moment: Moment) -> Box<dyn Iterator<Item = u32> + '_> {
        let count = self.pending(moment).writes as usize;
        if count == 0 {
            return Box::new(std::iter::empty());
        }
        let first = self.nth_pending(moment, 0);
        let span = first as usize..moment.submitted as usize;
        if span.len() / PASSED_OVER <= count {
            let places = self.places[span].iter();
            let is_pending = move |place: &u32| *place != NO_PLACE && *place >= moment.ended;
            let numbered = (first..).zip(places);
            return Box::new(numbered.filter(move |it| is_pending(it.1)).map(|it| it.0));
        }
        Box::new(self.order.ascending(self.behind(moment)).take(count))
    }
}

/// When each request becomes durable.
fn ends(requests: &[LogRequest], cache: DiskCache) -> Vec<u64> {
    if cache == DiskCache::Durable {
        return requests.iter().map(|it| it.done_ns).collect();
    }
    let flushes = requests.iter().filter(|it| it.kind == RequestKind::Flush);
    let mut flushes: Vec<(u64, u64)> = flushes.map(|it| (it.submit_ns, it.done_ns)).collect();
    // The first end of a flush that was submitted at that time or later.
    let mut first_ns = NEVER;
    for (_, done_ns) in flushes.iter_mut().rev() {
        first_ns = first_ns.min(*done_ns);
        *done_ns = first_ns;
    }
    let end = |request: &LogRequest| {
        let covers = flushes.partition_point(|it| it.0 < request.done_ns);
        let flushed_ns = flushes.get(covers).map_or(NEVER, |it| it.1);
        match request.fua {
            true => flushed_ns.min(request.done_ns),
            false => flushed_ns,
        }
    };
    requests.iter().map(end).collect()
}

/// A time at which power may fail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// The time: everything of this time has happened.
    pub(super) at_ns: u64,
    /// Requests that were submitted.
    pub(super) submitted: u32,
    /// Writes that have become durable.
    pub(super) ended: u32,
    /// Borders, such as ends of operations, up to this time.
    pub(super) borders: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_cut_at_up_to_three_places() {
        let all = |sectors| cuts(sectors).collect::<Vec<u32>>();
        assert_eq!(all(0), [0; 0]);
        assert_eq!(all(1), [0; 0]);
        assert_eq!(all(2), [1]);
        assert_eq!(all(3), [1, 2]);
        assert_eq!(all(4), [1, 2, 3]);
        assert_eq!(all(8), [1, 4, 7]);
    }
}
