//! How far the clocks of the ranks are apart: rank 0 asks each for its time, and takes the answer
//! that came fastest. The clock is CLOCK_MONOTONIC, which trials time their operations with.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::frame::Kind;
use crate::link::{Link, Rank};

/// Questions to each rank.
const ROUNDS: u32 = 64;
/// Time for the answer to a question: the rank may still be looking for messages every 10 ms.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// Time until the first question: rank 0 waits for every rank, and asks those before this one.
const QUESTION_MAX: Duration = Duration::from_secs(300);

/// The clock of a rank beside that of rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClockDifference {
    /// What it shows, less what that of rank 0 shows.
    pub(crate) ahead_ns: i64,
    /// By how much that may be wrong; of all ranks, the most.
    pub(crate) error_ns: i64,
}

fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// At rank 0: asks all ranks, and gives each its difference.
pub(crate) fn measure(link: &Link) -> ClockDifference {
    let found: Vec<(Rank, ClockDifference)> = (1..link.size())
        .map(|rank| (rank, measure_one(link, rank)))
        .collect();
    let error_ns = found.iter().map(|it| it.1.error_ns).max().unwrap_or(0);
    for (rank, difference) in found {
        let mut payload = difference.ahead_ns.to_le_bytes().to_vec();
        payload.extend(error_ns.to_le_bytes());
        link.send(rank, Kind::Clock, &payload);
    }
    ClockDifference {
        ahead_ns: 0,
        error_ns,
    }
}

fn measure_one(link: &Link, rank: Rank) -> ClockDifference {
    let mut best = ClockDifference {
        ahead_ns: 0,
        error_ns: i64::MAX,
    };
    for _ in 0..ROUNDS {
        let asked_ns = now_ns();
        link.send(rank, Kind::Time, &[]);
        let until = Instant::now() + ANSWER_MAX;
        while Instant::now() < until {
            let Some((from, kind, payload)) = link.receive() else {
                std::hint::spin_loop();
                continue;
            };
            let Some(theirs_ns) =
                number(&payload, 0).filter(|_| from == rank && kind == Kind::Time)
            else {
                continue;
            };
            best = better(best, asked_ns, theirs_ns, now_ns());
            break;
        }
    }
    best
}

/// The better of a difference and that of another answer: the shorter it took, the less can be
/// wrong.
fn better(best: ClockDifference, asked_ns: i64, theirs_ns: i64, got_ns: i64) -> ClockDifference {
    let error_ns = (got_ns - asked_ns) / 2;
    match error_ns < best.error_ns {
        true => ClockDifference {
            ahead_ns: theirs_ns - (asked_ns + error_ns),
            error_ns,
        },
        false => best,
    }
}

/// At the other ranks: answers until the difference is known; `None` if the job ends before.
pub(crate) fn answer(link: &Link) -> Option<ClockDifference> {
    let until = Instant::now() + QUESTION_MAX;
    let mut is_asked = false;
    while Instant::now() < until {
        let Some((_, kind, payload)) = link.receive() else {
            // Without a pause once the questions have begun: it would be part of the answers.
            match is_asked {
                true => std::hint::spin_loop(),
                false => std::thread::sleep(Duration::from_millis(1)),
            }
            continue;
        };
        match kind {
            Kind::Time => {
                is_asked = true;
                link.send(0, Kind::Time, &now_ns().to_le_bytes());
            }
            Kind::Clock => {
                return Some(ClockDifference {
                    ahead_ns: number(&payload, 0)?,
                    error_ns: number(&payload, 8)?,
                });
            }
            Kind::End => {
                link.send(0, Kind::Bye, &[]);
                return None;
            }
            _ => {}
        }
    }
    None
}

fn number(payload: &[u8], at: usize) -> Option<i64> {
    let bytes = payload.get(at..at + 8)?;
    Some(i64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_answer_counts_and_bounds_the_error() {
        let none = ClockDifference {
            ahead_ns: 0,
            error_ns: i64::MAX,
        };
        // Their clock is 1000 ahead; the first answer took 100 there and 20 back.
        let first = better(none, 0, 1100, 120);
        assert_eq!((first.ahead_ns, first.error_ns), (1040, 60));
        let second = better(first, 200, 1205, 210);
        assert_eq!((second.ahead_ns, second.error_ns), (1000, 5));
        assert_eq!(better(second, 300, 1500, 400), second, "slower");
    }

    #[test]
    fn numbers_are_read_only_where_they_are_complete() {
        let payload = 7_i64.to_le_bytes();
        assert_eq!(number(&payload, 0), Some(7));
        assert_eq!(number(&payload, 8), None);
    }
}
