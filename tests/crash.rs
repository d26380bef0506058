//! `fslab crash judge`: what a power loss leaves, and planted faults that it must find.
//!
//! Where no guest kernel is built, these tests say that they did not run, and fail where they must.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::Desk;

#[path = "../crates/fslab-crash/tests/shapes/log_shapes.rs"]
mod shapes;

/// An append with fsync and a replaced file, on small file systems.
const STUDY: &str = r#"
format = 1
name = "crash-test"
title = "Synced operations"
description = "For the test of crash states."
subjects = ["ext4"]
size = "320MiB"
memory = "128MiB"
repeats = 1
trial_limit_s = 120

[[phase]]
name = "append"
workload = "script"
directory = "append"
steps = [
    "create log", "append log 4096", "start",
    "append log 4096", "fsync log", "append log 4096", "fdatasync log",
]

[[phase]]
name = "replace"
workload = "script"
directory = "replace"
steps = [
    "create conf", "append conf 4096", "start",
    "create new", "append new 8192", "fsync new", "rename new conf", "fsync .",
]
"#;

/// Records a trial of each subject; gives their logs in order.
fn record(desk: &Desk, subjects: &[&str]) -> Vec<PathBuf> {
    record_study(desk, STUDY, subjects)
}

fn record_study(desk: &Desk, study: &str, subjects: &[&str]) -> Vec<PathBuf> {
    std::fs::write(desk.path("crash.toml"), study).expect("written");
    let sim = [
        "--study",
        "crash.toml",
        "--venue",
        "sim",
        "--images",
        "images",
    ];
    let out = [
        "--repeats",
        "1",
        "--out",
        "out",
        "--record-disk",
        "out/logs",
    ];
    let ended = desk.run(&[&["compare"], subjects, &sim, &out].concat());
    ended.expect_code(0);
    let logs = std::fs::read_dir(desk.path("out/logs")).expect("the directory of logs");
    let mut logs: Vec<PathBuf> = logs.map(|it| it.expect("an entry").path()).collect();
    logs.sort();
    assert_eq!(logs.len(), subjects.len(), "{logs:?}");
    logs
}

/// The sums of `fslab crash judge` with these words, and the states in which something is wrong.
fn judge(desk: &Desk, log: &std::path::Path, words: &[&str]) -> Value {
    let log = log.to_str().expect("a path");
    let all = ["crash", "judge", log, "--json", "--images", "images"];
    let ended = desk.run(&[&all[..], words].concat());
    ended.expect_code(0);
    desk.expect_nothing_left();
    let mut results: Vec<Value> = serde_json::from_str(&ended.out).expect("JSON");
    results.remove(0)
}

fn lost_states(result: &Value) -> u64 {
    let broken = result["survival"]["broken"].as_object().expect("faults");
    let kinds = ["lost", "truncated", "zeroed", "old"];
    let of_kind = |kind: &&str| {
        broken
            .get(*kind)
            .map(|it| it["states"].as_u64().expect("a number"))
    };
    kinds.iter().filter_map(of_kind).sum()
}

/// Flushes and FUA writes that `fslab crash requests` lists within the fsync of the phase `append`.
fn flushes_within_fsync(desk: &Desk, log: &std::path::Path) -> usize {
    let log = log.to_str().expect("a path");
    let listed = desk.run(&["crash", "requests", log, "--phase", "append", "--json"]);
    listed.expect_code(0);
    let document: Value = serde_json::from_str(&listed.out).expect("JSON");
    let events = document["events"].as_array().expect("events");
    let border = |kind: &str| {
        let found = events
            .iter()
            .position(|it| it["event"] == kind && it["operation"] == "fsync log");
        found.expect("the fsync of the script")
    };
    let within = &events[border("begin")..border("end")];
    assert!(within.iter().any(|it| it["event"] == "write"), "{within:?}");
    let is_durable = |it: &&Value| it["event"] == "flush" || it["fua"] == true;
    within.iter().filter(is_durable).count()
}

