//! Machines whose processor takes time: trials on a simulated PC, by a user without privileges.
//!
//! Where there is no emulator or no lab of a PC, these tests say that they did not run.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Desk, Ended};
use crate::sim_venue::Load;

const BRIEF_STUDY: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/brief.toml"
);

/// The phase `name` of the first trial.
fn phase<'a>(trials: &'a [Value], name: &str) -> &'a Value {
    let phases = trials[0]["phases"].as_array().expect("phases");
    let found = phases.iter().find(|phase| phase["name"] == name);
    found.unwrap_or_else(|| panic!("there is no phase {name}"))
}

/// What counts is instructions: a load beside the second run, and another directory, change
/// nothing.
#[test]
fn a_counted_machine_gives_the_same_records_twice_beside_a_load() {
    let Some(desk) = Desk::new().with_pc_lab("a counted machine, twice the same") else {
        return;
    };
    let desk = desk.unprivileged();
    let words = [
        "ext4",
        "xfs",
        // It waits for ticks of the kernel's clock.
        "reiserfs-3.6",
        "--study",
        BRIEF_STUDY,
        "--machine",
        "pc-2010",
    ];
    desk.compare_in_sim(&[&words[..], &["--repeats", "1"]].concat())
        .expect_code(0);
    let first = desk.exact_trials();
    assert_eq!(first.len(), 3);
    let load = Load::start();
    let again = Desk::new().with_pc_lab("a counted machine, twice the same");
    let again = again.expect("it was there a minute ago").unprivileged();
    let words = [&words[..], &["--repeats", "1", "--jobs", "1"]].concat();
    again.compare_in_sim(&words).expect_code(0);
    drop(load);
    for (first, second) in first.iter().zip(&again.exact_trials()) {
        let subject = &first["subject"];
        assert_eq!(first["outcome"], "done", "{subject}: {}", first["failure"]);
        assert_eq!(first, second, "{subject} differs from run to run");
    }
    // What is served from memory takes time, and processor time is recorded.
    let reread = phase(&first, "reread");
    let (elapsed, read) = (&reread["elapsed_ns"], &reread["device"]["read_bytes"]);
    assert!(elapsed.as_u64().expect("measured") > 10_000, "{elapsed}");
    assert_eq!(read.as_u64(), Some(0), "it is cached");
    assert!(reread["cpu"].is_object(), "{}", reread["cpu"]);
    let shown = desk.run(&["show", "last"]);
    assert!(
        !shown.out.contains("needs least disk time"),
        "{}",
        shown.out
    );
}

/// The snapshots of the desk's labs.
fn snapshots(desk: &Desk) -> Vec<PathBuf> {
    let labs = fs::read_dir(desk.path("home/.cache/fslab/labs")).expect("labs");
    let folders = labs.filter_map(|lab| fs::read_dir(lab.ok()?.path().join("snapshots")).ok());
    let paths = folders.flatten().map(|entry| entry.expect("read").path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "snapshot"))
        .collect();
    paths.sort();
    paths
}

/// The runs of memory in the file of a snapshot, without the checksums. The state of the devices
/// before it has clocks of the host.
fn memory(snapshot: &[u8]) -> Vec<u8> {
    let number = |at: usize| {
        let bytes = snapshot[at..at + 8].try_into().expect("a number");
        u64::from_le_bytes(bytes) as usize
    };
    let mut at = 40 + number(16);
    let mut memory = Vec::new();
    while at < snapshot.len() {
        let end = at + 24 + number(at + 8);
        memory.extend([&snapshot[at..at + 16], &snapshot[at + 24..end]].concat());
        at = end;
    }
    memory
}

fn expect_retaken(ended: &Ended, snapshot: &std::path::Path) {
    ended.expect_code(0);
    let name = snapshot.file_name().expect("a name").to_string_lossy();
    let said = ended.err.contains(&*name) && ended.err.contains("is damaged");
    assert!(said, "{}", ended.err);
}

