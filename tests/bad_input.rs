//! Bad input: each ends in one clear error with a hint and exit code 2, and touches nothing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crate::harness::Desk;

/// Runs `compare ARGUMENTS` and demands one error with its hint, and that nothing was made.
#[track_caller]
fn refused(arguments: &[&str], what: &str, hint: &str) {
    let desk = Desk::new();
    let mut words = vec!["compare"];
    words.extend(arguments);
    desk.run(&words).expect_code(2).expect_error(what, hint);
    assert!(!desk.store().exists(), "a refused plan leaves a store");
    desk.expect_nothing_left();
}

#[test]
fn an_unknown_subject_suggests_the_nearest() {
    refused(&["brtfs", "--venue", "loop"], "'brtfs'", "btrfs");
}

#[test]
fn a_subject_named_twice_is_refused() {
    refused(
        &["ext4", "ext4", "--venue", "loop"],
        "named twice",
        "--repeats",
    );
}

#[test]
fn a_size_without_a_unit_is_refused() {
    refused(&["ext4", "--size", "1024"], "has no unit", "");
}

#[test]
fn a_size_too_small_for_the_file_system_names_the_smallest() {
    refused(
        &["xfs", "--venue", "loop", "--size", "64MiB"],
        "too small for xfs",
        "--size 300MiB",
    );
}

#[test]
fn a_size_too_small_for_the_study_names_what_is_needed() {
    refused(
        &["ext4", "--venue", "loop", "--size", "16MiB"],
        "more than the size",
        "--size",
    );
}

#[test]
fn an_unknown_study_suggests_the_nearest_and_a_missing_file_says_so() {
    refused(&["ext4", "--study", "quik"], "'quik'", "'quick'");
    refused(
        &["ext4", "--study", "./none.toml"],
        "cannot read the study",
        "",
    );
}

#[test]
fn a_study_with_an_unknown_workload_or_parameter_names_it() {
    let desk = Desk::new();
    let small = fs::read_to_string(desk.path("small.toml")).expect("the study");
    fs::write(
        desk.path("w.toml"),
        small.replace("\"rewrite\"", "\"rewrit\""),
    )
    .expect("written");
    let workload = desk.run(&["compare", "fake", "--study", "./w.toml"]);
    workload
        .expect_code(2)
        .expect_error("no workload 'rewrit'", "'rewrite'");
    let unknown = small.replacen("operations = 200", "operation = 200", 1);
    fs::write(desk.path("p.toml"), unknown).expect("written");
    let parameter = desk.run(&["compare", "fake", "--study", "./p.toml"]);
    parameter
        .expect_code(2)
        .expect_error("operation: unknown key", "did you mean 'operations'?");
    fs::write(desk.path("s.toml"), "name = 1").expect("written");
    desk.run(&["compare", "fake", "--study", "./s.toml"])
        .expect_code(2)
        .expect_error("s.toml", "");
}

#[test]
fn the_block_venue_without_a_named_device_is_refused() {
    refused(&["ext4", "--venue", "block"], "needs a device", "--destroy");
    refused(
        &["ext4", "--venue", "dir", "--destroy", "/dev/null"],
        "--destroy",
        "",
    );
}

#[test]
fn a_place_of_another_venue_is_refused() {
    refused(&["ext4", "--venue", "loop", "--dir", "."], "--dir", "--dir");
    refused(
        &["ext4", "--venue", "dir", "--images", "."],
        "--images",
        "--images",
    );
    refused(&["ext4", "--dir", ".", "--images", "."], "--dir", "--dir");
    refused(
        &["ext4", "--images", ".", "--destroy", "/dev/null"],
        "--destroy",
        "--destroy",
    );
}

#[test]
fn a_directory_is_planned_by_its_true_path_and_names_the_venue() {
    let desk = Desk::new();
    std::os::unix::fs::symlink("out", desk.path("link")).expect("a link");
    let plan = |dir: &str| {
        let planned = desk.run(&["compare", "--dir", dir, "--dry-run", "--json"]);
        planned.expect_code(0);
        serde_json::from_str::<serde_json::Value>(&planned.out).expect("pure JSON")["venue"].clone()
    };
    assert_eq!(plan("link")["venue"], "dir");
    assert_eq!(plan("link"), plan("out"));
    assert_eq!(plan("./images/../link/."), plan("out"));
}

