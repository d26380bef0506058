//! Bundles: a study made on one machine runs on another that has no compiler, no package manager
//! and no network, and its results come back in one file.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::harness::{Desk, Ended};

/// A study whose one phase is a program of the machine, and one that needs nothing.
const STUDY: &str = "format = 1
name = 'bundled'
title = 'A program and a workload of its own'
subjects = ['ext4']
size = '64MiB'
repeats = 1
trial_limit_s = 60

[[phase]]
name = 'write'
workload = 'mine'

[[phase]]
name = 'program'
workload = 'command'
argv = ['cmp', '--version']
room = '1MiB'
";

const WORKLOAD: &str = "format = 1
name = 'mine'
title = 'a small write'
about = 'Writes one small file in order.'
job = 'data'
kind = 'write'
headline = 'throughput'
may_set = ['file_size', 'record']

[defaults]
direction = 'write'
open = 'create'
file_size = '1MiB'
record = '64KiB'
";

/// A desk with the study.
fn maker(test: &str) -> Option<Desk> {
    let desk = Desk::new().with_lab(test)?;
    fs::write(desk.path("bundled.toml"), STUDY).expect("the study");
    fs::create_dir(desk.path("workloads")).expect("a directory");
    fs::write(desk.path("workloads/mine.toml"), WORKLOAD).expect("the workload");
    Some(desk)
}

fn bundle(desk: &Desk) -> PathBuf {
    let words = [
        "bundle",
        "./bundled.toml",
        "--allow-commands",
        "--out",
        "it.bundle",
    ];
    let ended = desk.run(&words);
    ended.expect_code(0);
    assert!(ended.out.contains("it.bundle"), "{}", ended.out);
    desk.path("it.bundle")
}

/// `fslab ARGUMENTS` with a PATH without any program.
fn run_bare(desk: &Desk, arguments: &[&str]) -> Ended {
    let mut command = Command::new("env");
    command
        .arg("PATH=/nonexistent")
        .arg(env!("CARGO_BIN_EXE_fslab"))
        .args(arguments);
    desk.run_as_is(command)
}

#[test]
fn a_bundle_runs_elsewhere_and_its_results_come_back() {
    let Some(here) = maker("bundles, there and back") else {
        return;
    };
    let file = bundle(&here);
    let there = Desk::new();
    fs::copy(&file, there.path("it.bundle")).expect("sent");
    let run = [
        "run",
        "./it.bundle",
        "--allow-guest",
        "--allow-commands",
        "--perturb",
        "off",
    ];
    let run = [
        &run[..],
        &["--repeats", "1", "--out", "out", "--results", "back.json"],
    ]
    .concat();
    run_bare(&there, &run).expect_code(0);
    let record = there.last_run();
    assert_eq!(
        record["trials"][0]["phases"].as_array().map(Vec::len),
        Some(2)
    );
    fs::copy(there.path("back.json"), here.path("back.json")).expect("sent back");
    here.run(&["import", "back.json"]).expect_code(0);
    let here_again = here.last_run();
    assert_eq!(here_again["plan_hash"], record["plan_hash"]);
}

/// A lab and layers of a stranger are programs.
#[test]
fn programs_of_a_bundle_run_only_with_the_permissions_that_name_them() {
    let Some(here) = maker("bundles, permissions") else {
        return;
    };
    let refused = here.run(&["bundle", "./bundled.toml"]);
    refused
        .expect_code(2)
        .expect_error("would start a program", "--allow-commands");
    let file = bundle(&here);
    let there = Desk::new();
    fs::copy(&file, there.path("it.bundle")).expect("sent");
    let ended = there.run(&["run", "./it.bundle", "--allow-commands"]);
    ended
        .expect_code(2)
        .expect_error("contains programs", "--allow-guest");
    assert!(
        !there.path("home/.cache/fslab").exists(),
        "nothing is unpacked"
    );
    let ended = there.run(&["run", "./it.bundle", "--allow-guest"]);
    ended
        .expect_code(2)
        .expect_error("would start a program", "--allow-commands");
    let other = ["run", "./it.bundle", "--allow-commands", "--lab", "default"];
    there
        .run(&other)
        .expect_code(2)
        .expect_error("its own lab", "--lab");
    let other = [
        "run",
        "./it.bundle",
        "--allow-commands",
        "--set",
        "phase.program.enabled=false",
    ];
    there
        .run(&other)
        .expect_code(2)
        .expect_error("needs the layers", "--set");
}

#[test]
fn a_file_that_is_no_bundle_is_refused() {
    let desk = Desk::new();
    fs::write(desk.path("x.bundle"), "no archive").expect("written");
    let ended = desk.run(&["run", "./x.bundle"]);
    ended
        .expect_code(2)
        .expect_error("x.bundle", "fslab bundle");
    let ended = desk.run(&["bundle", "quick", "--out", "x.tar", "--venue", "loop"]);
    ended
        .expect_code(2)
        .expect_error("venue sim or guest", "sim");
}