#[test]
fn a_file_system_that_never_flushes_loses_synced_data_and_others_do_so_only_without_flushes() {
    let Some(desk) = Desk::new().with_lab("crash states") else {
        return;
    };
    let logs = record(&desk, &["ext4", "xfs", "jfs"]);
    let few = ["--max-states", "60"];
    for (log, name) in logs.iter().zip(["ext4", "xfs"]) {
        let found = judge(&desk, log, &few);
        assert_eq!(found["subject"], name);
        assert!(found["survival"]["states"].as_u64() > Some(10), "{found}");
        assert_eq!(found["survival"]["broken_states"], 0, "{found}");
        assert_eq!(lost_states(&found), 0, "{found}");
    }
    assert!(flushes_within_fsync(&desk, &logs[0]) > 0);
    assert_eq!(flushes_within_fsync(&desk, &logs[2]), 0);
    let never_flushed = judge(&desk, &logs[2], &few);
    assert!(lost_states(&never_flushed) > 0, "{never_flushed}");
    // The planted fault.
    let planted = judge(
        &desk,
        &logs[0],
        &["--max-states", "60", "--drop-flush", "all"],
    );
    assert!(lost_states(&planted) > 0, "{planted}");
    // Each failing state is one line, that says the same when it is replayed.
    let failing = planted["failing"].as_array().expect("states");
    let lost = failing
        .iter()
        .find(|it| !it["breaks"].as_array().expect("promises").is_empty());
    let state = lost.expect("a broken promise")["state"]
        .as_str()
        .expect("text")
        .to_owned();
    let log = logs[0].to_str().expect("a path");
    let replay = [
        "crash", "replay", log, &state, "--judge", "--images", "images",
    ];
    let replayed = desk.run(&replay);
    replayed.expect_code(0);
    assert!(replayed.out.contains("wrong: "), "{}", replayed.out);
    assert!(replayed.out.contains("append log 4096"), "{}", replayed.out);
    let minimise = ["crash", "minimise", log, &state, "--images", "images"];
    let smaller = desk.run(&minimise);
    smaller.expect_code(0);
    assert!(
        smaller.out.starts_with("fslab crash replay "),
        "{}",
        smaller.out
    );
    desk.expect_nothing_left();
}

/// Two figures besides the operations; the states are those of the operations.
const WITH_FIGURES: &str = r#"
[[phase]]
name = "write"
workload = "write"
file_size = "1MiB"

[[phase]]
name = "commits"
workload = "sqlite"
file = "commits.db"
transactions = 6
rows = 2
rows_before = 4
insert_percent = 100
update_percent = 0
list_commits = true
synchronous = "extra"
"#;

#[test]
fn survival_is_judged_beside_figures_that_stay_the_same() {
    let Some(desk) = Desk::new().with_lab("survival") else {
        return;
    };
    let study = format!("{STUDY}{WITH_FIGURES}");
    std::fs::write(desk.path("both.toml"), study).expect("written");
    let run = |words: &[&str]| {
        let all = [
            "compare",
            "ext4",
            "jfs",
            "tmpfs",
            "--study",
            "both.toml",
            "--venue",
            "sim",
            "--images",
            "images",
            "--repeats",
            "1",
            "--out",
            "out",
        ];
        let ended = desk.run(&[&all[..], words].concat());
        ended.expect_code(0);
        desk.expect_nothing_left();
        (ended.out, desk.last_run())
    };
    let (plain, _) = run(&[]);
    let (judged, record) = run(&["--survival=60"]);
    let fingerprint = |text: &str| {
        let at = text.find("Fingerprint ").expect("a fingerprint");
        text[at..].chars().take(28).collect::<String>()
    };
    assert_eq!(fingerprint(&plain), fingerprint(&judged));
    assert!(!plain.contains("What a power loss leaves"), "{plain}");
    assert!(judged.contains("What a power loss leaves"), "{judged}");
    let trials = record["trials"].as_array().expect("trials");
    let of = |name: &str| {
        let mut found = trials.iter().filter(|it| it["subject"] == name);
        &found.next().expect("a trial")["survival"]
    };
    // A superblock that is torn between its sectors does not mount, and that loses nothing.
    let broken = &of("ext4")["survival"]["broken"];
    assert_eq!(broken, &serde_json::json!({}), "{}", of("ext4"));
    assert!(of("ext4")["survival"]["states"].as_u64() > Some(30));
    let jfs = &of("jfs")["survival"];
    assert!(jfs["broken_states"].as_u64() > Some(0), "{jfs}");
    let example = &jfs["examples"][0];
    assert!(example["what"].as_str() > Some(""), "{example}");
    assert_eq!(of("tmpfs")["outcome"], "failed", "{}", of("tmpfs"));
    assert!(judged.contains("Breaks a promise"), "{judged}");
    // A run that was begun without it has trials without it.
    let all = [
        "compare",
        "ext4",
        "--study",
        "both.toml",
        "--venue",
        "sim",
        "--images",
        "images",
    ];
    let out = ["--repeats", "1", "--out", "out"];
    desk.run(&[&all[..], &out].concat()).expect_code(0);
    let resumed = desk.run(&[&all[..], &out, &["--resume", "--survival"]].concat());
    resumed.expect_code(2);
    resumed.expect_error("was begun without --survival", "leave out --resume");
    let elsewhere = ["compare", "--dir", ".", "--survival", "--out", "out"];
    desk.run(&elsewhere)
        .expect_error("only with simulated disks", "--venue sim");
}

