//! Rounds in a trial, and repeats until the figures are known.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::{Desk, Ended, can_mount};

fn compare(desk: &Desk, words: &[&str]) -> Ended {
    desk.compare_fake(&[&["--seed", "7"], words].concat())
}

fn trials(desk: &Desk) -> Vec<Value> {
    let run = desk.last_run();
    run["trials"].as_array().expect("trials").clone()
}

/// Which rounds a trial has, and how many records of each.
fn rounds(trial: &Value) -> Vec<(u64, u64)> {
    let phases = trial["phases"].as_array().expect("phases");
    let round = |phase: &Value| {
        let number = |name: &str| phase["round"][name].as_u64();
        number("mount").zip(number("iteration"))
    };
    let rounds: Option<Vec<_>> = phases.iter().map(round).collect();
    rounds.expect("every record says its round")
}

#[test]
fn a_cell_is_repeated_until_it_is_known_and_no_longer() {
    let desk = Desk::new();
    let ended = compare(&desk, &["--repeats", "2..30", "--key", "read"]);
    ended.expect_code(0);
    let count = trials(&desk).len();
    assert!((2..30).contains(&count), "{count}");
    assert!(
        ended.err.contains("no more repeats of fake"),
        "{}",
        ended.err
    );
    let listed = desk.run(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.out).expect("JSON");
    assert_eq!(listed[0]["trials_planned"], count);
    assert_eq!(listed[0]["repeats_max"], 30);
    // What is known needs nothing more, and repeats that it did not need are not missing.
    let again = compare(&desk, &["--resume", "--repeats", "2..30", "--key", "read"]);
    again.expect_code(0);
    assert_eq!(trials(&desk).len(), count);
}

/// The block in which a cell is left out depends on nothing but what is stored.
#[test]
fn a_run_that_goes_on_ends_as_one_that_was_never_stopped() {
    let (whole, parts) = (Desk::new(), Desk::new());
    let words = ["--target", "3%", "--key", "write"];
    compare(&whole, &[&words[..], &["--repeats", "2..12"]].concat()).expect_code(0);
    for most in ["2..4", "2..12"] {
        let more = ["--resume", "--repeats", most];
        compare(&parts, &[&words[..], &more].concat()).expect_code(0);
    }
    let phases = |desk: &Desk| -> Vec<Value> {
        let trials = trials(desk).into_iter();
        trials
            .map(|trial| serde_json::json!([trial["trial"], trial["position"], trial["phases"]]))
            .collect()
    };
    assert_eq!(phases(&whole), phases(&parts));
}

#[test]
fn all_repeats_stay_where_a_looser_target_needs_fewer() {
    let desk = Desk::new();
    compare(&desk, &["--repeats", "2..6", "--target", "0.001%"]).expect_code(0);
    let before = trials(&desk);
    assert_eq!(before.len(), 6);
    let looser = ["--resume", "--repeats", "2..4", "--target", "500%"];
    compare(&desk, &looser).expect_code(0);
    assert_eq!(trials(&desk), before);
}

#[test]
fn without_a_number_of_repeats_the_summary_says_how_to_know_more() {
    let desk = Desk::new();
    let ended = compare(&desk, &["--repeats", "3"]);
    ended.expect_code(0);
    assert!(
        ended.err.contains("--resume --repeats 3..20"),
        "{}",
        ended.err
    );
    let hints = ended.err.lines().filter(|line| line.contains("wider than"));
    assert_eq!(hints.count(), 1, "{}", ended.err);
}

#[test]
fn repeats_that_make_no_sense_are_refused_before_anything_is_stored() {
    let desk = Desk::new();
    for (words, what, hint) in [
        (&["--repeats", "5..3"][..], "the maximum of 3", "3..5"),
        (
            &["--repeats", "3..20", "--key", "raed"],
            "no key phase 'raed'",
            "read",
        ),
        (&["--target", "5%"], "--target", "--repeats 3..20"),
        (&["--budget", "50"], "--budget", "--repeats 3..20"),
        (&["--budget", "soon"], "soon", ""),
        (&["--mounts", "0"], "number of mounts is 0", ""),
        (
            &["--venue", "dir", "--dir", ".", "--mounts", "2"],
            "does not mount anything",
            "--mounts",
        ),
    ] {
        let ended = compare(&desk, words);
        ended.expect_code(2);
        ended.expect_error(what, hint);
    }
    assert!(!desk.store().exists());
}

#[test]
fn a_dry_run_tells_rounds_and_until_when() {
    let desk = Desk::new();
    let words = [
        "--repeats",
        "3..20",
        "--mounts",
        "2",
        "--iterations",
        "3",
        "--dry-run",
    ];
    let text = compare(&desk, &words);
    text.expect_code(0);
    for line in [
        "repeats  3 to 20, until every phase is known to within 5%",
        "rounds   2 mounts in each repeat, of 3 iterations each",
        "limit    720 s a trial",
        "trials   3 to 20",
    ] {
        assert!(text.out.contains(line), "no '{line}' in {}", text.out);
    }
}

#[test]
fn the_newest_runs_are_listed_and_how_many_more_there_are() {
    let desk = Desk::new();
    for seed in ["1", "2", "3"] {
        desk.compare_fake(&["--seed", seed]).expect_code(0);
    }
    let lines = |words: &[&str]| {
        let listed = desk.run(&[&["list"], words].concat());
        listed.expect_code(0);
        listed.out
    };
    assert!(lines(&["--limit", "2"]).contains("the newest 2 of 3 runs"));
    assert!(lines(&["--subject", "fake"]).contains("3 runs, newest first"));
    assert!(lines(&["--study", "quick"]).contains("0 runs"));
    let json: Value = serde_json::from_str(&lines(&["--json", "--limit", "1"])).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(1));
}

