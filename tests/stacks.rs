//! Stacks: layers below a file system, and file systems on several disks.

use serde_json::Value;

use crate::harness::{Desk, SMALL_STUDY, can_mount, skip};

/// A stack of each layer, each way to spread over disks, and layers on layers.
const STACKS: [&str; 13] = [
    "ext4/luks:sector=4096",
    "xfs/lvm",
    "ext4/thin:chunk=128KiB",
    "ext4/integrity:mode=bitmap",
    "ext4/raid0x2:chunk=64KiB",
    "ext4/raid1x2",
    "xfs/raid5x3:policy=ppl",
    "ext4/raid6x4:bitmap=none",
    "ext4/raid10x2:layout=f2",
    "btrfs:raid1x2/luks",
    "zfs:raidz1x3",
    "f2fs:x2",
    "ext4/raid0x2/raid1x2/linear",
];

fn phase<'a>(trial: &'a Value, name: &str) -> &'a Value {
    let mut phases = trial["phases"].as_array().expect("phases").iter();
    phases.find(|it| it["name"] == name).expect("a phase")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

#[test]
fn every_layer_runs_in_virtual_time_and_leaves_the_same_records_twice() {
    let Some(desk) = Desk::new().with_lab("stacks, twice the same") else {
        return;
    };
    let desk = desk.unprivileged();
    let words = [&STACKS[..], &["--study", SMALL_STUDY, "--repeats", "1"]].concat();
    desk.compare_in_sim(&words).expect_code(0);
    let first = desk.exact_trials();
    assert_eq!(first.len(), STACKS.len());
    for trial in &first {
        assert_eq!(trial["outcome"], "done", "{}", trial["subject"]);
    }
    desk.compare_in_sim(&words).expect_code(0);
    for (first, second) in first.iter().zip(&desk.exact_trials()) {
        assert_eq!(first, second, "{}", first["subject"]);
    }
}

/// Mirrors write everything twice, stripes once; the counters are those of the disks.
#[test]
fn what_the_disks_of_a_stack_do_is_counted_over_all_of_them() {
    let Some(desk) = Desk::new().with_lab("stacks, counters") else {
        return;
    };
    let words = ["ext4", "ext4/raid0x2", "ext4/raid1x2", "ext4/raid1x3"];
    let study = ["--study", SMALL_STUDY, "--repeats", "1"];
    desk.compare_in_sim(&[&words[..], &study].concat())
        .expect_code(0);
    let trials = desk.exact_trials();
    let written = |trial: usize| number(&phase(&trials[trial], "write")["device"]["write_bytes"]);
    let traced =
        |trial: usize| number(&phase(&trials[trial], "write")["insight"]["writes"]["all"]["bytes"]);
    let one = written(0) as f64;
    for (trial, copies) in [(1, 1.0), (2, 2.0), (3, 3.0)] {
        let ratio = written(trial) as f64 / one;
        assert!(
            (ratio / copies - 1.0).abs() < 0.1,
            "{}: {ratio}",
            words[trial]
        );
        assert_eq!(written(trial), traced(trial), "{}", words[trial]);
    }
    let capacity = |trial: usize| number(&trials[trial]["insight"]["capacity_sectors"]);
    assert_eq!(capacity(2), 2 * capacity(0));
    let fact = |trial: usize, name: &str| -> u64 {
        let text = trials[trial]["facts"][name].as_str().expect(name);
        text.parse().expect("a number")
    };
    assert_eq!(fact(3, "stack.disk_bytes"), 3 * 512 * capacity(0));
    let share = fact(3, "stack.device_bytes") as f64 / fact(3, "stack.disk_bytes") as f64;
    assert!((0.32..1.0 / 3.0).contains(&share), "{share}");
}

