//! Runs with known truth: differences found and not found, and anomalies.

use fslab_compare::{Analysis, Anomaly, DetectedAnomaly, Standing};
use fslab_model::{Adaptive, Percent, Round, Rounds, RunRecord};
use fslab_report::{Table, figures, sentences, tables};
use fslab_stats::TestMethod;

use crate::fixture::{Chance, fail_trial, run_of, trial_mut};

/// Two equal subjects with noise of 3 %, measured by elapsed time only.
#[derive(Clone)]
struct Story {
    run: RunRecord,
}

impl Story {
    fn new(repeats: u32, seed: u64) -> Self {
        let mut run = run_of(&["ext4", "xfs"], repeats);
        for phase in run.trials.iter_mut().flat_map(|trial| &mut trial.phases) {
            phase.latencies.clear();
            phase.series = None;
            phase.settled = None;
        }
        Self { run }.noisy(seed)
    }

    /// With other noise.
    fn noisy(mut self, seed: u64) -> Self {
        let mut chance = Chance::of(seed);
        for phase in self.run.trials.iter_mut().flat_map(|t| &mut t.phases) {
            phase.elapsed_ns = Some((1e9 * (0.03 * normal(&mut chance)).exp()) as u64);
        }
        self
    }

    /// Multiplies the speed of one subject by `times` in the phases of that name, "" for all, by
    /// the trial's rank in the order of the run.
    fn faster(mut self, cell: u32, phase: &str, times: impl Fn(usize) -> f64) -> Self {
        let mut order: Vec<(u32, u32)> = self
            .run
            .trials
            .iter()
            .filter(|trial| trial.trial.cell.0 == cell)
            .map(|trial| (trial.position, trial.trial.repeat))
            .collect();
        order.sort_unstable();
        for (rank, (_, repeat)) in order.iter().enumerate() {
            let trial = trial_mut(&mut self.run, cell, *repeat);
            let of = |name: &str| phase.is_empty() || phase == name;
            for record in trial.phases.iter_mut().filter(|it| of(&it.name)) {
                let slow = record.elapsed_ns.expect("measured") as f64;
                record.elapsed_ns = Some((slow / times(rank)) as u64);
            }
        }
        self
    }

    fn findings(&self) -> Vec<DetectedAnomaly> {
        Analysis::of(&self.run).diagnosis.findings
    }
}

fn normal(chance: &mut Chance) -> f64 {
    let radius = (-2.0 * chance.uniform().ln()).sqrt();
    radius * (std::f64::consts::TAU * chance.uniform()).cos()
}

fn text(table: &Table) -> String {
    table.to_markdown()
}

#[test]
fn a_subject_that_is_faster_by_a_tenth_is_found_to_be() {
    let story = Story::new(10, 1).faster(1, "", |_| 1.1);
    let analysis = Analysis::of(&story.run);
    assert_eq!(analysis.family, 9);
    for phase in &analysis.phases {
        let comparison = phase.comparison.as_ref().expect("measured");
        assert_eq!(comparison.winner(), Some(1), "{}", phase.name);
        let interval = comparison
            .speed(1, 0)
            .and_then(|it| it.interval)
            .expect("repeats");
        assert!(interval.low < 1.13 && interval.high > 1.07, "{interval:?}");
        assert!(comparison.entries[0].p_corrected.is_some_and(|p| p < 0.001));
    }
    let overall = analysis.overall.as_ref().expect("nine phases");
    assert_eq!(overall.phases.len(), 9);
    let speed = overall.comparison.speed(1, 0).expect("repeats");
    let interval = speed.interval.expect("repeats");
    assert!(
        interval.contains(1.1) && interval.high - interval.low < 0.04,
        "{interval:?}"
    );
    let stated: Vec<String> = sentences(&analysis)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        stated
            .iter()
            .any(|it| it.starts_with("Over 9 phases (geometric mean), XFS is 1.1")),
        "{stated:#?}"
    );
}

#[test]
fn the_interval_of_a_known_ratio_holds_it_in_most_phases() {
    let (mut held, mut all) = (0, 0);
    let mut story = Story::new(10, 2);
    for seed in 0..12 {
        story = story.noisy(1_000 + seed).faster(1, "", |_| 1.1);
        for phase in &Analysis::of(&story.run).phases {
            let comparison = phase.comparison.as_ref().expect("measured");
            let speed = comparison.speed(1, 0).expect("measured");
            held += u32::from(speed.interval.expect("repeats").contains(1.1));
            all += 1;
        }
    }
    assert!(all == 108 && (96..=108).contains(&held), "{held} of {all}");
}

