//! CSV and JSON for other programs.

use std::collections::HashMap;

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
        .filter(|line| line.contains(",ext4,") && line.contains(",0,0,"))
        .filter(|line| line.contains(",write,write,keep,"))
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
    for row in rows(&text) {
        let is_empty = row["value"].is_empty() || row["phase"].is_empty();
        assert!(row["outcome"] == "done" || is_empty, "{row:?}");
    }
}

/// The rows of a CSV by the names of their columns.
fn rows(text: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().map(|row| row.expect("a row"));
    rows.collect()
}

/// The kernel of a guest was the host's, and the headline was spelt as in a study's file.
#[test]
fn a_row_has_the_conditions_of_its_trial_and_the_direction_of_its_metric() {
    let mut run = usual();
    run.header.machine.kernel = Some("6.1.0".into());
    run.header.plan.scale = "1/20".parse().expect("a scale");
    run.header.plan.venue = serde_json::from_value(serde_json::json!({
        "venue": "guest", "folder": "/images", "kernel": "6.12.95@0123", "lab": "4567",
        "memory_bytes": 1 << 30,
    }))
    .expect("a venue");
    let text = csv_long(&run, Cells::Guarded).expect("a record");
    for row in rows(&text) {
        let of = |names: [&str; 6]| names.map(|name| row[name].clone());
        assert_eq!(
            of([
                "kernel",
                "host_kernel",
                "lab",
                "disk",
                "memory_bytes",
                "scale"
            ]),
            [
                "6.12.95@0123",
                "6.1.0",
                "4567",
                "/images",
                "1073741824",
                "1/20"
            ]
        );
        let planned = &run.header.plan.subjects[row["cell"].parse::<usize>().expect("a number")];
        let words = planned.mkfs.as_ref().expect("a command");
        assert_eq!(row["mkfs_command"], words.join(" "));
        let metric = METRICS.iter().find(|metric| metric.name == row["metric"]);
        let metric = metric.expect("a metric");
        assert_eq!(row["better"], metric.better.as_str());
        let headline = METRICS.iter().find(|metric| metric.name == row["headline"]);
        assert!(headline.is_some() || row["phase"].is_empty(), "{row:?}");
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
