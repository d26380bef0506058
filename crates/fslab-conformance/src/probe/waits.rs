//! Classifies reads by duration: those that waited for the device, and those from memory.

/// Least ratio between the two classes; within a class, durations differ by less.
const RATIO_MIN: u64 = 3;
/// Shortest wait: memory is faster, and every disk is slower.
const WAIT_NS_MIN: u64 = 20_000;

/// Measured durations.
pub(super) struct Times<'a> {
    /// Of each read, in order.
    pub(super) reads_ns: &'a [u64],
    /// Of a cached read.
    pub(super) reread_ns: u64,
}

/// The shortest duration of a read that waited, in nanoseconds; `None` if none did.
///
/// Reads from memory and from a device differ by orders of magnitude: the widest gap above the
/// lower limit separates them.
fn waiting_from_ns(times: &Times<'_>) -> Option<u64> {
    let mut sorted: Vec<u64> = times.reads_ns.iter().map(|ns| (*ns).max(1)).collect();
    sorted.sort_unstable();
    let least = WAIT_NS_MIN.max(times.reread_ns.saturating_mul(RATIO_MIN));
    if *sorted.last()? < least {
        return None;
    }
    let gaps = sorted.windows(2).map(|pair| (pair[0], pair[1]));
    let widest = gaps
        .filter(|(_, above)| *above >= least)
        .max_by(|a, b| ratio(*a).total_cmp(&ratio(*b)));
    match widest {
        Some((below, above)) if above / below >= RATIO_MIN => Some(above),
        // There is one class, and its longest is a wait: all are.
        _ => sorted.first().copied(),
    }
}

fn ratio((below, above): (u64, u64)) -> f64 {
    above as f64 / below as f64
}

/// Distances between reads that waited: the read's index, and the number of reads that it served,
/// itself included. The window of the last one is incomplete, so it counts only if it is the only
/// one.
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
        let reread_ns = 900;
        super::windows(&Times {
            reads_ns,
            reread_ns,
        })
    }

    #[test]
    fn on_a_slow_system_reads_that_take_as_long_as_a_cached_one_are_no_waits() {
        let reads_ns: Vec<u64> = (0..50).map(|turn| 60_000 + turn % 5 * 4_000).collect();
        let again = |reread_ns| Times {
            reads_ns: &reads_ns,
            reread_ns,
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
    fn without_waits_there_is_no_window_and_if_each_read_waits_each_is_one() {
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
    fn a_read_of_zero_duration_is_one_from_memory() {
        assert_eq!(windows(&[9_000_000, 0, 0, 9_000_000, 0]), [(0, 3)]);
    }
}
