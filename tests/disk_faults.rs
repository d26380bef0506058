//! `fslab faults`: what file systems make of a failing disk.
//!
//! Where no guest kernel is built, this test says that it did not run, and fails where it must.

use serde_json::Value;

use crate::harness::Desk;

/// Two writes with fsync.
const STUDY: &str = r#"
format = 1
name = "faults-test"
title = "Synced writes"
description = "For the test of failing disks."
subjects = ["ext4"]
size = "64MiB"
memory = "128MiB"
repeats = 1
trial_limit_s = 120

[[phase]]
name = "writes"
workload = "script"
directory = "writes"
steps = [
    "create log", "append log 8192", "start",
    "write log 4096 4096", "fsync log", "append log 4096", "fsync log",
]
"#;

/// The cases of `fslab faults` with these words.
fn cases(desk: &Desk, log: &str, words: &[&str]) -> Vec<Value> {
    let all = ["faults", log, "--json", "--images", "images"];
    let ended = desk.run(&[&all[..], words].concat());
    ended.expect_code(0);
    desk.expect_nothing_left();
    let mut results: Vec<Value> = serde_json::from_str(&ended.out).expect("JSON");
    let cases = results.remove(0)["cases"].take();
    cases.as_array().expect("cases").clone()
}

#[test]
fn a_failed_write_of_the_journal_makes_ext4_read_only_and_a_lost_one_of_data_is_found() {
    let Some(desk) = Desk::new().with_lab("failing disks") else {
        return;
    };
    std::fs::write(desk.path("faults.toml"), STUDY).expect("written");
    let ended = desk.run(&[
        "compare",
        "ext4",
        "--study",
        "faults.toml",
        "--venue",
        "sim",
        "--images",
        "images",
        "--out",
        "out",
        "--record-disk",
        "out/logs",
    ]);
    ended.expect_code(0);
    let mut logs = std::fs::read_dir(desk.path("out/logs")).expect("the directory of logs");
    let log = logs.next().expect("a log").expect("an entry").path();
    let log = log.to_str().expect("a path");

    let journal = ["--block", "journal", "--fault", "write-error"];
    let failed = cases(&desk, log, &journal);
    // The last access is in the unmount, after which nothing is seen.
    let is_first = |case: &&Value| case["fault"].as_str().is_some_and(|it| it.contains("#0"));
    let failed: Vec<&Value> = failed.iter().filter(is_first).collect();
    assert!(!failed.is_empty());
    for case in &failed {
        assert_eq!(case["block"], "journal", "{case}");
        assert!(case["hits"].as_u64() > Some(0), "{case}");
        assert!(case["detection"]["errno"].is_string(), "{case}");
        // After its message ext4 answers with EROFS or EIO.
        let recovery = case["recovery"].as_str().expect("a word");
        assert!(["read-only", "stops"].contains(&recovery), "{case}");
    }
    let says_so = |case: &&Value| case["kernel"].to_string().contains("filesystem read-only");
    assert!(failed.iter().any(says_so), "{failed:?}");

    let data = [
        "--block",
        "data",
        "--fault",
        "lost-write",
        "--fault",
        "read-error",
    ];
    let failed = cases(&desk, log, &data);
    let of = |kind: &str, end: &str| {
        let is_kind = |case: &&Value| {
            let fault = case["fault"].as_str().expect("a fault");
            fault.starts_with(kind) && fault.ends_with(end)
        };
        failed.iter().find(is_kind).expect("a case").clone()
    };
    let lost = of("lost-write", "");
    assert_eq!(lost["detection"], "nothing", "{lost}");
    assert_eq!(lost["aftermath"], "lost", "{lost}");
    assert!(lost["lost_bytes_at_end"].as_u64() > Some(0), "{lost}");
    // Readahead fails first, and the page is read again: only the second error is seen.
    assert_eq!(of("read-error", "")["detection"], "log");
    assert_eq!(of("read-error", "!")["detection"]["errno"], "EIO");

    // A failing case is one line that does it again.
    let fault = lost["fault"].as_str().expect("a fault");
    let again = cases(&desk, log, &["--phase", "writes", "--case", fault]);
    assert_eq!(again.len(), 1);
    assert_eq!(again[0]["lost_names"], lost["lost_names"]);
}
