//! The geometric mean over phases whose figures are correlated within a trial.

use fslab_stats::{Components, OverallMeans, TrialValues, difference_test, ratio};

use crate::chance::{Chance, Kind};

const EXPERIMENTS: u32 = 3_000;
const PHASES: usize = 8;

/// Trials of eight phases. Half of the variance of a figure is that of its trial; `lost` is the
/// share of figures that are missing.
fn trials(chance: &mut Chance, count: usize, lost: f64) -> TrialValues {
    let kind = Kind::LogNormal(0.05);
    (0..count)
        .map(|_| {
            let trial = kind.value(chance);
            let figure = |phase: usize, chance: &mut Chance| {
                let value = 10.0_f64.powi(i32::try_from(phase).expect("few")) * trial;
                let value = value * kind.value(chance);
                (chance.uniform() >= lost).then_some(value)
            };
            (0..PHASES).map(|phase| figure(phase, chance)).collect()
        })
        .collect()
}

#[test]
fn values_per_trial_cover_where_phases_taken_as_independent_do_not() {
    for (count, lost) in [(3, 0.0), (5, 0.0), (10, 0.0), (5, 0.1), (10, 0.1)] {
        let mut chance = Chance::of(31);
        let (mut whole, mut apart, mut all) = (0_u32, 0_u32, 0_u32);
        for _ in 0..EXPERIMENTS {
            let subjects = [
                trials(&mut chance, count, lost),
                trials(&mut chance, count, lost),
            ];
            let Some(overall) = OverallMeans::of(&subjects) else {
                continue;
            };
            let Some(interval) = overall.ratio(0, 1).and_then(|it| it.interval) else {
                continue;
            };
            all += 1;
            whole += u32::from(interval.contains(1.0));
            // The wrong level: every figure counts as independent, about the mean of its phase.
            let flat = |subject: &TrialValues| -> Vec<f64> {
                let figures = subject.iter().flat_map(|trial| trial.iter().enumerate());
                let scale = |phase: usize| 10.0_f64.powi(-i32::try_from(phase).expect("few"));
                figures
                    .filter_map(|(phase, value)| Some(value.as_ref()? * scale(phase)))
                    .collect()
            };
            let wrong = ratio(&flat(&subjects[0]), &flat(&subjects[1]));
            apart += u32::from(
                wrong
                    .and_then(|it| it.interval)
                    .is_some_and(|it| it.contains(1.0)),
            );
        }
        let share = |count: u32| f64::from(count) / f64::from(all);
        println!(
            "geometric mean over 8 phases, n = {count}, {:.0} % lost: whole trials {:.1} %, phases as \
             independent {:.1} %",
            100.0 * lost,
            100.0 * share(whole),
            100.0 * share(apart)
        );
        assert!(all > EXPERIMENTS * 9 / 10, "{all}");
        assert!(
            (0.93..=0.97).contains(&share(whole)),
            "{count} {lost}: {}",
            share(whole)
        );
        assert!(share(apart) < 0.85, "{count} {lost}: {}", share(apart));
    }
}

#[test]
fn an_overall_test_of_equals_alarms_in_one_of_twenty_at_most() {
    let mut chance = Chance::of(32);
    let alarms = (0..EXPERIMENTS).filter(|_| {
        let subjects = [trials(&mut chance, 5, 0.0), trials(&mut chance, 5, 0.0)];
        let overall = OverallMeans::of(&subjects).expect("eight phases");
        let test = difference_test(&overall.subjects[0], &overall.subjects[1]);
        test.is_some_and(|test| test.p_value <= 0.05)
    });
    let alarms = alarms.count() as f64 / f64::from(EXPERIMENTS);
    assert!(alarms <= 0.062, "{alarms}");
}

#[test]
fn variance_components_are_found_on_their_levels() {
    let mut chance = Chance::of(33);
    let sigmas = [0.10_f64, 0.05, 0.02];
    let (mut sums, runs) = ([0.0; 3], 500);
    for _ in 0..runs {
        let nested = (0..6)
            .map(|_| {
                let trial = sigmas[0] * chance.normal();
                let mount = |chance: &mut Chance| {
                    let mount = trial + sigmas[1] * chance.normal();
                    (0..3)
                        .map(|_| (mount + sigmas[2] * chance.normal()).exp())
                        .collect()
                };
                (0..3).map(|_| mount(&mut chance)).collect()
            })
            .collect();
        let found = Components::of(&nested).expect("repeated levels");
        for (sum, (_, level)) in sums.iter_mut().zip(found.levels()) {
            *sum += level.expect("repeated").variance;
        }
    }
    for (sum, sigma) in sums.iter().zip(sigmas) {
        let found = (sum / f64::from(runs)).sqrt();
        println!("component of {sigma}: {found:.4}");
        assert!((found / sigma - 1.0).abs() < 0.05, "{sigma}: {found}");
    }
}
