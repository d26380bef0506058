//! Sweeps: one part of the page for all points, without loss.

use fslab_compare::Analysis;
use fslab_model::{CachePolicy, FailureKind, METRICS, PhaseOutcome, RunRecord};
use fslab_report::{Cells, Table, Tone, csv_long, html, sentences, tables};

use crate::fixture;
use crate::sweep_story::{MEMORY, SUBJECTS, swept};

fn throughput(run: &RunRecord, cell: usize, repeat: u32, point: &str) -> f64 {
    let trial = run
        .trials
        .iter()
        .find(|trial| trial.trial.cell.0 as usize == cell && trial.trial.repeat == repeat);
    let mut phases = trial.expect("a trial").phases.iter();
    let phase = phases.find(|phase| phase.name == point).expect("a point");
    phase.bytes.expect("bytes") as f64 * 1e9 / phase.elapsed_ns.expect("a time") as f64
}

fn column(table: &Table, title: &str) -> usize {
    let found = table
        .columns
        .iter()
        .position(|column| column.title == title);
    found.expect("a column")
}

#[test]
fn the_points_of_a_phase_are_one_phase_with_the_longest_dimension_first() {
    let run = swept(&SUBJECTS, (5, 3), 2);
    let analysis = Analysis::of(&run);
    let names: Vec<&str> = analysis.phases.iter().map(|phase| phase.name).collect();
    assert_eq!(names[..3], ["write", "rewrite", "read"]);
    assert_eq!(names.len(), 7);
    let sweep = analysis.phases[0].sweep.as_ref().expect("a sweep");
    let dimensions: Vec<(&str, usize)> = sweep
        .dimensions
        .iter()
        .map(|d| (d.name, d.values.len()))
        .collect();
    assert_eq!(dimensions, [("file_size", 5), ("record", 3)]);
    assert_eq!(sweep.points.len(), 15);
    assert_eq!(analysis.runs().count(), 7 * 15);
    assert_eq!(tables::overview(&analysis).rows.len(), 7);
}

#[test]
fn a_sweep_is_known_by_the_geometric_mean_over_the_points_that_all_subjects_have() {
    let mut run = swept(&["ext2", "ext3"], (2, 2), 1);
    let lost = "write 128 KiB/16 KiB";
    for phase in &mut fixture::trial_mut(&mut run, 1, 0).phases {
        if phase.name == lost {
            phase.outcome = PhaseOutcome::Skipped {
                reason: "no room".into(),
            };
        }
    }
    let analysis = Analysis::of(&run);
    let write = &analysis.phases[0];
    assert_eq!(write.sweep.as_ref().expect("a sweep").shared, 3);
    let shared = [
        "write 64 KiB/8 KiB",
        "write 64 KiB/16 KiB",
        "write 128 KiB/8 KiB",
    ];
    let expected = shared
        .map(|point| throughput(&run, 0, 0, point))
        .iter()
        .product::<f64>()
        .cbrt();
    let found = write.comparison.as_ref().expect("compared").entries[0]
        .mean()
        .expect("a value");
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    let overview = tables::overview(&analysis);
    assert_eq!(overview.rows[0][0].detail.as_deref(), Some("3 of 4 points"));
    let stated: Vec<String> = sentences(&analysis)
        .iter()
        .map(ToString::to_string)
        .collect();
    let stated = stated.join("\n");
    assert!(
        stated.contains("write (3 of 4), rewrite (4 of 4)"),
        "{stated}"
    );
}

#[test]
fn a_subject_with_few_points_does_not_decide_by_which_points_the_others_are_judged() {
    let mut run = swept(&["ext2", "ext3", "fat32"], (4, 2), 1);
    fixture::fail_trial(&mut run, 2, 0);
    let analysis = Analysis::of(&run);
    let write = &analysis.phases[0];
    assert_eq!(write.sweep.as_ref().expect("a sweep").shared, 8);
    assert_eq!(
        write.cells[2].absence().as_deref(),
        Some("few points: 1 of 8 were run to the end")
    );
    let overview = tables::overview(&analysis);
    assert_eq!(overview.rows[0][3].text, "few points");
    assert_eq!(overview.rows[0][1].tone, Tone::Plain);
}

#[test]
fn every_point_is_in_the_table_and_every_figure_in_the_export() {
    let run = swept(&SUBJECTS, (5, 3), 3);
    let analysis = Analysis::of(&run);
    let table = tables::sweep(&analysis.phases[0], analysis.subjects()).expect("a sweep");
    assert_eq!(table.rows.len(), 15);
    assert!(
        table
            .rows
            .iter()
            .all(|row| row.len() == table.columns.len())
    );
    let at = |title: &str| table.rows[14][column(&table, title)].text.clone();
    assert_eq!(
        (at("file size"), at("record")),
        ("1 MiB".into(), "32 KiB".into())
    );
    assert_eq!(at("Fastest"), "ext2");
    assert!(at("ext2").ends_with("MB/s"));
    let rows = csv_long(&run, Cells::Guarded)
        .expect("a record")
        .lines()
        .count()
        - 1;
    assert_eq!(rows, 18 * (7 * 15 * (METRICS.len() - 4) + 4));
}

