//! Checks by simulation that 95 % intervals cover 95 %, and that certainty is not given away.

use fslab_stats::{Estimate, Verdict, location, ratio, verdict};

const EXPERIMENTS: u32 = 10_000;

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): seeded, so that the test has one outcome.
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((mixed >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Box and Muller, Annals of Mathematical Statistics 29, 1958.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn lognormal(&mut self, count: usize, centre: f64, sigma: f64) -> Vec<f64> {
        (0..count)
            .map(|_| centre * (sigma * self.normal()).exp())
            .collect()
    }
}

/// Share of experiments whose interval holds `truth`.
fn coverage(truth: f64, mut experiment: impl FnMut() -> Estimate) -> f64 {
    let covered = (0..EXPERIMENTS)
        .filter(|_| experiment().interval.is_some_and(|i| i.contains(truth)))
        .count();
    covered as f64 / f64::from(EXPERIMENTS)
}

fn ratio_coverage(seed: u64, counts: (usize, usize), sigmas: (f64, f64)) -> f64 {
    let mut chance = Chance(seed);
    coverage(1.25, || {
        let above = chance.lognormal(counts.0, 500.0, sigmas.0);
        let below = chance.lognormal(counts.1, 400.0, sigmas.1);
        ratio(&above, &below).expect("positive values")
    })
}

#[test]
fn the_interval_of_a_ratio_covers_the_truth_with_three_repeats_a_side() {
    let covered = ratio_coverage(1, (3, 3), (0.08, 0.08));
    assert!((0.93..=0.97).contains(&covered), "{covered}");
}

#[test]
fn the_interval_of_a_ratio_covers_the_truth_where_spreads_and_sizes_differ() {
    for (seed, counts, sigmas) in [
        (2, (3, 3), (0.02, 0.2)),
        (3, (3, 10), (0.1, 0.1)),
        (4, (5, 5), (0.3, 0.1)),
        (5, (10, 4), (0.05, 0.1)),
    ] {
        let covered = ratio_coverage(seed, counts, sigmas);
        assert!(
            (0.93..=0.975).contains(&covered),
            "{counts:?} {sigmas:?}: {covered}"
        );
    }
}

#[test]
fn the_interval_of_a_location_covers_the_geometric_mean() {
    let mut chance = Chance(6);
    let covered = coverage(120.0, || {
        location(&chance.lognormal(3, 120.0, 0.2)).expect("positive values")
    });
    assert!((0.94..=0.96).contains(&covered), "{covered}");
}

#[test]
fn two_equal_subjects_are_told_apart_in_one_experiment_of_twenty_at_most() {
    let mut chance = Chance(7);
    let alarms = (0..EXPERIMENTS)
        .filter(|_| {
            let estimate = ratio(
                &chance.lognormal(3, 300.0, 0.1),
                &chance.lognormal(3, 300.0, 0.1),
            );
            let interval = estimate.expect("positive values").interval;
            matches!(verdict(interval, 0.05), Verdict::Faster | Verdict::Slower)
        })
        .count();
    assert!(alarms <= EXPERIMENTS as usize / 20, "{alarms}");
}
