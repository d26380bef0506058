//! Coverage of the stated sensitivity for one further run.

use fslab_stats::{location, sensitivity};

use crate::chance::Chance;

const EXPERIMENTS: u32 = 10_000;

/// The share of experiments in which one further value lies within the sensitivity of `count`
/// values about their geometric mean; `draw` gives the logarithm of a value.
fn covered(count: usize, draw: fn(&mut Chance) -> f64) -> f64 {
    let mut chance = Chance::of(count as u64);
    let mut held = 0;
    for _ in 0..EXPERIMENTS {
        let sample: Vec<f64> = (0..count).map(|_| draw(&mut chance).exp()).collect();
        let centre = location(&sample).expect("positive").value;
        let share = sensitivity(&sample).expect("three and more");
        let away = (draw(&mut chance) - centre.ln()).abs();
        held += u32::from(away <= share.ln_1p());
    }
    f64::from(held) / f64::from(EXPERIMENTS)
}

#[test]
fn one_further_run_lies_within_the_sensitivity_as_often_as_it_says() {
    let normal: fn(&mut Chance) -> f64 = |chance| 0.03 * chance.normal();
    // Half of the runs on either of two levels, as from two possible allocations.
    let two_levels: fn(&mut Chance) -> f64 = |chance| {
        let level = if chance.normal() > 0.0 { 0.06 } else { 0.0 };
        level + 0.001 * chance.normal()
    };
    println!("| values | 3 | 5 | 10 | 30 |");
    for (name, draw, least) in [
        ("log-normal 3 %", normal, 0.945),
        ("two levels 6 % apart", two_levels, 0.86),
    ] {
        let found = [3, 5, 10, 30].map(|count| covered(count, draw));
        let shown = found.map(|share| format!("{:.1}", 100.0 * share));
        println!("| {name} | {} |", shown.join(" | "));
        assert!(
            found.iter().all(|share| *share >= least),
            "{name}: {found:?}"
        );
    }
}