/// All guests of a machine start from one snapshot, and another one gives the same records.
#[test]
fn a_snapshot_is_taken_once_for_a_machine_and_again_if_it_is_damaged() {
    let Some(desk) = Desk::new().with_pc_lab("snapshots of a counted machine") else {
        return;
    };
    let words = ["ext4", "btrfs", "--study", BRIEF_STUDY, "--repeats", "1"];
    let words = [&words[..], &["--machine", "pc-2010"]].concat();
    desk.compare_in_sim(&words).expect_code(0);
    let first = desk.exact_trials();
    let taken = snapshots(&desk);
    assert_eq!(taken.len(), 1, "{taken:?}");
    let whole = fs::read(&taken[0]).expect("read");
    fs::write(&taken[0], &whole[..whole.len() / 2]).expect("cut");
    let load = Load::start();
    expect_retaken(&desk.compare_in_sim(&words), &taken[0]);
    drop(load);
    assert_eq!(desk.exact_trials(), first);
    assert_eq!(snapshots(&desk), taken);
    // A single bit in the middle of the memory gave other figures, or failures of the subject.
    let mut flipped = fs::read(&taken[0]).expect("read");
    let middle = flipped.len() / 2;
    flipped[middle] ^= 4;
    fs::write(&taken[0], &flipped).expect("damaged");
    let checked = desk.run(&["lab", "check", "debian-6.1"]);
    checked
        .expect_code(4)
        .expect_error(".snapshot is damaged", "remove it");
    expect_retaken(&desk.compare_in_sim(&words), &taken[0]);
    assert_eq!(desk.exact_trials(), first);
    desk.run(&["lab", "check", "debian-6.1"]).expect_code(0);
    let again = fs::read(&taken[0]).expect("read");
    assert!(memory(&again) == memory(&whole), "the memory differs");
    // A guest with more memory is another machine.
    desk.compare_in_sim(&[&words[..], &["--memory", "256MiB"]].concat())
        .expect_code(0);
    assert_eq!(snapshots(&desk).len(), 2);
}

const TIMERS: &str = r#"
format = 1
name = "timers"
title = "Which timer the kernel uses"
subjects = ["ext4"]
size = "64MiB"
repeats = 1
trial_limit_s = 120

[[phase]]
name = "timers"
workload = "command"
argv = "grep -A1 '^Per CPU device' /proc/timer_list"
keep_output = true
"#;

/// With its own timer the kernel would calibrate it for seconds at each boot.
#[test]
fn the_timer_of_a_counted_machine_is_that_of_the_module() {
    let Some(desk) = Desk::new().with_pc_lab("the timer of a counted machine") else {
        return;
    };
    fs::write(desk.path("t.toml"), TIMERS).expect("written");
    let words = ["ext4", "--study", "t.toml", "--machine", "pc-2010"];
    let once = ["--repeats", "1", "--allow-commands"];
    desk.compare_in_sim(&[&words[..], &once].concat())
        .expect_code(0);
    let run = desk.last_run().to_string();
    assert!(run.contains("Clock Event Device: fslab-lapic"), "{run}");
}

/// A machine's memory and disk can be had without its processor's time; both are in the plan, and a
/// difference of the processor is named.
#[test]
fn runs_of_a_counted_and_of_a_free_processor_differ_in_a_named_dimension() {
    let Some(desk) = Desk::new().with_pc_lab("the dimension of the processor") else {
        return;
    };
    let Some(desk) = desk.with_lab("the dimension of the processor") else {
        return;
    };
    let study = ["ext4", "--study", BRIEF_STUDY, "--repeats", "1"];
    desk.compare_in_sim(&[&study[..], &["--machine", "pc-2010"]].concat())
        .expect_code(0);
    let disk = ["--disk", "hdd-7200-sata-2010"];
    desk.compare_in_sim(&[&study[..], &disk].concat())
        .expect_code(0);
    let diff = desk.run(&["diff", "last~1", "last"]);
    let text = format!("{}{}", diff.out, diff.err);
    assert!(text.contains("processor"), "{text}");
    assert!(text.contains("1000000000 instructions/s"), "{text}");
}

#[test]
fn a_machine_that_cannot_be_had_is_refused_with_what_helps() {
    let desk = Desk::new();
    let refuse = |words: &[&str], what: &str, hint: &str| {
        let sim = ["compare", "ext4", "--venue", "sim"];
        let ended = desk.run(&[&sim[..], words].concat());
        ended.expect_error(what, hint);
    };
    refuse(
        &["--machine", "server-2013"],
        "there is no machine 'server-2013'",
        "'server-2012'",
    );
    refuse(
        &["--machine", "pc-2002"],
        "there is no lab 'debian-6.1'",
        "fslab lab build --kernel debian:6.1",
    );
    let ended = desk.run(&[
        "compare",
        "ext4",
        "--venue",
        "guest",
        "--machine",
        "pc-2002",
    ]);
    ended.expect_error("--machine needs the venue 'sim'", "leave out --machine");
    let ended = desk.run(&["lab", "build", "--kernel", "fedora:40"]);
    ended.expect_error("fedora:40", "");
}

#[test]
fn machines_are_listed_and_shown_with_their_sources() {
    let desk = Desk::new();
    let listed = desk.run(&["machine", "list"]);
    listed.expect_code(0);
    assert!(listed.out.contains("pc-2002"), "{}", listed.out);
    assert!(listed.out.contains("500 million"), "{}", listed.out);
    let shown = desk.run(&["machine", "show", "pc-2002"]);
    shown.expect_code(0);
    assert!(
        shown.out.contains("the original names the processor"),
        "{}",
        shown.out
    );
    let json = desk.run(&["machine", "show", "pc-2002", "--json"]);
    let value: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(value["processor"]["instructions_per_s"], 500_000_000);
}
