//! Verdicts of a diff on figures with known truth.

use fslab_compare::{Diff, Question};
use fslab_model::MetricDefinition;
use fslab_model::definitions::{MKFS, THROUGHPUT};
use fslab_report::{Cells, diff_table};
use fslab_stats::Verdict;

use crate::chance::Chance;
use crate::story::run;

fn diff_of(base: Vec<f64>, new: Vec<f64>) -> Diff {
    let base = run("base", &[("ext4", vec![("read", base)])]);
    let new = run("new", &[("ext4", vec![("read", new)])]);
    Diff::of(&base, &new, &Question::default()).expect("comparable")
}

#[test]
fn a_tenth_faster_under_little_noise_is_faster_and_the_interval_holds_it() {
    let mut chance = Chance::of(11);
    let (base, new) = (chance.rates(10, 400e6, 0.03), chance.rates(10, 440e6, 0.03));
    let diff = diff_of(base, new);
    let contrast = &diff.contrasts[0];
    assert_eq!(contrast.verdict, Verdict::Faster);
    let speed = contrast.speed.expect("both have values");
    assert!(speed.interval.expect("repeats").contains(1.1), "{speed:?}");
    assert!(contrast.p_corrected.expect("tested") < 0.001);
}

#[test]
fn equals_under_little_noise_are_the_same_and_under_much_undecided() {
    let mut chance = Chance::of(12);
    let quiet = diff_of(chance.rates(10, 4e8, 0.01), chance.rates(10, 4e8, 0.01));
    assert_eq!(quiet.contrasts[0].verdict, Verdict::Same { within: 0.05 });
    let loud = diff_of(chance.rates(4, 4e8, 0.2), chance.rates(4, 4e8, 0.2));
    assert_eq!(loud.contrasts[0].verdict, Verdict::Undecided);
}

#[test]
fn a_spread_of_zero_is_no_special_case() {
    let same = diff_of(vec![4e8; 3], vec![4e8; 3]);
    assert_eq!(same.contrasts[0].verdict, Verdict::Same { within: 0.05 });
    let slower = diff_of(vec![4e8; 5], vec![2e8; 5]);
    assert_eq!(slower.contrasts[0].verdict, Verdict::Slower);
}

#[test]
fn values_that_a_coarse_clock_may_have_made_have_a_note() {
    let notes_of = |base: Vec<f64>, new: Vec<f64>| {
        let found = diff_of(base, new);
        assert_eq!(found.contrasts[0].verdict, Verdict::Faster);
        diff_table(&found).notes.join("\n")
    };
    let clock = "one true figure between the two could show as both";
    let neighbours = notes_of(vec![2e8; 3], vec![3e8; 3]);
    assert!(neighbours.contains(clock), "{neighbours}");
    let apart = notes_of(vec![2e8; 3], vec![4.1e8; 3]);
    assert!(!apart.contains(clock), "{apart}");
}

#[test]
fn a_metric_that_no_run_has_is_an_error_that_names_those_that_there_are() {
    let one = || run("base", &[("ext4", vec![("read", vec![4e8; 3])])]);
    let asked = |metrics: &[&'static MetricDefinition]| {
        let question = Question {
            metrics: metrics.to_vec(),
            ..Question::default()
        };
        Diff::of(&one(), &one(), &question)
    };
    let error = asked(&[&MKFS]).expect_err("not measured");
    assert!(error.to_string().contains("a figure of mkfs_ns"), "{error}");
    let hint = error.hint.expect("a hint");
    assert!(hint.contains("throughput"), "{hint}");
    let both = asked(&[&MKFS, &THROUGHPUT]).expect("one is measured");
    assert_eq!(both.contrasts.len(), 1);
    let notes = diff_table(&both).notes.join("\n");
    assert!(notes.contains("mkfs_ns is in neither run"), "{notes}");
}

#[test]
fn a_single_repeat_decides_nothing() {
    let diff = diff_of(vec![4e8], vec![1e8]);
    assert_eq!(diff.contrasts[0].verdict, Verdict::Undecided);
    assert_eq!(diff.contrasts[0].p_corrected, None);
}