#[test]
fn each_mount_has_each_iteration_in_a_fresh_folder() {
    let Some(_turn) = can_mount("rounds", &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let words = "compare ext4 --study ./small.toml --images images --out out --repeats 1 \
                 --mounts 2 --iterations 2 --venue loop";
    let ended = desk.run(
        &words
            .split(' ')
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>(),
    );
    ended.expect_code(0);
    desk.expect_nothing_left();
    let trials = trials(&desk);
    let rounds = rounds(&trials[0]);
    let expected: Vec<_> = [(0, 0), (0, 1), (1, 0), (1, 1)]
        .iter()
        .flat_map(|round| [*round; 14])
        .collect();
    assert_eq!(rounds, expected);
    let steps = trials[0]["steps"].as_array().expect("steps");
    let count = |name: &str| steps.iter().filter(|step| step["step"] == name).count();
    assert_eq!(count("clear"), 3);
    assert_eq!(count("mkfs"), 1);
    // The first, the one between the mounts, and in each round four cold phases and a settled one.
    assert_eq!(count("mount"), 2 + 4 * 5);
    let text = desk.run(&["show", "last"]).out;
    assert!(text.contains("1 of 1 trial done"), "{text}");
}

#[test]
fn rounds_in_virtual_time_are_the_same_twice() {
    let Some(desk) = Desk::new().with_lab("sim, rounds") else {
        return;
    };
    let run = || {
        let words = "compare ext4 btrfs --study ./small.toml --venue sim --images images --out out \
                     --mounts 2 --iterations 2 --perturb off";
        desk.run(
            &words
                .split(' ')
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>(),
        )
        .expect_code(0);
        desk.expect_nothing_left();
        let exported = desk.run(&["export", "last", "--format", "exact"]);
        exported.expect_code(0);
        exported.out
    };
    let first = run();
    assert_eq!(first, run());
    let trials: Vec<Value> = serde_json::from_str(&first).expect("JSON");
    for trial in &trials {
        let seen: BTreeSet<_> = rounds(trial).into_iter().collect();
        assert_eq!(seen.len(), 4);
        assert_eq!(trial["outcome"], "done");
    }
    let words = "compare ext4 --venue sim --perturb off --repeats 3..20";
    let refused = desk.run(&words.split(' ').collect::<Vec<_>>());
    refused.expect_code(2);
    refused.expect_error("yields the same figures", "--perturb off");
}

/// ext2 writes a file in order whatever the state of its guest: it is known at once, and two more
/// repeats confirm it.
#[test]
fn perturbed_repeats_go_on_until_the_figures_are_known() {
    let Some(desk) = Desk::new().with_lab("sim, adaptive") else {
        return;
    };
    let words = "compare ext2 --study ./small.toml --venue sim --images images --out out \
                 --repeats 3..6 --key write --target 5%";
    let words: Vec<_> = words.split_whitespace().collect();
    desk.run(&words).expect_code(0);
    desk.expect_nothing_left();
    let trials = trials(&desk);
    assert_eq!(trials.len(), 5, "three, and two that confirm");
    let states: BTreeSet<String> = trials
        .iter()
        .map(|trial| trial["perturbation"].to_string())
        .collect();
    assert_eq!(states.len(), 5, "each in a state that no other had");
}

/// The first round has what a trial without rounds has; the others are measured, too, wherever the
/// trial runs, on what a stage left and at each point of a sweep.
#[test]
fn aged_subjects_and_sweeps_have_their_rounds_in_a_guest_and_on_a_loop_device() {
    let Some(desk) = Desk::new().with_lab("guest, rounds") else {
        return;
    };
    std::fs::write(desk.path("swept.toml"), SWEPT).expect("written");
    let compare = |venue: &str| {
        let words = "compare ext4 ext4:age=churn,turnover=0.2 --study ./swept.toml --images images \
                     --out out --repeats 1 --mounts 2 --iterations 2 --venue";
        let mut words: Vec<&str> = words.split_whitespace().collect();
        words.push(venue);
        desk.run(&words).expect_code(0);
        desk.expect_nothing_left();
        for trial in trials(&desk) {
            assert_eq!(trial["outcome"], "done", "{trial}");
            let phases = trial["phases"].as_array().expect("phases");
            for phase in ["write 1MiB", "write 2MiB", "create"] {
                let of_phase = phases.iter().filter(|record| record["name"] == phase);
                let done: BTreeSet<_> = of_phase
                    .filter(|record| record["outcome"] == "done")
                    .map(|record| {
                        (
                            record["round"]["mount"].as_u64(),
                            record["round"]["iteration"].as_u64(),
                        )
                    })
                    .collect();
                assert_eq!(done.len(), 4, "{venue}, {phase}: {done:?}");
            }
            let steps = trial["steps"].as_array().expect("steps");
            let ages = steps.iter().filter(|step| step["step"] == "age").count();
            let is_aged = trial["subject"]
                .as_str()
                .is_some_and(|name| name.contains("age="));
            assert_eq!(ages, usize::from(is_aged), "ages come once: {steps:?}");
        }
    };
    compare("guest");
    if let Some(_turn) = can_mount("loop, rounds", &["mkfs.ext4"]) {
        compare("loop");
    }
}

const SWEPT: &str = r#"
format = 1
name = "swept"
title = "A sweep in rounds"
subjects = ["ext4"]
size = "128MiB"
repeats = 1
trial_limit_s = 120

[sweep.sizes]
file_size = { from = "1MiB", to = "2MiB", factor = 2 }

[[phase]]
name = "write"
workload = "write"
sweep = "sizes"
file_size = "$file_size"

[[phase]]
name = "create"
workload = "create"
files = 100
files_per_directory = 50
"#;
