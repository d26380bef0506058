//! Coverage of the intervals, over 10,000 experiments each.

use fslab_stats::{Verdict, location, ratio, ratio_at, ratio_p_below, verdict};

use crate::chance::{Chance, Kind};

const EXPERIMENTS: u32 = 10_000;

/// Share of experiments whose 95 % interval of a ratio contains the true one.
fn coverage(kinds: (Kind, Kind), counts: (usize, usize)) -> f64 {
    let truth = (kinds.0.mean_log() - kinds.1.mean_log()).exp();
    let mut chance = Chance::of(counts.0 as u64 * 1_000 + counts.1 as u64);
    let covered = (0..EXPERIMENTS).filter(|_| {
        let above = kinds.0.sample(&mut chance, counts.0);
        let below = kinds.1.sample(&mut chance, counts.1);
        let interval = ratio(&above, &below).and_then(|it| it.interval);
        // All values of a coarse clock may be equal: an interval of width zero contains what is
        // equal but for rounding.
        interval
            .is_some_and(|it| it.low <= truth * (1.0 + 1e-12) && truth <= it.high * (1.0 + 1e-12))
    });
    covered.count() as f64 / f64::from(EXPERIMENTS)
}

/// Prints a row of the table in docs/statistics.md and checks each figure's range.
fn row(name: &str, kinds: (Kind, Kind), cases: &[((usize, usize), [f64; 2])]) {
    let mut line = format!("{name:<44}");
    let mut wrong = Vec::new();
    for (counts, [low, high]) in cases {
        let covered = coverage(kinds, *counts);
        line += &format!("  {}/{} {:.1}", counts.0, counts.1, 100.0 * covered);
        if !(*low..=*high).contains(&covered) {
            wrong.push(format!("{counts:?}: {covered}"));
        }
    }
    println!("{line}");
    assert!(wrong.is_empty(), "{name}: {wrong:?}");
}

/// The required coverage.
const GOOD: [f64; 2] = [0.93, 0.97];

fn alike(kind: Kind) -> (Kind, Kind) {
    (kind, kind)
}

fn four(ranges: [[f64; 2]; 4]) -> [((usize, usize), [f64; 2]); 4] {
    let sizes = [3, 5, 10, 30].map(|size| (size, size));
    std::array::from_fn(|place| (sizes[place], ranges[place]))
}

#[test]
fn log_normal_values_are_covered_at_every_size() {
    row(
        "log-normal 5 %",
        alike(Kind::LogNormal(0.05)),
        &four([GOOD; 4]),
    );
    let unequal = (Kind::LogNormal(0.02), Kind::LogNormal(0.2));
    row("log-normal 2 % / 20 %", unequal, &four([GOOD; 4]));
    let sizes = [(3, 10), (10, 3), (5, 30), (10, 30), (30, 10)].map(|sizes| (sizes, GOOD));
    row(
        "log-normal 5 %, unequal sizes",
        alike(Kind::LogNormal(0.05)),
        &sizes,
    );
    row("log-normal 2 % / 20 %, unequal sizes", unequal, &sizes);
}

#[test]
fn normal_values_are_covered_at_every_size() {
    row("normal 5 %", alike(Kind::Normal), &four([GOOD; 4]));
}

#[test]
fn skewed_values_are_covered_but_for_few_against_others() {
    row(
        "exponential tail",
        alike(Kind::Skewed),
        &four([[0.93, 0.98], GOOD, GOOD, GOOD]),
    );
    let one = (Kind::Skewed, Kind::LogNormal(0.03));
    let few = [0.915, 0.97];
    row(
        "exponential tail against log-normal 3 %",
        one,
        &four([few, few, GOOD, GOOD]),
    );
    let sizes = [((10, 30), GOOD), ((30, 10), GOOD)];
    row(
        "exponential tail, unequal sizes",
        alike(Kind::Skewed),
        &sizes,
    );
}

#[test]
fn two_modes_are_covered_from_ten_values_on() {
    let ten = [((10, 10), GOOD), ((30, 30), GOOD), ((10, 30), GOOD)];
    row("two modes, half each", alike(Kind::Bimodal(0.5)), &ten[..2]);
    row(
        "two modes, a quarter above",
        alike(Kind::Bimodal(0.25)),
        &ten,
    );
    let one = (Kind::Bimodal(0.25), Kind::LogNormal(0.03));
    row("two modes, a quarter, against log-normal 3 %", one, &ten);
    let few = [((3, 3), [0.80, 0.99]), ((5, 5), [0.80, 0.99])];
    row("two modes, a quarter, against log-normal 3 %", one, &few);
}

