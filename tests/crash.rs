//! `fslab crash judge`: what a power loss leaves, and planted faults that it must find.
//!
//! Where no guest kernel is built, these tests say that they did not run, and fail where they must.

use std::path::PathBuf;

use serde_json::Value;

use crate::harness::Desk;

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
folder = "append"
steps = [
    "create log", "append log 4096", "start",
    "append log 4096", "fsync log", "append log 4096", "fdatasync log",
]

[[phase]]
name = "replace"
workload = "script"
folder = "replace"
steps = [
    "create conf", "append conf 4096", "start",
    "create new", "append new 8192", "fsync new", "rename new conf", "fsync .",
]
"#;

/// Records a trial of each subject; gives their logs in order.
fn record(desk: &Desk, subjects: &[&str]) -> Vec<PathBuf> {
    std::fs::write(desk.path("crash.toml"), STUDY).expect("written");
    let sim = [
        "--study",
        "crash.toml",
        "--venue",
        "sim",
        "--folder",
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
    let logs = std::fs::read_dir(desk.path("out/logs")).expect("the folder of logs");
    let mut logs: Vec<PathBuf> = logs.map(|it| it.expect("an entry").path()).collect();
    logs.sort();
    assert_eq!(logs.len(), subjects.len(), "{logs:?}");
    logs
}

/// The sums of `fslab crash judge` with these words, and the states in which something is wrong.
fn judge(desk: &Desk, log: &std::path::Path, words: &[&str]) -> Value {
    let log = log.to_str().expect("a path");
    let all = ["crash", "judge", log, "--json", "--folder", "images"];
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
        "crash", "replay", log, &state, "--judge", "--folder", "images",
    ];
    let replayed = desk.run(&replay);
    replayed.expect_code(0);
    assert!(replayed.out.contains("wrong: "), "{}", replayed.out);
    assert!(replayed.out.contains("append log 4096"), "{}", replayed.out);
    let minimise = ["crash", "minimise", log, &state, "--folder", "images"];
    let smaller = desk.run(&minimise);
    smaller.expect_code(0);
    assert!(
        smaller.out.starts_with("fslab crash replay "),
        "{}",
        smaller.out
    );
    desk.expect_nothing_left();
}