#[test]
fn equals_differ_in_one_run_of_twenty_at_most() {
    let mut alarms = 0;
    for (repeats, runs) in [(3, 60), (10, 60)] {
        let mut story = Story::new(repeats, 3);
        for seed in 0..runs {
            story = story.noisy(7_000 + seed);
            let analysis = Analysis::of(&story.run);
            let mut comparisons = analysis
                .phases
                .iter()
                .filter_map(|it| it.comparison.as_ref());
            alarms += u32::from(comparisons.any(|it| it.with(Standing::Behind).next().is_some()));
        }
    }
    println!("{alarms} of 120 runs of equals have a false difference");
    // 5 % of 120 runs, and three standard deviations.
    assert!(alarms <= 13, "{alarms} of 120 runs");
}

#[test]
fn a_difference_by_the_interval_alone_is_reported_as_lost_in_correction() {
    // A difference that correction for nine comparisons makes insignificant.
    let mut story = Story::new(10, 100);
    let lost = (0..60).find_map(|seed| {
        story = story.clone().noisy(100 + seed);
        let analysis = Analysis::of(&story.run);
        let phase = analysis.phases.iter().find(|phase| {
            let comparison = phase.comparison.as_ref().expect("measured");
            (0..2).any(|subject| comparison.is_lost_in_correction(subject))
        })?;
        let table = tables::certainty(phase, analysis.subjects(), analysis.family)?;
        let stated: Vec<String> = sentences(&analysis)
            .iter()
            .map(ToString::to_string)
            .collect();
        Some((
            text(&table),
            text(&tables::overview(&analysis)),
            stated.join("\n"),
        ))
    });
    let (table, overview, stated) = lost.expect("one of 540 comparisons of equals");
    assert!(table.contains("(not after correction)"), "{table}");
    assert!(
        overview.contains("Not after correction for 9 pairs of subjects"),
        "{overview}"
    );
    assert!(
        stated.contains("certain: among 9 pairs of subjects some intervals do so by chance."),
        "{stated}"
    );
}

#[test]
fn with_ten_repeats_every_arrangement_is_counted() {
    let story = Story::new(10, 4).faster(1, "", |_| 1.5);
    let analysis = Analysis::of(&story.run);
    let comparison = analysis.phases[0].comparison.as_ref().expect("measured");
    let test = comparison.entries[0].test.expect("repeats");
    let arrangements = 184_756;
    assert_eq!(test.method, TestMethod::PermutationExact { arrangements });
    // Separate groups: two of the arrangements, one for each direction.
    assert!((test.p_value - 2.0 / 184_756.0).abs() < 1e-12);
    let table = tables::certainty(&analysis.phases[0], analysis.subjects(), analysis.family);
    let table = text(&table.expect("repeats"));
    assert!(table.contains("permutation test, exact"), "{table}");
    assert!(table.contains("studentised bootstrap"), "{table}");
}

#[test]
fn with_three_repeats_the_test_is_welchs_and_says_so() {
    let story = Story::new(3, 4).faster(1, "", |_| 1.5);
    let analysis = Analysis::of(&story.run);
    let phase = &analysis.phases[0];
    let table = tables::certainty(phase, analysis.subjects(), analysis.family).expect("repeats");
    let table = text(&table);
    assert!(
        table.contains("p-values: Welch's t test; corrected for 9 pairs of subjects"),
        "{table}"
    );
    assert!(
        table.contains("Intervals: Welch's t on the logarithms."),
        "{table}"
    );
}

#[test]
fn a_quiet_run_has_no_anomalies() {
    let mut story = Story::new(10, 5);
    let mut found = Vec::new();
    for seed in 0..30 {
        story = story.noisy(20_000 + seed);
        found.extend(story.findings());
    }
    // Five tests of each of 30 runs (four kinds, and the drift of the run), each of which may alarm
    // in one of a hundred.
    assert!(found.len() <= 6, "{} {found:#?}", found.len());
}

