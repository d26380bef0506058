//! Rates of false alarms and of detection of the tests of difference.

use fslab_stats::{difference_test, difference_test_among, mann_whitney};

use crate::chance::{Chance, Kind};

const EXPERIMENTS: u32 = 3_000;

/// The share of experiments with a p-value of at most 0.05.
fn rejected(mut p_value: impl FnMut() -> Option<f64>) -> f64 {
    let found = (0..EXPERIMENTS).filter(|_| p_value().is_some_and(|p| p <= 0.05));
    found.count() as f64 / f64::from(EXPERIMENTS)
}

#[test]
fn a_test_of_equals_alarms_in_one_of_twenty_at_most() {
    let kinds = [
        (Kind::LogNormal(0.1), Kind::LogNormal(0.1)),
        (Kind::Skewed, Kind::Skewed),
        (Kind::HeavyTails, Kind::HeavyTails),
        (Kind::VeryCoarse, Kind::VeryCoarse),
        (Kind::LogNormal(0.02), Kind::LogNormal(0.2)),
    ];
    for kinds in kinds {
        for (a, b) in [
            (3, 3),
            (5, 5),
            (10, 10),
            (14, 14),
            (4, 12),
            (12, 4),
            (10, 30),
        ] {
            let mut chance = Chance::of(a * 100 + b);
            let (a, b) = (a as usize, b as usize);
            let alarms = rejected(|| {
                let (x, y) = (
                    kinds.0.sample(&mut chance, a),
                    kinds.1.sample(&mut chance, b),
                );
                difference_test(&x, &y).map(|test| test.p_value)
            });
            println!("difference test {kinds:?} {a}/{b}: {:.1} %", 100.0 * alarms);
            // Three standard deviations of the count are 1.2 %.
            let most = 0.062;
            assert!(alarms <= most, "{kinds:?} {a} {b}: {alarms}");
        }
    }
}

#[test]
fn rank_sums_of_equals_alarm_in_one_of_twenty_at_most() {
    for (kind, count) in [
        (Kind::HeavyTails, 5),
        (Kind::VeryCoarse, 10),
        (Kind::Skewed, 40),
    ] {
        let mut chance = Chance::of(11);
        let alarms = rejected(|| {
            let (x, y) = (
                kind.sample(&mut chance, count),
                kind.sample(&mut chance, count),
            );
            mann_whitney(&x, &y).map(|test| test.p_value)
        });
        println!("Mann-Whitney {kind:?} {count}: {:.1} %", 100.0 * alarms);
        assert!(alarms <= 0.06, "{kind:?} {count}: {alarms}");
    }
}

#[test]
fn a_tenth_with_three_percent_of_noise_is_found() {
    for (count, least) in [(3, 0.7), (5, 0.97), (10, 0.999)] {
        let mut chance = Chance::of(12);
        let found = rejected(|| {
            let a = Kind::LogNormal(0.03).sample(&mut chance, count);
            let b = Kind::LogNormal(0.03).sample(&mut chance, count);
            let a: Vec<f64> = a.iter().map(|value| 1.1 * value).collect();
            difference_test_among(&a, &b, 1).map(|test| test.p_value)
        });
        println!(
            "a tenth with noise of 3 %, n = {count}: found in {:.1} %",
            100.0 * found
        );
        assert!(found >= least, "{count}: {found}");
    }
}