/// A layer that passes everything on costs nothing.
#[test]
fn a_linear_layer_takes_no_time() {
    let Some(desk) = Desk::new().with_lab("stacks, linear") else {
        return;
    };
    let words = [
        "ext4",
        "ext4/linear",
        "--study",
        SMALL_STUDY,
        "--repeats",
        "1",
    ];
    desk.compare_in_sim(&words).expect_code(0);
    let trials = desk.exact_trials();
    let elapsed = |trial: usize| number(&phase(&trials[trial], "write")["elapsed_ns"]) as f64;
    let ratio = elapsed(1) / elapsed(0);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

/// A disk fails, the array is written without it, and a new disk gets everything: what was written
/// is read back and compared, and the array agrees with itself.
#[test]
fn an_array_loses_a_disk_is_rebuilt_and_has_everything() {
    let Some(desk) = Desk::new().with_lab("stacks, degraded") else {
        return;
    };
    std::fs::write(desk.path("failure.toml"), FAILURE).expect("the study");
    let words = ["ext4/raid1x2", "ext4/luks/raid5x3", "btrfs:raid1x2", "ext4"];
    let study = ["--study", "./failure.toml", "--repeats", "1"];
    desk.compare_in_sim(&[&words[..], &study].concat())
        .expect_code(0);
    let trials = desk.exact_trials();
    let outcome = |trial: usize, name: &str| {
        let phase = phase(&trials[trial], name);
        let text = |key: &str| phase[key].as_str().unwrap_or_default().to_owned();
        (text("outcome"), text("reason"))
    };
    let done = ("done".to_owned(), String::new());
    for trial in [0, 1] {
        assert_eq!(trials[trial]["outcome"], "done", "{}", words[trial]);
        for name in [
            "scrub",
            "fail-disk",
            "degraded",
            "rebuild",
            "compared",
            "again",
        ] {
            assert_eq!(outcome(trial, name), done, "{}: {name}", words[trial]);
        }
        // All that a member has is written to the new one.
        let rebuilt = phase(&trials[trial], "rebuild");
        let member = number(&rebuilt["bytes"]);
        let written = number(&rebuilt["device"]["write_bytes"]);
        assert!(
            (member..member + (16 << 20)).contains(&written),
            "{written}"
        );
    }
    assert_eq!(outcome(2, "scrub"), done);
    assert!(outcome(2, "fail-disk").1.contains("no array of md"));
    for name in ["degraded", "rebuild"] {
        assert_eq!(outcome(2, name).1, "no disk has failed", "{name}");
    }
    assert!(
        outcome(3, "scrub")
            .1
            .contains("no array of md, and is not Btrfs")
    );
}

/// The phases of a failure.
const FAILURE: &str = r#"
format = 1
name = "failure"
title = "A disk fails"
size = "160MiB"
repeats = 1

[[phase]]
name = "write"
workload = "write"
file_size = "8MiB"

[[phase]]
name = "scrub"
workload = "scrub"

[[phase]]
name = "fail-disk"
workload = "fail-disk"
group = "failure"

[[phase]]
name = "degraded"
workload = "rewrite"
file_size = "8MiB"
group = "failure"

[[phase]]
name = "rebuild"
workload = "rebuild"
group = "failure"

[[phase]]
name = "compared"
workload = "io"
cache = "cold"
direction = "read"
open = "existing"
file_size = "8MiB"
record = "1MiB"
verify = true
generation = 1
group = "failure"

[[phase]]
name = "again"
workload = "scrub"
group = "failure"
"#;

#[test]
fn what_cannot_be_stacked_is_refused_with_the_way_out() {
    let desk = Desk::new();
    for (words, reason, hint) in [
        (
            &["ext4/lucks"][..],
            "no file system 'ext4/lucks'",
            "ext4/luks",
        ),
        (
            &["ext4/raid5"],
            "needs the number of its members",
            "raid5x3",
        ),
        (&["ext4:raid5x4"], "on one device", "ext4/raid5x4"),
        (&["tmpfs/luks"], "lies on no device", "without layers"),
        (&["btrfs:raid6x2"], "at least 3 disks", "raid6x3"),
        (&["ext4/luks:key-file=x"], "key-file", "cipher, key-size"),
    ] {
        let ended = desk.run(&[&["compare"], words, &["--dry-run"]].concat());
        ended.expect_code(2);
        let said = &ended.err;
        assert!(
            said.contains(reason) && said.contains(hint),
            "{words:?}: {said}"
        );
    }
}

/// Loop devices with layers on them, where the kernel of this machine has the device mapper and md.
#[test]
fn layers_on_loop_devices_are_made_and_nothing_of_them_is_left() {
    let test = "layers on loop devices";
    if !std::path::Path::new("/sys/class/misc/device-mapper").exists() {
        return skip(test, "this kernel has no device mapper");
    }
    let Some(_turn) = can_mount(test, &["cryptsetup", "lvm", "mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let probe = [
        "ext4/luks",
        "ext4/lvm",
        "--study",
        SMALL_STUDY,
        "--repeats",
        "1",
    ];
    let venue = ["--venue", "loop", "--images", "images", "--out", "out"];
    desk.run(&[&["compare"], &probe[..], &venue].concat())
        .expect_code(0);
    desk.expect_nothing_left();
    let mappings = std::fs::read_dir("/dev/mapper").expect("a directory");
    let left = mappings
        .flatten()
        .filter(|it| it.file_name().to_string_lossy().starts_with("fslab_"));
    assert_eq!(left.count(), 0);
}
