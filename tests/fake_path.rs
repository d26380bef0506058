//! From plan to report with no root, no device and no clock: the fake file system.

use std::fs;

use crate::harness::Desk;

const COMPARE: [&str; 9] = [
    "compare",
    "fake",
    "--study",
    "./small.toml",
    "--seed",
    "7",
    "--out",
    "out",
    "--json",
];

#[test]
fn a_comparison_ends_with_a_pure_json_document_and_a_report() {
    let desk = Desk::new();
    let ended = desk.run(&COMPARE);
    ended.expect_code(0);
    let run: serde_json::Value = serde_json::from_str(&ended.out).expect("pure JSON");
    assert_eq!(run["trials"].as_array().map(Vec::len), Some(2));
    assert_eq!(run["plan"]["seed"], 7);
    let reports: Vec<_> = fs::read_dir(desk.path("out"))
        .expect("out")
        .flatten()
        .collect();
    assert_eq!(reports.len(), 1);
    let page = fs::read_to_string(reports[0].path()).expect("the report");
    assert!(page.contains("</html>") && page.contains("random-read"));
}

#[test]
fn the_table_and_the_path_of_the_report_are_printed() {
    let desk = Desk::new();
    let ended = desk.run(&COMPARE[..8]);
    ended.expect_code(0);
    assert!(ended.out.contains("Strided read"), "{}", ended.out);
    let last = ended.out.lines().last().expect("lines");
    let path = last
        .strip_prefix("report: ")
        .expect("the path is the last line");
    assert!(desk.path(path).exists(), "{path}");
}

#[test]
fn the_same_seed_gives_the_same_figures_and_another_seed_others() {
    let desk = Desk::new();
    let figures = |seed: &str| {
        let mut arguments = COMPARE;
        arguments[5] = seed;
        let ended = desk.run(&arguments);
        ended.expect_code(0);
        let run: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
        run["trials"]
            .as_array()
            .expect("trials")
            .iter()
            .map(|t| t["phases"].clone())
            .collect()
    };
    let first: Vec<_> = figures("7");
    assert_eq!(first, figures("7"));
    assert_ne!(first, figures("8"));
}

#[test]
fn the_same_database_gives_the_same_report() {
    let desk = Desk::new();
    desk.run(&COMPARE).expect_code(0);
    for folder in ["a", "b"] {
        desk.run(&["report", "last", "--out", folder])
            .expect_code(0);
    }
    let read = |folder: &str| {
        let mut entries = fs::read_dir(desk.path(folder))
            .expect("a directory")
            .flatten();
        fs::read(entries.next().expect("a report").path()).expect("the report")
    };
    assert_eq!(read("a"), read("b"));
}

#[test]
fn a_dry_run_prints_the_plan_and_leaves_no_trace() {
    let desk = Desk::new();
    let text = desk.run(&["compare", "fake", "--study", "./small.toml", "--dry-run"]);
    text.expect_code(0);
    assert!(text.out.contains("trials   2"), "{}", text.out);
    let json = desk.run(&[
        "compare",
        "fake",
        "--study",
        "./small.toml",
        "--dry-run",
        "--json",
    ]);
    let plan: serde_json::Value = serde_json::from_str(&json.out).expect("pure JSON");
    assert_eq!(plan["engine"], "null");
    assert!(!desk.store().exists());
}

#[test]
fn a_plan_says_first_in_what_it_differs_from_the_original() {
    let desk = Desk::new();
    let small = fs::read_to_string(desk.path("small.toml")).expect("the study");
    // No machine has a tenth of its memory's size in this study, and so little data.
    let original = "[original]\ndata = '1TiB'\nmemory = '1GiB'\nsource = 'p. 1'\n";
    let first_phase = small.find("[[phase]]").expect("a phase");
    let (head, phases) = small.split_at(first_phase);
    let text = format!("{head}{original}{phases}");
    fs::write(desk.path("repeated.toml"), text).expect("written");
    let dry = ["compare", "fake", "--study", "./repeated.toml", "--dry-run"];
    let planned = desk.run(&dry);
    planned.expect_code(0);
    let first = planned.out.lines().next().expect("a line");
    assert!(first.starts_with("differs  data is 0.0"), "{first}");
    assert!(
        first.ends_with("in the original 1024 times (1 TiB with 1 GiB)"),
        "{first}"
    );
    let ran = desk.run(&dry[..4]);
    ran.expect_code(0);
    let note = "differs from the original: data is 0.0";
    assert!(ran.err.contains(note), "{}", ran.err);
    let caveat = "Not at the original's ratio of data to memory: data is 0.0";
    let shown: String = desk.run(&["show", "last"]).out.replace('\n', " ");
    assert!(shown.contains(caveat), "{shown}");
}

