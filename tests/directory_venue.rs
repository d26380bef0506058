//! The venue `dir`: a user without privileges, on whatever is mounted there.

use std::fs;

use crate::harness::{Desk, is_root, turn};

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
    assert_eq!(phase("write")["settled"], serde_json::Value::Null);
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
    assert_eq!(
        run["trials"][0]["phases"][0]["device"],
        serde_json::Value::Null
    );
}
