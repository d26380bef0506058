//! False alarms, and the number of repeats, where repeats go on until a difference is decided.

use fslab_stats::{Stopping, is_decided, ratio, relative_half_widths, stopping};

use crate::chance::{Chance, Kind};

const EXPERIMENTS: u32 = 1_000;
const TARGET: f64 = 0.05;
const LEAST: usize = 3;
const MOST: usize = 30;

/// The most experiments in which equal subjects may differ at the end: those of a fixed number of
/// repeats, 5 %, and twice the deviation that chance gives 1,000 of them.
const ALARMS_MAX: f64 = 0.05 + 0.014;

/// What was found of two subjects.
struct Found {
    /// Share of experiments whose interval at the end excludes 1.
    apart: f64,
    /// Mean number of repeats.
    repeats: f64,
}

/// Two subjects, one `times` as fast, repeated until their difference is decided or both are known.
fn found(kind: Kind, times: f64) -> Found {
    let mut chance = Chance::of(61);
    let (mut apart, mut repeats) = (0_u32, 0_usize);
    for _ in 0..EXPERIMENTS {
        let mut sample = |times: f64| -> Vec<f64> {
            (0..MOST).map(|_| times * kind.value(&mut chance)).collect()
        };
        let (own, other) = (sample(1.0), sample(times));
        let widths = |values: &[f64]| {
            relative_half_widths(&values.iter().map(|it| Some(*it)).collect::<Vec<_>>())
        };
        let widest = widths(&own).into_iter().zip(widths(&other));
        let widest: Vec<Option<f64>> = widest.map(|(a, b)| Some(a?.max(b?))).collect();
        let mut looks = Vec::new();
        let made = (LEAST..=MOST).find(|count| {
            let is_decided = is_decided(&own[..*count], &other[..*count], 1, TARGET);
            looks.push(if is_decided {
                Some(0.0)
            } else {
                widest[count - 1]
            });
            stopping(&looks, TARGET) == Stopping::Known
        });
        let made = made.unwrap_or(MOST);
        repeats += made;
        let interval = ratio(&own[..made], &other[..made]).and_then(|it| it.interval);
        apart += u32::from(!interval.expect("repeats").contains(1.0));
    }
    let share = |count: f64| count / f64::from(EXPERIMENTS);
    Found {
        apart: share(f64::from(apart)),
        repeats: share(repeats as f64),
    }
}

/// Prints a row of the table in docs/statistics.md: percent that differ, and repeats.
fn row(kind: Kind) -> Found {
    let mut line = format!("{kind:?}");
    for times in [1.05, 1.1, 1.3, 2.0] {
        let found = found(kind, times);
        line += &format!(
            "  {times}: {:.1} ({:.1})",
            100.0 * found.apart,
            found.repeats
        );
    }
    let equal = found(kind, 1.0);
    println!(
        "{line}  1: {:.1} ({:.1})",
        100.0 * equal.apart,
        equal.repeats
    );
    equal
}

#[test]
fn equal_subjects_differ_no_more_often_than_with_a_fixed_number() {
    for kind in [0.02, 0.05, 0.1, 0.2].map(Kind::LogNormal) {
        let equal = row(kind);
        assert!(equal.apart <= ALARMS_MAX, "{kind:?}: {}", equal.apart);
    }
}

#[test]
fn a_large_difference_is_found_with_few_repeats() {
    let found = found(Kind::LogNormal(0.05), 1.3);
    assert!(
        found.apart > 0.98 && found.repeats < 7.0,
        "{} {}",
        found.apart,
        found.repeats
    );
}
