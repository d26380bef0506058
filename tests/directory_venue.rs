//! The venue `dir`: a user without privileges, on whatever is mounted there.

use std::fs;

use serde_json::Value;

use crate::harness::{Desk, Ended, is_root, turn};

#[test]
fn file_systems_that_cannot_be_formatted_here_are_refused_with_what_helps() {
    let _turn = turn();
    let desk = Desk::new().unprivileged();
    let compare = ["compare", "ext4", "xfs", "--study", "./small.toml"];
    let ended = desk.run(&compare);
    ended.expect_code(4);
    for text in [
        "there is no lab for a guest",
        "fslab lab build",
        "--dir DIR",
    ] {
        assert!(ended.err.contains(text), "{text}: {}", ended.err);
    }
    let in_directory = desk.run(&[&compare[..], &["--dir", "."]].concat());
    in_directory.expect_code(4);
    assert!(
        in_directory.err.contains("is mounted"),
        "{}",
        in_directory.err
    );
}

/// As in the demo of a user without privileges.
#[test]
fn one_directory_is_repeated_within_a_budget() {
    let _turn = turn();
    let desk = Desk::new().unprivileged();
    let words = [
        "compare",
        "--dir",
        ".",
        "--study",
        "./small.toml",
        "--out",
        "out",
    ];
    let ended = desk.run(&[&words[..], &["--budget", "1s"]].concat());
    ended.expect_code(0);
    let run = desk.last_run();
    assert_eq!(run["plan"]["adaptive"]["budget_s"], 1);
    assert!(run["trials"].as_array().expect("trials").len() >= 2);
}

#[test]
fn a_user_without_privileges_measures_the_directory_at_hand() {
    let _turn = turn();
    let desk = Desk::new().unprivileged();
    let ended = desk.run(&[
        "compare",
        "--dir",
        ".",
        "--study",
        "./small.toml",
        "--out",
        "out",
    ]);
    ended.expect_code(0);
    let run = desk.last_run();
    assert_eq!(run["plan"]["venue"]["venue"], "dir");
    assert_eq!(run["plan"]["cold"], "evict");
    let trial = &run["trials"][0];
    assert!(trial["facts"]["recognised.type"].is_string());
    let phase = |name: &str| {
        let phases = trial["phases"].as_array().expect("phases");
        phases
            .iter()
            .find(|phase| phase["name"] == name)
            .expect(name)
            .clone()
    };
    assert!(phase("write")["elapsed_ns"].as_u64() > Some(0));
    assert_eq!(phase("write")["settled"], Value::Null);
    assert_eq!(phase("list")["outcome"], "skipped");
    let left = fs::read_dir(desk.path("")).expect("the desk").flatten();
    let scratch = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("fslab-"));
    assert_eq!(scratch.count(), 0, "the scratch directory is left");
}

#[test]
fn cold_reads_of_evicted_files_come_from_the_device() {
    let _turn = turn();
    let desk = Desk::new();
    let compare = [
        "compare",
        "--study",
        "./small.toml",
        "--venue",
        "dir",
        "--out",
        "out",
    ];
    desk.run(&compare).expect_code(0);
    let run = desk.last_run();
    let method = if is_root() { "drop" } else { "evict" };
    assert_eq!(run["plan"]["cold"], method);
    for trial in run["trials"].as_array().expect("trials") {
        let read = trial["phases"]
            .as_array()
            .expect("phases")
            .iter()
            .find(|p| p["name"] == "read");
        let read = read.expect("the phase read");
        let Some(device) = read["device"].as_object() else {
            continue;
        };
        let (bytes, device) = (read["bytes"].as_u64(), device["read_bytes"].as_u64());
        assert!(
            device >= bytes,
            "{device:?} of {bytes:?} bytes came from the device"
        );
    }
}

/// The catalogue was asked for whatever is mounted, and knew neither tmpfs nor overlay nor NFS.
#[test]
fn a_directory_on_a_file_system_that_is_not_in_the_catalogue_is_measured() {
    let _turn = turn();
    let desk = Desk::new();
    let shared = tempfile::tempdir_in("/dev/shm").expect("a tmpfs");
    let dir = shared.path().to_str().expect("text");
    let ended = desk.run(&[
        "compare",
        "--study",
        "./small.toml",
        "--venue",
        "dir",
        "--dir",
        dir,
        "--out",
        "out",
    ]);
    ended.expect_code(0);
    let run = desk.last_run();
    assert_eq!(run["trials"][0]["subject"], "tmpfs");
    assert_eq!(run["trials"][0]["phases"][0]["device"], Value::Null);
}