#[test]
fn runs_are_listed_shown_and_exported() {
    let desk = Desk::new();
    desk.run(&COMPARE).expect_code(0);
    let listed = desk.run(&["list", "--json"]);
    let runs: serde_json::Value = serde_json::from_str(&listed.out).expect("pure JSON");
    let name = runs[0]["run"].as_str().expect("a name").to_owned();
    assert!(desk.run(&["list"]).out.contains(&name));
    let shown = desk.run(&["show", &name[..17], "--all"]);
    shown.expect_code(0);
    assert!(shown.out.contains("Random write"));
    let csv = desk.run(&["export", &name, "--format", "csv"]);
    csv.expect_code(0);
    let width = csv.out.lines().next().expect("a head").split(',').count();
    assert!(width > 8 && csv.out.lines().count() > 100);
    let json = desk.run(&["export", "--format", "json", "--output", "run.json"]);
    json.expect_code(0);
    assert!(json.out.is_empty());
    let exported = fs::read_to_string(desk.path("run.json")).expect("the file");
    let exported: serde_json::Value = serde_json::from_str(&exported).expect("pure JSON");
    assert_eq!(exported, desk.last_run());
}

#[test]
fn resuming_does_only_what_is_missing() {
    let desk = Desk::new();
    desk.run(&COMPARE).expect_code(0);
    let before = desk.last_run();
    let mut more = COMPARE[..8].to_vec();
    more.extend(["--resume", "--repeats", "3"]);
    desk.run(&more).expect_code(0);
    let after = desk.last_run();
    assert_eq!(before["run"], after["run"]);
    assert_eq!(after["trials"].as_array().map(Vec::len), Some(3));
    assert_eq!(before["trials"][0], after["trials"][0]);
}

#[test]
fn resuming_with_another_seed_is_refused_and_changes_nothing() {
    let desk = Desk::new();
    desk.run(&COMPARE).expect_code(0);
    let before = desk.last_run();
    let mut other = COMPARE[..4].to_vec();
    other.extend(["--resume", "--seed", "8", "--repeats", "5"]);
    desk.run(&other)
        .expect_code(2)
        .expect_error("has the seed 7", "--seed");
    assert_eq!(before, desk.last_run());
}

#[test]
fn more_patience_goes_on_with_the_same_run() {
    let desk = Desk::new();
    desk.run(&COMPARE).expect_code(0);
    let mut patient = COMPARE[..4].to_vec();
    patient.extend(["--out", "out", "--resume", "--trial-limit", "500"]);
    desk.run(&patient).expect_code(0);
    let runs: serde_json::Value =
        serde_json::from_str(&desk.run(&["list", "--json"]).out).expect("pure JSON");
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
}

/// A message that could not be written used to end the run with a panic.
#[test]
fn a_run_that_nobody_listens_to_is_made_and_stored_all_the_same() {
    let desk = Desk::new();
    desk.run_unheard(&COMPARE).expect_code(0);
    let run = desk.last_run();
    assert_eq!(run["trials"].as_array().map(Vec::len), Some(2));
    desk.run_unheard(&["compare", "brtfs"]).expect_code(2);
}

#[test]
fn a_run_named_twice_is_reported_once() {
    let desk = Desk::new();
    desk.run(&COMPARE).expect_code(0);
    let ended = desk.run(&["report", "last", "last", "--out", "twice"]);
    ended.expect_code(0);
    assert!(!ended.out.contains('+'), "{}", ended.out);
}

#[test]
fn one_run_is_listed_as_one() {
    let desk = Desk::new();
    desk.run(&COMPARE).expect_code(0);
    let listed = desk.run(&["list"]);
    assert!(listed.out.contains("1 run, newest"), "{}", listed.out);
}

#[test]
fn a_trial_is_a_process_with_json_in_and_json_lines_out() {
    let desk = Desk::new();
    let spec = r#"{"format":1,"trial":{"cell":0,"repeat":0},"subject":"fake",
        "device":{"device":"fake"},"size_bytes":1048576,"cold":"remount","engine":"null",
        "phases":[],"seed":1}"#;
    let ended = desk.run_with_input(&["trial"], spec);
    ended.expect_code(0);
    let events: Vec<serde_json::Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(
        events.first().map(|event| &event["event"]),
        Some(&"hello".into())
    );
    assert_eq!(
        events.last().map(|event| &event["event"]),
        Some(&"end".into())
    );
    desk.run_with_input(&["trial"], "{")
        .expect_code(2)
        .expect_error("specification", "");
}