#[test]
fn a_chance_find_among_many_is_not_stated() {
    // One of forty equal phases differs by as much as one in forty does by chance.
    let mut chance = Chance::of(5);
    let names: Vec<String> = (0..40).map(|number| format!("phase {number}")).collect();
    let mut phases = || -> Vec<(&str, Vec<f64>)> {
        let each = names
            .iter()
            .map(|name| (name.as_str(), chance.rates(6, 4e8, 0.05)));
        each.collect()
    };
    let base = run("base", &[("ext4", phases())]);
    let new = run("new", &[("ext4", phases())]);
    let diff = Diff::of(&base, &new, &Question::default()).expect("comparable");
    let excludes_one = |c: &&fslab_compare::Contrast| {
        let interval = c.speed.and_then(|speed| speed.interval);
        interval.is_some_and(|interval| !interval.contains(1.0))
    };
    let alone = diff.contrasts.iter().filter(excludes_one).count();
    assert!(alone > 0, "this seed has a chance find");
    let stated = diff
        .with(|v| matches!(v, Verdict::Faster | Verdict::Slower))
        .count();
    assert_eq!(stated, 0);
}

#[test]
fn a_subject_over_all_its_phases_is_reported_with_its_interval() {
    let mut chance = Chance::of(14);
    let mut phases = |factor: f64| {
        vec![
            ("read", chance.rates(6, factor * 4e8, 0.02)),
            ("write", chance.rates(6, factor * 2e8, 0.02)),
            ("create", chance.rates(6, factor * 1e4, 0.02)),
        ]
    };
    let base = run("base", &[("ext4", phases(1.0))]);
    let new = run("new", &[("ext4", phases(0.9))]);
    let diff = Diff::of(&base, &new, &Question::default()).expect("comparable");
    let overall = &diff.overall[0];
    assert_eq!(overall.phases, 3);
    let interval = overall.speed.interval.expect("repeats");
    assert!(
        interval.contains(0.9) && interval.high - interval.low < 0.1,
        "{interval:?}"
    );
    let text = diff_table(&diff).to_markdown();
    assert!(text.contains("Over all 3 phases ext4 is 0."), "{text}");
}

#[test]
fn a_table_has_every_figure_a_word_and_what_was_corrected() {
    let mut chance = Chance::of(13);
    let diff = diff_of(chance.rates(6, 4e8, 0.02), chance.rates(6, 3e8, 0.02));
    let text = diff_table(&diff).to_markdown();
    for expected in [
        "new against base",
        "ext4",
        "Read",
        "slower",
        "n = 6",
        "and p is at most 0.05",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

/// The medians stood beside the ratio of geometric means: 887 and 771 beside 0.58.
#[test]
fn the_figures_of_a_diff_are_those_whose_ratio_it_is() {
    let (base, new) = (vec![880e6, 887e6, 890e6], vec![200e6, 771e6, 780e6]);
    let diff = diff_of(base, new);
    let contrast = &diff.contrasts[0];
    let speed = contrast.speed.expect("both have values").value;
    let (below, above) = (
        contrast.base.geometric_mean(),
        contrast.new.geometric_mean(),
    );
    let (below, above) = (below.expect("positive"), above.expect("positive"));
    assert!(
        (above / below - speed).abs() < 1e-12,
        "{above} / {below} is not {speed}"
    );
    let row = diff_table(&diff).to_csv(Cells::Guarded).expect("a table");
    assert!(
        row.contains("886 MB/s") && row.contains("494 MB/s"),
        "{row}"
    );
    let document = serde_json::to_value(fslab_report::DiffDocument::of(&diff)).expect("JSON");
    let side = &document["contrasts"][0]["new"];
    assert_eq!(side["geometric_mean"].as_f64(), Some(above));
    assert_eq!(side["median"].as_f64(), Some(771e6));
}

#[test]
fn of_several_runs_the_mean_is_that_of_their_means() {
    let side = fslab_compare::Side::of(vec![vec![1.0, 100.0], vec![1000.0]]);
    assert!((side.geometric_mean().expect("positive") - 100.0).abs() < 1e-9);
    let diff = diff_of(vec![5e8, 6e8, 7e8], vec![0.0, 2e8, 4e8]);
    assert_eq!(diff.contrasts[0].new.geometric_mean(), None);
    assert_eq!(diff.contrasts[0].figures(), [Some(6e8), Some(2e8)]);
}
