//! Tables as Markdown and CSV, and missing figures.

use fslab_compare::Analysis;
use fslab_report::{Cells, Table, Tone, tables};

use crate::disk_story::simulated;
use crate::fixture::{run_of, skip_phase, usual};

fn rectangular(table: &Table) {
    for row in &table.rows {
        assert_eq!(row.len(), table.columns.len(), "{}", table.caption);
    }
}

#[test]
fn the_overview_names_winners_ties_and_holes() {
    let run = usual();
    let overview = tables::overview(&Analysis::of(&run));
    insta::assert_snapshot!("overview_of_the_usual_run", overview.to_markdown());
}

#[test]
fn every_row_of_every_table_is_as_long_as_its_header() {
    let few = run_of(&["ext4", "xfs"], 1);
    for run in [usual(), few, run_of(&["xfs"], 3), simulated()] {
        let analysis = Analysis::of(&run);
        rectangular(&tables::overview(&analysis));
        rectangular(&tables::commands(&analysis));
        rectangular(&tables::trials(&analysis));
        tables::failures(&analysis).iter().for_each(rectangular);
        tables::durable(&analysis).iter().for_each(rectangular);
        for (_, table) in tables::survival_tables(&analysis) {
            rectangular(&table);
        }
        tables::steps(&analysis).iter().for_each(rectangular);
        for phase in &analysis.phases {
            rectangular(&tables::phase(phase, analysis.subjects()));
            let disk = tables::disk(phase, analysis.subjects());
            disk.iter().for_each(rectangular);
        }
    }
}

/// Of two repeats that both failed, the overview said that there was a single one.
#[test]
fn that_no_winner_can_be_named_has_its_cause() {
    let note = |run: &fslab_model::RunRecord| {
        let notes = tables::overview(&Analysis::of(run)).notes;
        notes
            .into_iter()
            .find(|note| note.contains("winner can be named"))
            .expect("a note")
    };
    let single = run_of(&["ext4", "xfs"], 1);
    assert_eq!(
        note(&single),
        "With a single repeat no winner can be named."
    );
    let mut failed = run_of(&["ext4", "xfs"], 2);
    for trial in &mut failed.trials {
        for phase in &mut trial.phases {
            let failure = fslab_model::Failure::new(fslab_model::FailureKind::Io, "no space");
            phase.outcome = fslab_model::PhaseOutcome::Failed { failure };
        }
    }
    assert_eq!(
        note(&failed),
        "No winner can be named: no subject has two repeats with a figure of the same phase."
    );
}

#[test]
fn what_failed_was_skipped_or_lost_is_listed_with_its_reason() {
    let run = usual();
    let failures = tables::failures(&Analysis::of(&run)).expect("one trial failed");
    insta::assert_snapshot!(
        "failures_of_the_usual_run",
        failures.to_csv(Cells::Guarded).expect("a table")
    );
}

#[test]
fn a_run_without_a_failure_has_no_table_of_them() {
    let run = run_of(&["ext4"], 2);
    assert_eq!(tables::failures(&Analysis::of(&run)), None);
}

#[test]
fn a_skipped_phase_names_the_reason_and_leaves_no_hole() {
    let mut run = run_of(&["ext4", "xfs"], 2);
    skip_phase(&mut run, 1, "write", "no room for it");
    let analysis = Analysis::of(&run);
    let table = tables::phase(&analysis.phases[0], analysis.subjects());
    assert_eq!(table.rows[1][0].detail.as_deref(), Some("skipped"));
    assert!(
        table
            .notes
            .contains(&"xfs has no figure; skipped: no room for it.".to_owned()),
        "{:?}",
        table.notes
    );
    let rest = &table.rows[1][1..];
    assert!(
        rest.iter()
            .all(|cell| cell.text == "–" || cell.text == "0/2")
    );
}

#[test]
fn counters_that_were_not_measured_are_named_and_not_zero() {
    let mut run = run_of(&["ext4"], 2);
    for phase in run.trials.iter_mut().flat_map(|trial| &mut trial.phases) {
        phase.device = None;
        phase.latencies.clear();
    }
    let analysis = Analysis::of(&run);
    let table = tables::phase(&analysis.phases[0], analysis.subjects());
    let note = &table.notes[0];
    assert!(note.starts_with("Not measured here: latencies, read requests at the device"));
    assert!(
        table
            .columns
            .iter()
            .all(|c| c.group.as_deref() != Some("Device"))
    );
}

#[test]
fn a_figure_of_the_page_cache_is_labelled_as_one() {
    let run = usual();
    let analysis = Analysis::of(&run);
    let reread = analysis.phases.iter().find(|phase| phase.name == "reread");
    let table = tables::phase(reread.expect("a phase"), analysis.subjects());
    let labels: Vec<_> = table.rows[0].iter().filter(|cell| cell.badge).collect();
    assert_eq!(labels.len(), 1);
    assert_eq!(
        (labels[0].text.as_str(), labels[0].tone),
        ("page cache", Tone::Bad)
    );
}

#[test]
fn a_median_that_is_best_with_certainty_alone_is_strong() {
    let run = run_of(&["ext4", "xfs", "btrfs"], 1);
    let overview = tables::overview(&Analysis::of(&run));
    let strong = overview
        .rows
        .iter()
        .flatten()
        .filter(|cell| cell.tone == Tone::Strong);
    assert_eq!(strong.count(), 0, "one repeat wins nothing");
}