/// A path that JSON cannot hold used to end in a panic.
#[test]
fn a_path_that_is_not_text_is_refused() {
    let odd = OsStr::from_bytes(b"./\xff");
    for option in ["--images", "--dir", "--destroy"] {
        let desk = Desk::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fslab"));
        command.args(["compare", "ext4", option]).arg(odd);
        desk.run_as_is(command)
            .expect_code(2)
            .expect_error("not UTF-8", "");
        assert!(!desk.store().exists(), "a refused plan leaves a store");
    }
}

#[test]
fn numbers_that_nobody_means_are_refused() {
    refused(&["fake", "--repeats", "0"], "repeats is 0", "");
    let many = ["fake", "--repeats", "4294967295"];
    refused(&many, "at most 10000", "");
    refused(&["fake", "--trial-limit", "0"], "limit of a trial is 0", "");
    refused(&["fake", "--size", "-1GiB"], "'-1GiB' is not a size", "");
    refused(&["fake", "--seed", "-1"], "'-1'", "");
}

#[test]
fn a_decimal_size_is_rounded_down_with_a_notice() {
    let desk = Desk::new();
    let planned = desk.run(&["compare", "fake", "--size", "1GB", "--dry-run", "--json"]);
    planned.expect_code(0);
    assert!(
        planned.err.contains("rounded to 999997440"),
        "{}",
        planned.err
    );
    let plan: serde_json::Value = serde_json::from_str(&planned.out).expect("pure JSON");
    assert_eq!(plan["size_bytes"], 999_997_440);
}

#[test]
fn words_of_other_tools_are_answered_with_those_of_fslab() {
    refused(&["vfat"], "no file system 'vfat'", "fat32");
    refused(
        &["/mnt/a", "/mnt/b"],
        "no file system '/mnt/a'",
        "compare --dir /mnt/a",
    );
    let desk = Desk::new();
    let usb = desk.run(&["run", "usb", "--venue", "dir", "--dry-run"]);
    usb.expect_code(0);
    assert!(usb.out.contains("usb-stick (A USB stick)"), "{}", usb.out);
    let bonny = desk.run(&["run", "bonny"]);
    bonny
        .expect_code(2)
        .expect_error("no study 'bonny'", "bonnie-2010");
}

#[test]
fn a_study_with_a_misspelt_word_or_a_name_that_is_none_says_so() {
    let desk = Desk::new();
    let small = fs::read_to_string(desk.path("small.toml")).expect("the study");
    let read = |text: String| {
        fs::write(desk.path("odd.toml"), text).expect("written");
        desk.run(&["compare", "fake", "--study", "./odd.toml"])
    };
    read(format!("repeat = 10\n{small}"))
        .expect_code(2)
        .expect_error("line 1, column 1: repeat: unknown key", "'repeats'");
    read(small.replace("\"reread\"", "\"re/read\""))
        .expect_code(2)
        .expect_error("re/read", "");
}

#[test]
fn an_unknown_run_suggests_what_to_do() {
    let desk = Desk::new();
    desk.run(&["show", "last"])
        .expect_code(2)
        .expect_error("store", "compare");
    desk.compare_fake(&[]).expect_code(0);
    desk.run(&["show", "20990101"])
        .expect_code(2)
        .expect_error("20990101", "");
    desk.run(&["show", "../x"])
        .expect_code(2)
        .expect_error("not the name of a run", "");
}

#[test]
fn clap_errors_are_bad_input_too_and_help_is_none() {
    let desk = Desk::new();
    desk.run(&["compare", "--no-such-option"]).expect_code(2);
    desk.run(&["compare", "--help"]).expect_code(0);
    desk.run(&["--version"]).expect_code(0);
}