fn only(story: &Story, phase: &str) -> DetectedAnomaly {
    let analysis = Analysis::of(&story.run);
    let found = &analysis.diagnosis.findings;
    assert_eq!(found.len(), 1, "{found:#?}");
    let place = found[0].phase.expect("a phase");
    assert_eq!(
        (analysis.phases[place].name, found[0].subject),
        (phase, Some(1))
    );
    found[0].clone()
}

#[test]
fn a_planted_outlier_is_found_and_nothing_else_is() {
    let story = Story::new(10, 6).faster(1, "read", |rank| if rank == 4 { 0.6 } else { 1.0 });
    let found = only(&story, "read");
    let Anomaly::Outliers(outliers) = &found.anomaly else {
        panic!("{found:?}");
    };
    assert_eq!(outliers.len(), 1);
    assert_eq!(outliers[0].index, 4);
    assert!((0.52..0.68).contains(&outliers[0].times), "{outliers:?}");
    let analysis = Analysis::of(&story.run);
    let table = text(&tables::diagnosis(&analysis).expect("one finding"));
    let repeat = found.repeats[4] + 1;
    assert!(table.contains(&format!("repeat {repeat} ")), "{table}");
    assert!(
        table.contains("% below the geometric mean of the others"),
        "{table}"
    );
    // The outlier is still in the figures.
    let read = analysis
        .phases
        .iter()
        .find(|it| it.name == "read")
        .expect("a phase");
    let comparison = read.comparison.as_ref().expect("measured");
    assert_eq!(comparison.entries[1].values.len(), 10);
}

#[test]
fn two_planted_modes_are_found_and_nothing_else_is() {
    let story = Story::new(12, 7).faster(1, "stat", |rank| [1.0, 1.5][rank % 2]);
    let found = only(&story, "stat");
    let Anomaly::TwoModes(modes) = found.anomaly else {
        panic!("{found:?}");
    };
    assert_eq!((modes.low_count, modes.high_count), (6, 6));
    assert!((1.4..1.6).contains(&(modes.high / modes.low)), "{modes:?}");
}

#[test]
fn a_planted_drift_is_found_and_nothing_else_is() {
    let story = Story::new(10, 8).faster(1, "append", |rank| 1.0 + 0.04 * rank as f64);
    let found = only(&story, "append");
    let Anomaly::Drift(drift) = found.anomaly else {
        panic!("{found:?}");
    };
    assert!((1.25..1.5).contains(&drift.times), "{drift:?}");
}

#[test]
fn a_planted_warm_up_is_found_and_nothing_else_is() {
    let story = Story::new(10, 9).faster(1, "write", |rank| if rank == 0 { 0.6 } else { 1.0 });
    let found = only(&story, "write");
    let Anomaly::WarmUp(first) = found.anomaly else {
        panic!("{found:?}");
    };
    assert!((0.52..0.68).contains(&first.times), "{first:?}");
}

#[test]
fn a_machine_that_becomes_slower_is_a_drift_of_the_run() {
    let slower = |rank: usize| 1.0 / (1.0 + 0.01 * rank as f64);
    let story = Story::new(10, 10)
        .faster(0, "", slower)
        .faster(1, "", slower);
    let found = story.findings();
    let whole = found
        .iter()
        .find(|it| it.phase.is_none())
        .expect("a drift of the run");
    assert!(matches!(&whole.anomaly, Anomaly::Drift(drift) if drift.times < 0.95));
    let stated = sentences(&Analysis::of(&story.run));
    let stated: Vec<String> = stated.iter().map(ToString::to_string).collect();
    let start = "All subjects together became slower by";
    assert!(stated.iter().any(|it| it.starts_with(start)), "{stated:#?}");
}

