//! What new users type first works, or is answered with the command that does.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::Desk;

/// The answers to a command that does not do what its user meant.
#[test]
fn habits_from_other_tools_are_answered_with_the_command() {
    let desk = Desk::new();
    for (typed, expected) in [
        (
            "compare ext4 xfs --export-json x.json",
            "fslab compare ext4 xfs --json > x.json",
        ),
        (
            "compare ext4 xfs --bs 4k",
            "fslab compare ext4 xfs --set phase.NAME.record=4k",
        ),
        (
            "compare ext4 xfs --runtime 10",
            "fslab compare ext4 xfs --budget 10s",
        ),
        ("compare ext4 --warmup 1", "there is nothing to warm up"),
        ("compare ext4 --iodepth 4", "fslab run job.fio"),
        ("compare ext4 --budget 2", "write 2min or 2s"),
        (
            "compare ext4 --destroy a --destroy b",
            "fslab diff last~1 last",
        ),
        ("compare ext4:noatme", "did you mean 'noatime'?"),
        ("compare ext4:luks", "a layer below the file system"),
        ("compare ext4@debian:6.1", "ext4@debian-6.1"),
        ("compare /dev/loop0", "--destroy /dev/loop0"),
        (
            "compare xfs:mkfs=@2.6",
            "known defaults of mkfs.xfs are @4.19",
        ),
        ("report last --format pdf", "fslab report --charts"),
        ("export last -o x.txt", "--output run.csv"),
        (
            "compare ext4 -- ./missing.sh",
            "there is no file ./missing.sh",
        ),
    ] {
        let words: Vec<&str> = typed.split(' ').collect();
        let ended = desk.run(&words);
        ended.expect_code(2);
        assert!(ended.err.contains(expected), "{typed}: {}", ended.err);
        assert!(!ended.err.contains("--ranks"), "{typed}: {}", ended.err);
    }
}

/// Different words for one plan.
#[test]
fn what_is_certain_is_done() {
    let desk = Desk::new();
    let plan = |words: &[&str]| {
        let all = [
            words,
            &["--venue", "dir", "--seed", "1", "--dry-run", "--json"],
        ]
        .concat();
        let ended = desk.run(&all);
        ended.expect_code(0);
        ended.out
    };
    let of_compare = plan(&["compare", "--repeats", "3", "--scale", "1/10"]);
    assert_eq!(
        plan(&["compare", "--runs", "3", "--scale", "10%"]),
        of_compare
    );
    let of_phase = plan(&["compare", "--set", "phase.write.file_size=1MiB"]);
    assert_eq!(
        plan(&["compare", "--set", "write.file_size=1MiB"]),
        of_phase
    );
    let fake = [
        "--study",
        "./small.toml",
        "--seed",
        "1",
        "--dry-run",
        "--json",
    ];
    let planned = |words: &[&str]| {
        let ended = desk.run(&[words, &fake].concat());
        ended.expect_code(0);
        ended.out
    };
    let plain = planned(&["compare", "fake"]);
    for words in [
        vec!["compare", "--fs", "fake"],
        vec!["compare", "FAKE"],
        vec!["fake"],
    ] {
        assert_eq!(planned(&words), plain, "{words:?}");
    }
    let run = [
        "run",
        "./small.toml",
        "fake",
        "--seed",
        "1",
        "--dry-run",
        "--json",
    ];
    assert_eq!(desk.run(&run).out, plain);
}

#[test]
fn a_new_study_runs_and_is_not_overwritten() {
    let desk = Desk::new();
    desk.run(&["study", "new", "mine"]).expect_code(0);
    let text = fs::read_to_string(desk.path("mine.toml")).expect("written");
    assert!(text.contains("name = \"mine\""), "{text}");
    let run = [
        "run",
        "./mine.toml",
        "--venue",
        "dir",
        "--scale",
        "1/100",
        "--dry-run",
    ];
    desk.run(&run).expect_code(0);
    let again = desk.run(&["study", "new", "mine"]);
    again.expect_code(2);
    assert!(again.err.contains("exists already"), "{}", again.err);
}

#[test]
fn a_program_on_the_command_line_is_timed_without_a_permission() {
    let desk = Desk::new();
    let script = desk.path("mine.sh");
    fs::write(&script, "#!/bin/sh\ncat seed > copy; test \"$1\" = 'a b'\n").expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("executable");
    let ended = desk.run(&[
        "compare",
        "--venue",
        "dir",
        "--runs",
        "2",
        "--out",
        "out",
        "--prepare",
        "seq 9 > seed",
        "--",
        "./mine.sh",
        "a b",
    ]);
    ended.expect_code(0);
    let run = desk.last_run();
    let phase = &run["trials"][0]["phases"][0];
    assert_eq!(
        (&phase["name"], &phase["outcome"]),
        (&"mine.sh".into(), &"done".into())
    );
    assert_eq!(run["trials"].as_array().map(Vec::len), Some(2));
}
