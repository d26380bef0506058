//! The summary in words.

use fslab_compare::Analysis;
use fslab_model::{Adaptive, CellId, Failure, FailureKind, Percent, TrialOutcome, TrialRecord};
use fslab_report::{sentences, tables};

use crate::fixture::{run_of, trial_mut, usual};

fn summary(run: &fslab_model::RunRecord) -> String {
    let text = sentences(&Analysis::of(run));
    text.iter().map(|s| format!("{s}\n")).collect()
}

#[test]
fn the_summary_of_the_usual_run_has_intervals_and_ties() {
    insta::assert_snapshot!("summary_of_the_usual_run", summary(&usual()));
}

#[test]
fn with_one_repeat_no_ranking_is_claimed() {
    let run = run_of(&["ext4", "xfs"], 1);
    insta::assert_snapshot!(summary(&run), @r"
    All 2 trials ran to the end.
    Each subject has a single repeat: no interval can be given, so no ranking is stated.
    The figures of reread come from the page cache: the device moved less than a tenth of the bytes.
    ");
}

#[test]
fn one_subject_is_compared_with_none() {
    insta::assert_snapshot!(summary(&run_of(&["xfs"], 3)), @r"
    All 3 trials ran to the end.
    There is one subject, hence no comparison.
    4 of 9 figures of a phase and a subject have an interval wider than ± 5.0 %.
    The figures of reread come from the page cache: the device moved less than a tenth of the bytes.
    ");
}

#[test]
fn an_empty_run_says_so() {
    let mut run = run_of(&["ext4", "xfs"], 3);
    run.trials.clear();
    insta::assert_snapshot!(summary(&run), @"No trial of this run has a record yet.");
}

#[test]
fn a_run_that_was_stopped_says_how_much_is_missing() {
    let mut run = run_of(&["ext4", "xfs"], 3);
    run.trials.truncate(4);
    let first = summary(&run).lines().next().map(str::to_owned);
    assert_eq!(
        first.as_deref(),
        Some("4 of 6 trials ran to the end; 2 not run yet.")
    );
}

#[test]
fn repeats_without_any_spread_are_reported_like_others() {
    let mut run = run_of(&["ext4", "xfs"], 3);
    let seconds = [2_000_000_000, 1_000_000_000];
    for trial in &mut run.trials {
        for phase in &mut trial.phases {
            phase.elapsed_ns = Some(seconds[trial.trial.cell.0 as usize]);
        }
    }
    let text = summary(&run);
    assert!(
        text.contains(
            "XFS writes sequentially 2.00 times as fast as ext4 (95 % interval 2.00 to 2.00)"
        ),
        "{text}"
    );
    assert!(!text.contains("NaN"), "{text}");
}

/// By default one repeat in real time is followed by others until the differences are decided. The
/// summary of thirty repeats spoke of a single one, and of those that the plan does not name a
/// failure outside the phases was left out.
#[test]
fn repeats_that_were_added_are_counted_and_their_failures_listed() {
    let mut run = run_of(&["ext4", "xfs"], 4);
    run.header.plan.repeats = 1;
    run.header.plan.adaptive = Some(Adaptive {
        repeats_max: 30,
        target: Percent::of_share(0.05),
        key: Vec::new(),
        until_decided: true,
        budget_s: Some(300),
    });
    // It was known earlier than the other.
    let is_later = |trial: &TrialRecord| trial.trial.cell == CellId(0) && trial.trial.repeat == 3;
    run.trials.retain(|trial| !is_later(trial));
    assert_eq!(tables::failures(&Analysis::of(&run)), None);
    assert!(
        !summary(&run).contains("single repeat"),
        "{}",
        summary(&run)
    );
    let failure = Failure::new(FailureKind::Check, "e2fsck found damage");
    trial_mut(&mut run, 1, 3).outcome = TrialOutcome::Failed { failure };
    let table = tables::failures(&Analysis::of(&run)).expect("a failure");
    assert_eq!(table.rows.len(), 1);
    let text = table.to_markdown();
    assert!(text.contains("e2fsck found damage"), "{text}");
}
