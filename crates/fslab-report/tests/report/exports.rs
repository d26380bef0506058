//! CSV and JSON for other programs.

use fslab_model::{METRICS, RunRecord};
use fslab_report::{Cells, csv_long, json};

use crate::fixture::{run_of, usual};

#[test]
fn the_json_reads_back_as_the_same_record() {
    let run = usual();
    let text = json(&run).expect("a record");
    assert!(text.ends_with("}\n"));
    let back: RunRecord = serde_json::from_str(&text).expect("our own JSON");
    assert_eq!(back, run);
}

#[test]
fn the_long_csv_has_a_row_for_every_trial_phase_and_metric() {
    let run = usual();
    let text = csv_long(&run, Cells::Guarded).expect("a record");
    let rows = text.lines().count() - 1;
    let phase_metrics = METRICS.len() - 4;
    assert_eq!(rows, run.trials.len() * (9 * phase_metrics + 4));
    let of_first: Vec<&str> = text
        .lines()
        .filter(|line| line.contains(",ext4,0,0,") && line.contains(",write,write,keep,"))
        .map(|line| line.split_once(",done,").expect("done").1)
        .take(6)
        .collect();
    insta::assert_snapshot!("long_csv_of_one_phase", of_first.join("\n"));
}

#[test]
fn what_was_not_measured_has_an_empty_value_and_never_a_zero() {
    let run = usual();
    let text = csv_long(&run, Cells::Guarded).expect("a record");
    let lost: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("trial-failed") && line.contains(",append,"))
        .collect();
    assert_eq!(lost.len(), METRICS.len() - 4);
    assert!(lost.iter().any(|line| line.contains(",throughput,,B/s,")));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    for row in reader.records().map(|row| row.expect("a row")) {
        let done = &row[14] == "done";
        assert!(done || row[19].is_empty() || row[15].is_empty(), "{row:?}");
    }
}

#[test]
fn an_empty_run_exports_its_header() {
    let mut run = run_of(&["ext4"], 3);
    run.trials.clear();
    assert_eq!(
        csv_long(&run, Cells::Guarded)
            .expect("a record")
            .lines()
            .count(),
        1
    );
    assert!(json(&run).is_ok());
}
