//! Rate of false alarms over families of tests.

use fslab_stats::{benjamini_hochberg, difference_test_among, holm};

use crate::chance::{Chance, Kind};

const FAMILIES: u32 = 300;
const TESTS: usize = 100;

/// p-values of a hundred comparisons, each with its own trials of a common subject, of which the
/// first `different` differ by a tenth.
fn p_values(chance: &mut Chance, different: usize) -> Vec<f64> {
    let kind = Kind::LogNormal(0.05);
    (0..TESTS)
        .map(|place| {
            let times = if place < different { 1.1 } else { 1.0 };
            let a = kind.sample(chance, 8);
            let b: Vec<f64> = kind
                .sample(chance, 8)
                .iter()
                .map(|value| times * value)
                .collect();
            difference_test_among(&a, &b, TESTS).map_or(f64::NAN, |test| test.p_value)
        })
        .collect()
}

#[test]
fn where_nothing_differs_a_family_alarms_in_one_of_twenty_at_most() {
    let mut chance = Chance::of(21);
    let (mut by_holm, mut by_rate, mut without) = (0, 0, 0);
    for _ in 0..FAMILIES {
        let p = p_values(&mut chance, 0);
        let alarms = |p: &[f64]| u32::from(p.iter().any(|p| *p <= 0.05));
        by_holm += alarms(&holm(&p));
        by_rate += alarms(&benjamini_hochberg(&p));
        without += alarms(&p);
    }
    println!(
        "families of {TESTS} with an alarm: Holm {by_holm}, BH {by_rate}, uncorrected {without} of {FAMILIES}"
    );
    // Five in a hundred and three standard deviations.
    assert!(by_holm <= 26 && by_rate <= 26, "{by_holm} {by_rate}");
    assert!(without > 285, "{without}");
}

#[test]
fn at_most_one_in_twenty_reported_differences_is_false() {
    let mut chance = Chance::of(22);
    let (mut shares, mut found) = (0.0, 0_u32);
    for _ in 0..FAMILIES {
        let adjusted = benjamini_hochberg(&p_values(&mut chance, 30));
        let significant: Vec<usize> = (0..TESTS)
            .filter(|place| adjusted[*place] <= 0.05)
            .collect();
        let wrong = significant.iter().filter(|place| **place >= 30).count();
        shares += wrong as f64 / significant.len().max(1) as f64;
        found += u32::try_from(significant.len() - wrong).expect("few");
    }
    let (share, power) = (
        shares / f64::from(FAMILIES),
        f64::from(found) / f64::from(30 * FAMILIES),
    );
    println!(
        "30 of {TESTS} differ by a tenth, noise 5 %, n = 8: {:.1} % found, {:.1} % of these are false",
        100.0 * power,
        100.0 * share
    );
    assert!(share <= 0.05, "{share}");
    assert!(power > 0.5, "{power}");
}