/// A directory on a disk and one in memory: two file systems that every machine has.
struct TwoDirectories {
    desk: Desk,
    disk: String,
    memory: tempfile::TempDir,
}

impl TwoDirectories {
    fn new() -> Self {
        let desk = Desk::new();
        Self {
            disk: desk.path("images").to_str().expect("text").to_owned(),
            memory: tempfile::tempdir_in("/dev/shm").expect("a tmpfs"),
            desk,
        }
    }

    fn compare(&self, words: &[&str]) -> Ended {
        let memory = self.memory.path().to_str().expect("text");
        let dirs = ["compare", "--dir", &self.disk, "--dir", memory];
        let study = ["--study", "./small.toml", "--out", "out"];
        self.desk.run(&[&dirs[..], &study, words].concat())
    }
}

#[test]
fn several_directories_are_the_subjects_of_one_interleaved_run() {
    let _turn = turn();
    let two = TwoDirectories::new();
    two.compare(&["--repeats", "3"]).expect_code(0);
    let run = two.desk.last_run();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let planned = run["plan"]["subjects"].as_array().expect("subjects");
    let names: Vec<_> = planned.iter().map(|it| text(&it["subject"])).collect();
    let memory = format!("tmpfs:{}", two.memory.path().display());
    assert!(names[0].ends_with(&format!(":{}", two.disk)), "{names:?}");
    assert_eq!(names[1], memory);
    let mut trials = run["trials"].as_array().expect("trials").clone();
    assert_eq!(trials.len(), 6);
    trials.sort_by_key(|trial| trial["position"].as_u64());
    for (repeat, block) in (0..).zip(trials.chunks(2)) {
        let mut of_block: Vec<_> = block.iter().map(|it| text(&it["subject"])).collect();
        of_block.sort_by_key(|name| *name == memory);
        assert_eq!(of_block, names, "each block has each directory once");
        for trial in block {
            assert_eq!(trial["trial"]["repeat"], repeat);
            assert_eq!(trial["outcome"], "done");
            let name = text(&trial["subject"]);
            let mounted = text(&trial["facts"]["recognised.type"]);
            assert!(name.starts_with(&format!("{mounted}:")), "{name}");
        }
    }
    let left = [two.desk.path("images"), two.memory.path().to_owned()];
    for dir in left {
        assert_eq!(fs::read_dir(&dir).expect("listed").count(), 0, "{dir:?}");
    }
    let shown = two.desk.run(&["show", "last"]);
    assert!(
        names.iter().all(|name| shown.out.contains(name)),
        "{}",
        shown.out
    );
    let pair = format!("{}={}", names[0], names[1]);
    let diff = ["diff", "last", "last", "--pair", &pair];
    let confounded = two.desk.run(&diff);
    confounded.expect_code(2).expect_error("device", "--across");
    let waived = two
        .desk
        .run(&[&diff[..], &["--across", "device", "--json"]].concat());
    waived.expect_code(0);
    let diff: Value = serde_json::from_str(&waived.out).expect("pure JSON");
    let contrasts = diff["contrasts"].as_array().expect("contrasts");
    assert!(contrasts.iter().any(|it| !it["speed"].is_null()), "{diff}");
}

#[test]
fn directories_that_are_the_same_are_refused_and_those_on_one_file_system_are_noted() {
    let two = TwoDirectories::new();
    let again = format!("{}/../images", two.desk.path("out").display());
    two.compare(&["--dir", &again])
        .expect_code(2)
        .expect_error("are the same directory", "name it once");
    assert!(!two.desk.store().exists(), "a refused plan leaves a store");
    let beside = two.desk.path("out");
    let planned = two.compare(&["--dir", beside.to_str().expect("text"), "--dry-run"]);
    planned.expect_code(0);
    assert!(
        planned.err.contains("are on the same file system"),
        "{}",
        planned.err
    );
    assert!(
        planned
            .out
            .contains(&format!("below {}, /dev/shm", two.disk)),
        "{}",
        planned.out
    );
    let named = two.compare(&["jfs", "--dry-run"]);
    named
        .expect_code(4)
        .expect_error("cannot measure jfs in", "name no subject");
}
