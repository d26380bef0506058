//! Which reads waited for the device, found by their times alone, beside those of reads that
//! certainly did not.

/// The two sorts must be at least so many times apart: within one sort, times differ by less.
const APART: u64 = 3;
/// A read that waited takes at least this: memory is faster, and no disk is.
const WAITED_NS_MIN: u64 = 20_000;

/// What was timed.
pub(super) struct Times<'a> {
    /// Of each read, in their order.
    pub(super) reads_ns: &'a [u64],
    /// Of a read of what was read just before.
    pub(super) again_ns: u64,
}

/// The shortest time, in nanoseconds, that is one of a read that waited; `None` where none did.
///
/// The times of reads from memory and from a device lie orders of magnitude apart: the widest gap
/// among those that may be waits is between the two.
fn waiting_from_ns(times: &Times<'_>) -> Option<u64> {
    let mut sorted: Vec<u64> = times.reads_ns.iter().map(|ns| (*ns).max(1)).collect();
    sorted.sort_unstable();
    let least = WAITED_NS_MIN.max(times.again_ns.saturating_mul(APART));
    if *sorted.last()? < least {
        return None;
    }
    let gaps = sorted.windows(2).map(|pair| (pair[0], pair[1]));
    let widest = gaps
        .filter(|(_, above)| *above >= least)
        .max_by(|a, b| ratio(*a).total_cmp(&ratio(*b)));
    match widest {
        Some((below, above)) if above / below >= APART => Some(above),
        // All are of one sort; some of it are waits, so all are.
        _ => sorted.first().copied(),
    }
}

fn ratio((below, above): (u64, u64)) -> f64 {
    above as f64 / below as f64
}

/// Distances between reads that waited: the read's place, and how many reads it served, itself
/// included. What the last one served is known only where there is no other.
pub(super) fn windows(times: &Times<'_>) -> Vec<(usize, u64)> {
    let Some(from_ns) = waiting_from_ns(times) else {
        return Vec::new();
    };
    let waits: Vec<usize> = times
        .reads_ns
        .iter()
        .enumerate()
        .filter(|(_, ns)| **ns >= from_ns)
        .map(|(place, _)| place)
        .collect();
    let mut windows: Vec<(usize, u64)> = waits
        .windows(2)
        .map(|pair| (pair[0], (pair[1] - pair[0]) as u64))
        .collect();
    if let [only] = waits[..] {
        windows.push((only, (times.reads_ns.len() - only) as u64));
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 900 ns from memory, 8 ms where it waits.
    fn times(waits: &[usize], reads: usize) -> Vec<u64> {
        let time = |place| {
            if waits.contains(&place) {
                8_000_000
            } else {
                900 + 40 * (place as u64 % 7)
            }
        };
        (0..reads).map(time).collect()
    }

    fn windows(reads_ns: &[u64]) -> Vec<(usize, u64)> {
        let again_ns = 900;
        super::windows(&Times { reads_ns, again_ns })
    }

    #[test]
    fn a_slow_system_whose_reads_all_take_as_long_as_one_again_waits_for_nothing() {
        let reads_ns: Vec<u64> = (0..50).map(|turn| 60_000 + turn % 5 * 4_000).collect();
        let again = |again_ns| Times {
            reads_ns: &reads_ns,
            again_ns,
        };
        assert_eq!(super::windows(&again(61_000)), []);
        assert_eq!(super::windows(&again(2_000)).len(), 49);
    }

    #[test]
    fn windows_are_the_distances_between_waits() {
        let times = times(&[0, 4, 12, 28, 60], 80);
        assert_eq!(windows(&times), [(0, 4), (4, 8), (12, 16), (28, 32)]);
    }

    #[test]
    fn where_nothing_waits_there_is_no_window_and_where_everything_does_each_is_one() {
        assert_eq!(windows(&times(&[], 50)), []);
        assert_eq!(windows(&[]), []);
        let all: Vec<u64> = (0..10).map(|turn| 5_000_000 + turn * 100_000).collect();
        assert_eq!(windows(&all).len(), 9);
        assert!(windows(&all).iter().all(|(_, blocks)| *blocks == 1));
    }

    #[test]
    fn one_wait_serves_all_that_follow() {
        assert_eq!(windows(&times(&[0], 100)), [(0, 100)]);
    }

    #[test]
    fn a_read_of_no_time_at_all_is_one_from_memory() {
        assert_eq!(windows(&[9_000_000, 0, 0, 9_000_000, 0]), [(0, 3)]);
    }
}
