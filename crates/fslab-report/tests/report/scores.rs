//! The score of a study.

use fslab_compare::Analysis;
use fslab_model::{RunRecord, ScorePart, ScorePhase, ScoreSpec, ScoreUnit};
use fslab_report::{json, sentences, tables};

use crate::fixture::{fail_trial, run_of, trial_mut};

/// The parts of a published result of IO500: its score is 3.457.
const BANDWIDTH: f64 = 0.355_962;
const METADATA: f64 = 33.577_116;

fn part(name: &str, unit: ScoreUnit, phases: Vec<ScorePhase>) -> ScorePart {
    ScorePart {
        name: name.to_owned(),
        unit,
        phases,
    }
}

/// A run whose rates differ from those of its parts, each by a factor and its inverse.
fn run() -> RunRecord {
    let mut run = run_of(&["ext4", "xfs"], 2);
    let one = |name: &str| ScorePhase::One(name.to_owned());
    let joined = ScorePhase::Joined(vec!["stat".to_owned(), "append".to_owned()]);
    run.header.plan.score = Some(ScoreSpec {
        name: "IO500 score".to_owned(),
        parts: vec![
            part(
                "Bandwidth",
                ScoreUnit::GibibytesPerSecond,
                vec![one("write"), one("read")],
            ),
            part(
                "Metadata",
                ScoreUnit::ThousandOperationsPerSecond,
                vec![one("create"), joined],
            ),
        ],
        timed: vec!["write".to_owned()],
        at_least_s: 0,
    });
    for cell in 0..2 {
        for repeat in 0..2 {
            for phase in &mut trial_mut(&mut run, cell, repeat).phases {
                let (operations, bytes) = (10_000, 1 << 30);
                let seconds = match phase.name.as_str() {
                    "write" => 1.0 / (BANDWIDTH * 2.0),
                    "read" => 1.0 / (BANDWIDTH / 2.0),
                    "create" => 10.0 / (METADATA * 3.0),
                    // Together 20,000 operations at a third of the rate.
                    "stat" => 20.0 / (METADATA / 3.0) * 0.9,
                    "append" => 20.0 / (METADATA / 3.0) * 0.1,
                    _ => continue,
                };
                phase.operations = Some(operations);
                phase.bytes = Some(bytes);
                phase.elapsed_ns = Some((seconds * 1e9) as u64);
            }
        }
    }
    run
}

#[test]
fn the_score_of_published_parts_is_the_published_one() {
    let run = run();
    let analysis = Analysis::of(&run);
    let table = tables::score(&analysis).expect("a score");
    let row: Vec<&str> = table.rows[1]
        .iter()
        .map(|cell| cell.text.as_str())
        .collect();
    assert_eq!(row[1..5], ["2", "0.3560", "33.58", "3.457"]);
    let summary = sentences(&analysis);
    let said = summary.iter().find(|it| it.text.starts_with("IO500 score"));
    let text = &said.expect("a sentence").text;
    assert_eq!(text, "IO500 score: 3.457 for ext4 and 3.457 for XFS.");
    let json: serde_json::Value = serde_json::from_str(&json(&run).expect("JSON")).expect("JSON");
    let values = json["scores"][1]["values"]
        .as_array()
        .expect("of each repeat");
    assert_eq!(values.len(), 2);
    assert!((values[0].as_f64().expect("a number") - 3.457).abs() < 1e-3);
    let bandwidth = json["scores"][0]["parts"]["Bandwidth"].as_f64();
    assert!((bandwidth.expect("a number") - BANDWIDTH).abs() < 1e-6);
}

#[test]
fn a_score_of_short_phases_or_of_a_part_of_the_study_is_marked() {
    let mut run = run();
    run.header.plan.score.as_mut().expect("a score").at_least_s = 300;
    let analysis = Analysis::of(&run);
    let notes = tables::score(&analysis).expect("a score").notes;
    let last = notes.last().expect("a note");
    assert_eq!(
        last,
        "Not comparable with published scores: write took 1.40 s, and 300 s are required."
    );
    run.header.plan.score.as_mut().expect("a score").at_least_s = 1;
    run.header.plan.scale = "1/60".parse().expect("a scale");
    let notes = tables::score(&Analysis::of(&run)).expect("a score").notes;
    assert!(
        notes.last().expect("a note").ends_with("a scale of 1/60."),
        "{notes:?}"
    );
}

#[test]
fn a_subject_without_one_of_the_phases_has_no_score() {
    let mut run = run();
    fail_trial(&mut run, 1, 0);
    fail_trial(&mut run, 1, 1);
    let analysis = Analysis::of(&run);
    let table = tables::score(&analysis).expect("that of the other");
    assert_eq!(table.rows[1][4].text, "–");
    assert_eq!(table.rows[0][4].text, "3.457");
}