#[test]
fn wide_intervals_are_listed_with_their_reason() {
    let mut story = Story::new(4, 11).faster(1, "create", |rank| [1.0, 1.6][rank % 2]);
    let fixed = tables::spread(&Analysis::of(&story.run)).expect("noise of 3 %");
    assert!(
        text(&fixed).contains("the run had a fixed number of 4 repeats"),
        "{}",
        text(&fixed)
    );
    assert_eq!(fixed.rows[0][0].text, "Create", "the widest first");
    story.run.header.plan.adaptive = Some(Adaptive {
        repeats_max: 4,
        target: Percent::of_share(0.2),
        key: vec!["create".to_owned()],
        until_decided: false,
        budget_s: None,
    });
    let adaptive = tables::spread(&Analysis::of(&story.run)).expect("one is wide");
    assert_eq!(adaptive.rows.len(), 1);
    assert!(
        text(&adaptive).contains("at the maximum of 4 repeats"),
        "{}",
        text(&adaptive)
    );
    fail_trial(&mut story.run, 1, 3);
    let failed = tables::spread(&Analysis::of(&story.run)).expect("one is wide");
    assert!(
        text(&failed).contains("1 repeat failed"),
        "{}",
        text(&failed)
    );
    story.run.header.plan.adaptive = None;
    let single = run_of(&["ext4", "xfs"], 1);
    let table = text(&tables::spread(&Analysis::of(&single)).expect("no interval at all"));
    assert!(table.contains("a single repeat has no interval"), "{table}");
}

#[test]
fn the_level_at_which_the_spread_arises_is_reported() {
    let mut story = Story::new(6, 12);
    let rounds = Rounds {
        mounts: 3,
        iterations: 2,
    };
    story.run.header.plan.rounds = rounds;
    let mut chance = Chance::of(77);
    for trial in &mut story.run.trials {
        let once = std::mem::take(&mut trial.phases);
        let mut of_mount = vec![0.0; once.len()];
        for round in rounds.each() {
            for (place, phase) in once.iter().enumerate() {
                if round.iteration == 0 {
                    of_mount[place] = 0.10 * normal(&mut chance);
                }
                let mut record = phase.clone();
                record.round = Some(Round { ..round });
                let log = of_mount[place] + 0.01 * normal(&mut chance);
                record.elapsed_ns = Some((1e9 * log.exp()) as u64);
                trial.phases.push(record);
            }
        }
    }
    let table = tables::components(&Analysis::of(&story.run)).expect("several rounds");
    let most = table
        .rows
        .iter()
        .filter(|row| row[5].text == "mount")
        .count();
    assert_eq!((table.rows.len(), most), (18, 18), "{}", text(&table));
    assert_eq!(
        tables::components(&Analysis::of(&run_of(&["ext4", "xfs"], 2))),
        None
    );
}

#[test]
fn a_spread_of_zero_is_no_special_case() {
    let mut story = Story::new(5, 13);
    for trial in &mut story.run.trials {
        for phase in &mut trial.phases {
            phase.elapsed_ns = Some(1_000_000_000 / (1 + u64::from(trial.trial.cell.0)));
        }
    }
    let analysis = Analysis::of(&story.run);
    let all = [
        tables::overall(&analysis),
        tables::spread(&analysis),
        tables::diagnosis(&analysis),
    ];
    assert!(all[1].is_none() && all[2].is_none());
    let table = text(all[0].as_ref().expect("two subjects"));
    assert!(
        table.contains("2.00 to 2.00") && !table.contains("NaN"),
        "{table}"
    );
    let phase = &analysis.phases[0];
    let certain = tables::certainty(phase, analysis.subjects(), analysis.family).expect("repeats");
    let certain = text(&certain);
    assert!(
        certain.contains("| 200.0 % |") || certain.contains("| 50.0 % |"),
        "{certain}"
    );
    assert!(
        !certain.contains("NaN") && certain.contains("0 %"),
        "{certain}"
    );
}

#[test]
fn every_row_of_the_tables_of_statistics_is_full_and_every_figure_defined() {
    let story = Story::new(10, 6).faster(1, "read", |rank| if rank == 4 { 0.6 } else { 1.0 });
    for run in [story.run, run_of(&["ext4", "xfs"], 1), run_of(&["xfs"], 3)] {
        let analysis = Analysis::of(&run);
        let mut all: Vec<Table> = [tables::overall(&analysis), tables::spread(&analysis)]
            .into_iter()
            .chain([tables::diagnosis(&analysis)])
            .flatten()
            .collect();
        for phase in &analysis.phases {
            all.extend(tables::certainty(
                phase,
                analysis.subjects(),
                analysis.family,
            ));
        }
        assert!(!all.is_empty());
        let defined = figures();
        for table in all {
            for name in table.columns.iter().filter_map(|column| column.figure) {
                assert!(defined.iter().any(|figure| figure.name == name), "{name}");
            }
            for row in &table.rows {
                assert_eq!(row.len(), table.columns.len(), "{}", table.caption);
            }
        }
    }
}