#[test]
fn points_that_failed_alike_are_joined_and_counted() {
    let mut run = swept(&["ext2", "ext3"], (4, 3), 1);
    let failure = fslab_model::Failure::new(FailureKind::NoSpace, "the disk is full");
    for phase in &mut fixture::trial_mut(&mut run, 1, 0).phases {
        if phase.study_phase() == "reread" {
            phase.outcome = PhaseOutcome::Failed {
                failure: failure.clone(),
            };
        }
    }
    let table = tables::failures(&Analysis::of(&run)).expect("failures");
    assert_eq!(table.rows.len(), 1);
    assert_eq!(
        table.rows[0][2].text,
        "reread at 12 points, from reread 64 KiB/8 KiB to reread 512 KiB/32 KiB"
    );
}

#[test]
fn what_a_dead_trial_did_not_come_to_is_counted_over_all_phases() {
    let mut run = swept(&["ext2", "ext3"], (4, 3), 1);
    fixture::fail_trial(&mut run, 1, 0);
    let table = tables::failures(&Analysis::of(&run)).expect("failures");
    let places: Vec<&str> = table.rows.iter().map(|row| row[2].text.as_str()).collect();
    assert_eq!(
        places,
        [
            "79 points of 7 phases, from write 64 KiB/16 KiB to strided-read 512 KiB/32 KiB",
            "random-read 64 KiB/8 KiB",
        ]
    );
}

#[test]
fn a_report_of_a_full_sweep_stays_small_and_draws_each_record_size_once() {
    let run = swept(&SUBJECTS, (16, 15), 1);
    let records: usize = run.trials.iter().map(|trial| trial.phases.len()).sum();
    assert_eq!(records, 6 * 174 * 7);
    let page = html(&[run]).expect("a report");
    assert!(page.len() < 5_000_000, "{}", page.len());
    let part = page
        .split("id=\"r1-phase-write\"")
        .nth(1)
        .expect("the phase");
    let part = part
        .split("id=\"r1-phase-rewrite\"")
        .next()
        .expect("its end");
    assert_eq!(part.matches("type=\"radio\"").count(), 15);
    assert_eq!(part.matches(" checked").count(), 1);
    assert_eq!(
        part.matches("Every point of write").count(),
        3,
        "caption, its link and region"
    );
    let points = part.split("id=\"r1-phase-write.points\"").nth(1);
    let points = points.and_then(|rest| rest.split("</table>").next());
    let rows = points.expect("the table").matches("<tr>").count();
    assert_eq!(rows, 174 + 1);
}

#[test]
fn the_axis_of_file_sizes_bears_the_memory_of_the_guest() {
    let page = html(&[swept(&["ext2", "ext3"], (16, 1), 1)]).expect("a report");
    let part = page
        .split("id=\"r1-phase-read\"")
        .nth(1)
        .expect("the phase");
    assert!(part.contains(">memory</text>"));
    let page = html(&[swept(&["ext2", "ext3"], (8, 1), 1)]).expect("a report");
    assert!(
        !page.contains(">memory</text>"),
        "no file is as large as {MEMORY}"
    );
}

#[test]
fn a_phase_that_is_not_swept_keeps_its_cache_and_its_own_part() {
    let run = fixture::usual();
    let analysis = Analysis::of(&run);
    assert!(analysis.phases.iter().all(|phase| phase.sweep.is_none()));
    assert_eq!(analysis.runs().count(), analysis.phases.len());
    assert_eq!(analysis.phases[2].cache, CachePolicy::Cold);
    assert_eq!(
        tables::sweep(&analysis.phases[2], analysis.subjects()),
        None
    );
}

#[test]
fn a_sweep_that_took_no_time_at_any_point_has_no_rate_and_no_reason_is_made_up() {
    let mut run = swept(&["ext2", "ext3"], (3, 2), 1);
    for phase in run.trials.iter_mut().flat_map(|trial| &mut trial.phases) {
        if phase.study_phase() == "reread" {
            phase.elapsed_ns = Some(0);
        }
    }
    let analysis = Analysis::of(&run);
    assert_eq!(analysis.phases[3].cells[0].absence(), None);
    assert_eq!(tables::overview(&analysis).rows[3][1].text, "–");
    let table = tables::sweep(&analysis.phases[3], analysis.subjects()).expect("a sweep");
    assert_eq!(table.rows[0][2].text, "no rate");
}

#[test]
fn in_the_map_of_the_fastest_a_square_stays_where_its_subject_is_hidden_and_words_say_why() {
    let run = swept(&["ext2", "ext3"], (3, 2), 1);
    let page = html(&[run]).expect("a page");
    let map = page.split("id=\"r1-phase-write.winners\"").nth(1);
    let map = map.and_then(|rest| rest.split("</figure>").next());
    let map = map.expect("a map of who is fastest where");
    assert!(
        map.contains("an empty square: its fastest is not shown"),
        "{map}"
    );
    let (_, hole) = map.split_once("class=\"hole\" d=\"").expect("squares");
    let (hole, _) = hole.split_once('"').expect("an end");
    assert_eq!(hole.matches('M').count(), 6, "{hole}");
    // They belong to no subject, so they stay.
    assert!(
        !map.rsplit("</g><path")
            .next()
            .expect("an end")
            .contains("class=\"of")
    );
}