#[test]
fn acknowledged_commits_of_a_database_survive_and_are_lost_without_flushes() {
    let Some(desk) = Desk::new().with_lab("a database") else {
        return;
    };
    let study = format!(
        "{}{}",
        STUDY.split("[[phase]]").next().expect("a head"),
        WITH_FIGURES
    );
    let log = &record_study(&desk, &study, &["ext4"])[0];
    let few = ["--max-states", "60"];
    let found = judge(&desk, log, &few);
    assert_eq!(found["survival"]["broken_states"], 0, "{found}");
    assert!(found["survival"]["states"].as_u64() > Some(20), "{found}");
    let planted = judge(&desk, log, &[&few[..], &["--drop-flush", "all"]].concat());
    let broken = &planted["survival"]["promises"];
    assert!(broken["commit"].as_u64() > Some(0), "{planted}");
}

/// Without times: that of recovery depends on where the states before left the disk's arm, and a
/// checker prints the time of day.
fn without_times(mut judged: Value) -> Value {
    for name in ["recovery_median_ns", "recovery_max_ns"] {
        judged["survival"][name] = Value::Null;
    }
    for state in judged["failing"].as_array_mut().expect("states") {
        state["recovery_ns"] = Value::Null;
        state["check_output"] = Value::Null;
    }
    judged
}

#[test]
fn judged_states_are_kept_for_the_next_time() {
    let Some(desk) = Desk::new().with_lab("kept states") else {
        return;
    };
    let logs = record(&desk, &["jfs", "tmpfs"]);
    let log = &logs[0];
    let at_once = judge(&desk, log, &["--max-states", "40"]);
    judge(&desk, log, &["--max-states", "15", "--resume"]);
    let name = log.to_str().expect("a path");
    let kept = PathBuf::from(format!("{name}.judged"));
    // A log that cannot be judged is refused before another one is judged.
    std::fs::remove_file(&kept).expect("kept");
    let in_memory = logs[1].to_str().expect("a path");
    let both = ["crash", "judge", name, in_memory, "--resume"];
    let refused = desk.run(&both);
    refused.expect_code(4);
    assert!(refused.err.contains("states of tmpfs cannot be judged"));
    assert!(!kept.exists());
    judge(&desk, log, &["--max-states", "15", "--resume"]);
    let before = std::fs::read_to_string(&kept).expect("kept");
    assert!(before.lines().count() > 10, "{before}");
    // A kill has cut the last line.
    std::fs::write(&kept, &before[..before.len() - 20]).expect("written");
    let again = judge(&desk, log, &["--max-states", "40", "--resume"]);
    assert_eq!(without_times(again), without_times(at_once));
    let all = ["crash", "judge", name, "--resume", "--images", "images"];
    let other = desk.run(&[&all[..], &["--drop-flush", "all"]].concat());
    other.expect_error("has states of a different planted fault", "remove it");
}

/// Each moment had a list of the writes that were pending then: 20,000 flushes, 83 KB, took 14 s,
/// and 30,000 pending writes past the cache, 164 KB, more than 2 GB. All requests were in memory
/// twice, as events and as text.
#[test]
fn logs_whose_costs_were_products_are_listed_in_seconds() {
    let desk = Desk::new();
    for (name, make) in shapes::SHAPES {
        let count = if *name == "long-writes" { 2000 } else { 60_000 };
        let log = desk.path(name);
        let file = std::fs::File::create(&log).expect("created");
        let made = make(count);
        fslab_crash::write_log(&made, std::io::BufWriter::new(file)).expect("written");
        let log = log.to_str().expect("a path");
        let began = Instant::now();
        let listed = desk.run(&["crash", "states", log, "--list", "--max-states", "50"]);
        listed.expect_code(0);
        assert!(listed.out.lines().count() <= 50, "{name}");
        let requests = desk.run(&["crash", "requests", log]);
        requests.expect_code(0);
        let lines = requests.out.lines().count();
        assert_eq!(lines, made.requests.len() + 1, "{name}");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(60), "{name}: {took:?}");
    }
}

#[test]
fn more_states_than_can_be_chosen_are_refused() {
    let desk = Desk::new();
    let ended = desk.run(&["crash", "states", "a.log", "--max-states", "4194305"]);
    ended.expect_code(2);
    assert!(
        ended.err.contains("the maximum is 4194304"),
        "{}",
        ended.err
    );
}
