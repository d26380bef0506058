//! Queue depth over time, from the submission and completion of each request.
//!
//! Records are ordered by completion, so submissions must be sorted: they are buffered for at least
//! half of `HELD_MAX` requests. A request overtaken by more would be counted late, which cannot
//! occur, since a disk holds about a thousand at most.

use std::collections::VecDeque;

use fslab_model::{Depth, Window};

use super::schedule::Schedule;

/// Requests that are buffered at most; a full buffer is processed down to half.
const HELD_MAX: usize = 1 << 15;

/// The depth of the queue over time.
pub(super) struct Queue {
    /// Submission times, sorted.
    begins: VecDeque<u64>,
    /// Completion times, sorted.
    ends: VecDeque<u64>,
    at_ns: u64,
    /// Negative only between two events of the same time.
    depth: i64,
    schedule: Schedule,
    windows: Vec<Depth>,
    whole: Depth,
}

impl Queue {
    pub(super) fn new(windows: &[Window]) -> Self {
        Self {
            begins: VecDeque::with_capacity(HELD_MAX),
            ends: VecDeque::with_capacity(HELD_MAX),
            at_ns: 0,
            depth: 0,
            schedule: Schedule::new(windows),
            windows: vec![Depth::default(); windows.len()],
            whole: Depth::default(),
        }
    }

    /// Adds a request; requests are ordered by completion.
    pub(super) fn add(&mut self, begin_ns: u64, end_ns: u64) {
        if self.ends.len() == HELD_MAX {
            let until_ns = self.ends[HELD_MAX / 2];
            self.process(until_ns);
        }
        let begin_ns = begin_ns.max(self.at_ns);
        self.ends.push_back(end_ns);
        match self.begins.back() {
            Some(last) if *last > begin_ns => {
                let place = self.begins.partition_point(|known| *known <= begin_ns);
                self.begins.insert(place, begin_ns);
            }
            _ => self.begins.push_back(begin_ns),
        }
    }

    /// The depth of each window and of the entire trace.
    pub(super) fn finish(mut self) -> (Vec<Depth>, Depth) {
        self.process(u64::MAX);
        (self.windows, self.whole)
    }

    /// Processes all events up to `until_ns`.
    fn process(&mut self, until_ns: u64) {
        loop {
            let begin_ns = self.begins.front().copied().unwrap_or(u64::MAX);
            let Some(end_ns) = self.ends.front().copied() else {
                return;
            };
            let next_ns = begin_ns.min(end_ns);
            if next_ns > until_ns {
                return;
            }
            self.advance(next_ns);
            if end_ns == next_ns {
                self.ends.pop_front();
                self.depth -= 1;
            } else {
                self.begins.pop_front();
                self.depth += 1;
            }
        }
    }

    /// Adds the time up to `to_ns` at the present depth.
    fn advance(&mut self, to_ns: u64) {
        let from_ns = std::mem::replace(&mut self.at_ns, to_ns);
        let depth = u64::try_from(self.depth).unwrap_or(0);
        if from_ns == to_ns || depth == 0 {
            return;
        }
        for (index, window) in self.schedule.during(from_ns, to_ns, |_| ()) {
            let shared = to_ns.min(window.end_ns) - from_ns.max(window.begin_ns);
            add(&mut self.windows[index], depth, shared);
        }
        add(&mut self.whole, depth, to_ns - from_ns);
    }
}

fn add(to: &mut Depth, depth: u64, ns: u64) {
    to.busy_ns += ns;
    to.depth_ns += depth * ns;
    to.times_ns.add(depth, ns);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(begin_ns: u64, end_ns: u64) -> Window {
        Window { begin_ns, end_ns }
    }

    fn of(requests: &[(u64, u64)], windows: &[Window]) -> (Vec<Depth>, Depth) {
        let mut queue = Queue::new(windows);
        for (begin_ns, end_ns) in requests {
            queue.add(*begin_ns, *end_ns);
        }
        queue.finish()
    }

    fn times(depth: &Depth) -> Vec<(u64, u64)> {
        depth.times_ns.entries().collect()
    }

    #[test]
    fn overlapping_requests_are_counted_together_and_gaps_are_idle() {
        // 10..20 one, 20..30 two, 30..35 three, 35..40 two, 40..45 one, then idle, 50..60 one.
        let requests = [(20, 35), (10, 40), (30, 45), (50, 60)];
        let (_, whole) = of(&requests, &[]);
        assert_eq!(whole.busy_ns, 45);
        assert_eq!(whole.depth_ns, 10 + 20 + 15 + 10 + 5 + 10);
        assert_eq!(times(&whole), [(1, 25), (2, 20)]);
    }

    #[test]
    fn a_window_includes_time_of_requests_that_end_later() {
        let requests = [(10, 40), (30, 50), (60, 70)];
        let windows = [
            window(0, 20),
            window(20, 45),
            window(45, 65),
            window(35, 35),
        ];
        let (depths, whole) = of(&requests, &windows);
        let busy: Vec<u64> = depths.iter().map(|depth| depth.busy_ns).collect();
        assert_eq!(busy, [10, 25, 10, 0]);
        assert_eq!(depths[1].depth_ns, 10 + 2 * 10 + 5);
        assert_eq!(whole.busy_ns, 50);
    }

    #[test]
    fn requests_that_take_no_time_or_are_adjacent_do_not_overlap() {
        let (_, whole) = of(&[(10, 10), (10, 20), (20, 30), (30, 30)], &[]);
        assert_eq!(times(&whole), [(1, 20)]);
    }

    #[test]
    fn many_requests_agree_with_a_count_of_every_nanosecond() {
        let mut state = 7_u64;
        let mut requests: Vec<(u64, u64)> = (0..3 * HELD_MAX as u64)
            .map(|index| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (index * 3, index * 3 + (state >> 33) % 40)
            })
            .collect();
        requests.sort_by_key(|request| request.1);
        let end = requests.last().expect("many").1 as usize;
        let mut changes = vec![0_i64; end + 1];
        for (begin, end) in &requests {
            changes[*begin as usize] += 1;
            changes[*end as usize] -= 1;
        }
        let (mut depth, mut sum, mut busy) = (0, 0, 0);
        for change in changes {
            depth += change;
            sum += depth as u64;
            busy += u64::from(depth > 0);
        }
        let (_, whole) = of(&requests, &[]);
        assert_eq!((whole.depth_ns, whole.busy_ns), (sum, busy));
        assert_eq!(whole.times_ns.total(), busy);
    }
}
