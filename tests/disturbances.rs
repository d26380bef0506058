//! What else takes place on the machine while a phase is measured is in its record.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::harness::Desk;

/// Appends that each wait for the device: seconds of them.
const STUDY: &str = r#"
format = 1
name = "long"
title = "One long phase"
description = "Durable appends."
size = "64MiB"
repeats = 1
trial_limit_s = 300

[[phase]]
name = "append"
workload = "append"
file = "log"
file_size = "32MiB"
record = "4KiB"
operations = 4000
"#;

fn signal(process: u32, name: &str) {
    let status = Command::new("kill")
        .args([name, &process.to_string()])
        .status();
    assert!(status.expect("kill starts").success());
}

/// A process that any thread of `process` has started.
fn child_of(process: u32) -> Option<u32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    threads.flatten().find_map(|thread| {
        let children = std::fs::read_to_string(thread.path().join("children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    })
}

/// Whether a file of that name is anywhere below `folder`, and not empty.
fn is_being_written(folder: &Path, name: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let path = entry.path();
        match path.is_dir() {
            true => is_being_written(&path, name),
            false => entry.file_name() == name && entry.metadata().is_ok_and(|it| it.len() > 0),
        }
    })
}

/// A trial that was stopped for three seconds had a figure as good as any other: nothing in the
/// record said so.
#[test]
fn a_trial_that_is_stopped_within_a_phase_says_so() {
    let desk = Desk::new();
    std::fs::write(desk.path("long.toml"), STUDY).expect("the study");
    std::fs::create_dir(desk.path("here")).expect("a directory");
    let folder = desk.path("here");
    let mut child = desk.start(&[
        "compare",
        "--study",
        "./long.toml",
        "--venue",
        "dir",
        "--dir",
        folder.to_str().expect("text"),
    ]);
    let began = Instant::now();
    while !is_being_written(&folder, "log") {
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "it never begins"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let trial = child_of(child.id()).expect("the trial's process");
    signal(trial, "-STOP");
    std::thread::sleep(Duration::from_millis(1500));
    signal(trial, "-CONT");
    let status = child.wait().expect("ends");
    assert_eq!(status.code(), Some(0));
    let run = desk.last_run();
    let phase = &run["trials"][0]["phases"][0];
    let disturbances = phase["disturbances"].as_array().expect("disturbances");
    let stop = disturbances.iter().find(|it| it["kind"] == "stopped");
    let stop = stop.unwrap_or_else(|| panic!("no stop: {phase:#}"));
    let amount = stop["amount"].as_u64().expect("nanoseconds");
    assert!(
        (1_200_000_000..60_000_000_000).contains(&amount),
        "{stop:#}"
    );
    let shown = desk.run(&["show"]);
    shown.expect_code(0);
    assert!(shown.out.contains('†'), "{}", shown.out);
    assert!(
        shown.out.contains("What disturbed the measurements"),
        "{}",
        shown.out
    );
    // The gate counts it, on either side.
    let gate = desk.run(&["gate", "last", "last", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&gate.out).expect("pure JSON");
    assert_eq!(document["disturbed"], 2, "{document:#}");
    assert_eq!(
        document["checks"][0]["base"]["disturbed"], 1,
        "{document:#}"
    );
}