#[test]
fn heavy_tails_are_covered_from_ten_values_on() {
    let ten = [((10, 10), GOOD), ((30, 30), GOOD), ((10, 30), GOOD)];
    row("heavy tails (t3)", alike(Kind::HeavyTails), &ten);
    let one = (Kind::HeavyTails, Kind::LogNormal(0.05));
    row("heavy tails (t3) against log-normal 5 %", one, &ten[..2]);
}

#[test]
fn values_of_a_coarse_clock_are_covered() {
    row(
        "rounded to 5 %, spread 5 %",
        alike(Kind::Coarse),
        &four([GOOD; 4]),
    );
    // Few values are often all equal: the interval has width zero, and is right.
    let few = [0.93, 0.99];
    row(
        "rounded to 5 %, spread 2 %",
        alike(Kind::VeryCoarse),
        &four([few, few, GOOD, GOOD]),
    );
}

#[test]
fn the_interval_of_a_location_covers_the_geometric_mean() {
    for count in [3, 5, 10] {
        let mut chance = Chance::of(6);
        let covered = (0..EXPERIMENTS).filter(|_| {
            let found = location(&Kind::LogNormal(0.2).sample(&mut chance, count));
            found
                .and_then(|it| it.interval)
                .is_some_and(|it| it.contains(1.0))
        });
        let covered = covered.count() as f64 / f64::from(EXPERIMENTS);
        assert!((0.94..=0.96).contains(&covered), "{count}: {covered}");
    }
}

#[test]
fn two_equal_subjects_differ_in_one_experiment_of_twenty_at_most() {
    for (count, kind) in [
        (3, Kind::LogNormal(0.1)),
        (10, Kind::LogNormal(0.1)),
        (10, Kind::Skewed),
    ] {
        let mut chance = Chance::of(7);
        let alarms = (0..EXPERIMENTS).filter(|_| {
            let (a, b) = (
                kind.sample(&mut chance, count),
                kind.sample(&mut chance, count),
            );
            let interval = ratio(&a, &b).and_then(|it| it.interval);
            matches!(verdict(interval, 0.05), Verdict::Faster | Verdict::Slower)
        });
        let alarms = alarms.count() as f64 / f64::from(EXPERIMENTS);
        // Five in a hundred, and three standard deviations of the count.
        assert!(alarms <= 0.0565, "{count} {kind:?}: {alarms}");
    }
}

#[test]
fn a_one_sided_p_value_is_as_small_as_it_says_at_the_limit() {
    // At a true ratio of 0.95 a p-value under 0.025 comes in 2.5 of 100 experiments.
    for count in [3, 5, 10, 30] {
        let mut chance = Chance::of(8);
        let small = (0..EXPERIMENTS).filter(|_| {
            let below = Kind::LogNormal(0.05).sample(&mut chance, count);
            let below: Vec<f64> = below.iter().map(|value| 0.95 * value).collect();
            let above = Kind::LogNormal(0.05).sample(&mut chance, count);
            ratio_p_below(&below, &above, 0.95).is_some_and(|p| p < 0.025)
        });
        let small = small.count() as f64 / f64::from(EXPERIMENTS);
        println!(
            "one-sided p < 0.025 at the limit, n = {count}: {:.2} %",
            100.0 * small
        );
        assert!((0.012..=0.031).contains(&small), "{count}: {small}");
    }
}

#[test]
fn intervals_of_other_confidences_cover_as_much() {
    for (confidence, range) in [(0.9, 0.88..=0.92), (0.99, 0.984..=0.996)] {
        for count in [5, 10] {
            let mut chance = Chance::of(9);
            let covered = (0..EXPERIMENTS).filter(|_| {
                let a = Kind::LogNormal(0.05).sample(&mut chance, count);
                let b = Kind::LogNormal(0.05).sample(&mut chance, count);
                let interval = ratio_at(&a, &b, confidence).and_then(|it| it.interval);
                interval.is_some_and(|it| it.contains(1.0))
            });
            let covered = covered.count() as f64 / f64::from(EXPERIMENTS);
            assert!(range.contains(&covered), "{confidence} {count}: {covered}");
        }
    }
}
