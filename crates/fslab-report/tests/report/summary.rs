//! The summary in words.

use fslab_compare::Analysis;
use fslab_report::sentences;

use crate::fixture::{run_of, usual};

fn told(run: &fslab_model::RunRecord) -> String {
    let told = sentences(&Analysis::of(run));
    told.iter().map(|s| format!("{s}\n")).collect()
}

#[test]
fn the_usual_run_is_told_with_intervals_and_ties() {
    insta::assert_snapshot!("summary_of_the_usual_run", told(&usual()));
}

#[test]
fn with_one_repeat_no_ranking_is_claimed() {
    let run = run_of(&["ext4", "xfs"], 1);
    insta::assert_snapshot!(told(&run), @r"
    All 2 trials ran to the end.
    Each subject has a single repeat: no interval can be given, so no ranking is stated.
    The figures of reread come from the page cache: the device moved less than a tenth of the bytes.
    ");
}

#[test]
fn one_subject_is_compared_with_none() {
    insta::assert_snapshot!(told(&run_of(&["xfs"], 3)), @r"
    All 3 trials ran to the end.
    There is one subject, hence no comparison.
    4 of 9 figures of a phase and a subject are known no better than ± 5.0 %.
    The figures of reread come from the page cache: the device moved less than a tenth of the bytes.
    ");
}

#[test]
fn an_empty_run_says_so() {
    let mut run = run_of(&["ext4", "xfs"], 3);
    run.trials.clear();
    insta::assert_snapshot!(told(&run), @"No trial of this run has a record yet.");
}

#[test]
fn a_run_that_was_stopped_says_how_much_is_missing() {
    let mut run = run_of(&["ext4", "xfs"], 3);
    run.trials.truncate(4);
    let first = told(&run).lines().next().map(str::to_owned);
    assert_eq!(
        first.as_deref(),
        Some("4 of 6 trials ran to the end; 2 not run yet.")
    );
}

#[test]
fn repeats_without_any_spread_are_told_like_others() {
    let mut run = run_of(&["ext4", "xfs"], 3);
    let seconds = [2_000_000_000, 1_000_000_000];
    for trial in &mut run.trials {
        for phase in &mut trial.phases {
            phase.elapsed_ns = Some(seconds[trial.trial.cell.0 as usize]);
        }
    }
    let told = told(&run);
    assert!(
        told.contains(
            "XFS writes sequentially 2.00 times as fast as ext4 (95 % interval 2.00 to 2.00)"
        ),
        "{told}"
    );
    assert!(!told.contains("NaN"), "{told}");
}
