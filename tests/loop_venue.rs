//! The venue `loop`: file systems that are really formatted, mounted, measured and unmounted.

use std::process::Command;

use crate::harness::{Desk, can_mount};

fn compare(desk: &Desk, subjects: &[&str], options: &[&str]) -> crate::harness::Ended {
    let mut arguments = vec!["compare"];
    arguments.extend(subjects);
    arguments.extend([
        "--study",
        "./small.toml",
        "--images",
        "images",
        "--out",
        "out",
    ]);
    arguments.extend(options);
    desk.run(&arguments)
}

#[test]
fn a_budget_that_is_used_up_ends_the_repeats_and_says_what_is_open() {
    let Some(_turn) = can_mount("loop venue", &["mkfs.ext2", "mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let ended = compare(&desk, &["ext2", "ext4"], &["--budget", "1s"]);
    ended.expect_code(0);
    let said = "no further repeat: it would exceed --budget";
    assert!(ended.err.contains(said), "{}", ended.err);
    let run = desk.last_run();
    // The least repeats of the study, whatever the budget.
    assert_eq!(run["trials"].as_array().expect("trials").len(), 4);
}

/// Another run of the same command takes the scale of the first, so that the two compare.
#[test]
fn a_pilot_chooses_the_scale_that_fits_the_budget_and_the_next_run_has_it_too() {
    let Some(_turn) = can_mount("the pilot", &["mkfs.ext2", "mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let run = |more: &[&str]| {
        let words = [
            "compare", "ext2", "ext4", "--images", "images", "--out", "out",
        ];
        let budget = ["--budget", "1s", "--set", "repeats=1"];
        let ended = desk.run(&[&words[..], &budget, more].concat());
        ended.expect_code(0);
        desk.expect_nothing_left();
        ended.err
    };
    let shown = run(&["--dry-run"]);
    assert!(shown.contains("the plan is shown at scale 1"), "{shown}");
    let first = run(&[]);
    assert!(
        first.contains("pilot: one trial of each subject at scale 1/16"),
        "{first}"
    );
    assert!(
        first.contains("; the minimum of 1 exceeds the budget"),
        "{first}"
    );
    assert_eq!(desk.last_run()["plan"]["scale"], "1/16");
    let name = desk.last_run()["run"].as_str().expect("a name").to_owned();
    let next = run(&[]);
    assert!(
        next.contains(&format!("scale 1/16, as in the run {name}")),
        "{next}"
    );
    assert!(!next.contains("pilot"), "{next}");
    let all = run(&["--scale", "1"]);
    assert!(
        !all.contains("pilot") && !all.contains("scale 1/16"),
        "{all}"
    );
    desk.run(&["diff", "last~2", "last~1"]).expect_code(0);
}

#[test]
fn ext_xfs_and_btrfs_are_compared_and_nothing_is_left() {
    let Some(_turn) = can_mount("loop venue", &["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"]) else {
        return;
    };
    let desk = Desk::new();
    let subjects = ["ext2", "ext3", "ext4", "xfs", "btrfs"];
    let ended = compare(&desk, &subjects, &["--repeats", "2"]);
    ended.expect_code(0);
    desk.expect_nothing_left();
    let run = desk.last_run();
    let trials = run["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 10);
    let mut uncached = Vec::new();
    for trial in trials {
        let subject = trial["subject"].as_str().expect("a subject");
        let steps: Vec<_> = trial["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .map(|s| &s["step"])
            .collect();
        assert_eq!(steps.first(), Some(&&"mkfs".into()), "{subject}");
        assert_eq!(steps.last(), Some(&&"check".into()), "{subject}");
        assert_eq!(trial["facts"]["loop.direct_io"], "yes");
        let phases = trial["phases"].as_array().expect("phases");
        assert_eq!(phases.len(), 14, "{subject}");
        for phase in phases {
            assert_eq!(phase["outcome"], "done", "{subject}: {phase}");
            assert!(phase["device"]["writes"].is_u64(), "{subject}: {phase}");
            assert!(phase["cpu"]["system_ns"].is_u64(), "{subject}: {phase}");
        }
        let write = &phases[0];
        assert!(
            write["settled"]["unmount_ns"].as_u64() > Some(0),
            "{subject}"
        );
        let counter = |value: &serde_json::Value| value.as_u64().expect("a counter");
        let (asked, written) = (
            counter(&write["bytes"]),
            counter(&write["device"]["write_bytes"]),
        );
        assert!(
            written >= asked,
            "{subject}: {written} of {asked} bytes reached the device"
        );
        let read = &phases[2];
        assert!(
            counter(&read["device"]["read_bytes"]) >= counter(&read["bytes"]),
            "{subject}"
        );
        let reread = &phases[3];
        let (asked, from_device) = (
            counter(&reread["bytes"]),
            counter(&reread["device"]["read_bytes"]),
        );
        uncached.extend((from_device >= asked / 10).then(|| subject.to_owned()));
    }
    // Another program may have dropped the machine's caches between the two phases.
    assert!(
        uncached.len() <= 2,
        "a reread is one of the cache: {uncached:?}"
    );
}

#[test]
fn options_reach_mkfs_and_mount() {
    let Some(_turn) = can_mount("options", &["mkfs.ext4", "mkfs.xfs"]) else {
        return;
    };
    let desk = Desk::new();
    let subjects = [
        "ext4:data=journal",
        "ext4:mkfs=-O ^has_journal",
        "xfs:mkfs=-m reflink=0",
    ];
    compare(&desk, &subjects, &["--repeats", "1"]).expect_code(0);
    let run = desk.last_run();
    let command = |cell: usize, step: &str| {
        let trials = run["trials"].as_array().expect("trials");
        let trial = trials
            .iter()
            .find(|t| t["trial"]["cell"] == cell)
            .expect("the cell");
        let steps = trial["steps"].as_array().expect("steps");
        steps.iter().find(|s| s["step"] == step).expect(step)["command"].to_string()
    };
    assert!(command(0, "mount").contains("data=journal"));
    assert!(command(1, "mkfs").contains("^has_journal"));
    assert!(command(2, "mkfs").contains("reflink=0"));
    desk.expect_nothing_left();
}

#[test]
fn a_mount_option_that_the_kernel_refuses_fails_its_trials_and_no_other() {
    let Some(_turn) = can_mount("refused mount", &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let ended = compare(&desk, &["ext4:nointegrity", "ext2"], &["--repeats", "1"]);
    ended.expect_code(3);
    assert!(
        ended.err.contains("cannot mount ext4:mount=nointegrity"),
        "{}",
        ended.err
    );
    let run = desk.last_run();
    let outcomes: Vec<_> = run["trials"]
        .as_array()
        .expect("trials")
        .iter()
        .map(|t| t["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["failed", "done"]);
    assert_eq!(run["trials"][0]["failure"]["kind"], "mount");
    desk.expect_nothing_left();
}

#[test]
fn a_file_system_that_runs_full_fails_with_its_errno_and_is_cleaned_up() {
    let Some(_turn) = can_mount("full file system", &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let full = std::fs::read_to_string(desk.path("small.toml"))
        .expect("the study")
        .replace("8MiB", "60MiB")
        .replace("320MiB", "64MiB");
    std::fs::write(desk.path("full.toml"), full).expect("a study");
    let ended = desk.run(&[
        "compare",
        "ext4",
        "--study",
        "./full.toml",
        "--images",
        "images",
        "--out",
        "out",
        "--repeats",
        "1",
    ]);
    // The plan's own check sees files that do not fit at all; here they only just do not.
    if ended.code == Some(2) {
        panic!("the plan must not know: {}", ended.err);
    }
    ended.expect_code(3);
    let run = desk.last_run();
    assert_eq!(run["trials"][0]["failure"]["kind"], "no-space");
    assert_eq!(run["trials"][0]["failure"]["errno"], 28);
    let phases = run["trials"][0]["phases"].as_array().expect("phases");
    assert_eq!(phases[0]["outcome"], "failed");
    assert!(
        phases[1..]
            .iter()
            .all(|phase| phase["outcome"] == "skipped")
    );
    desk.expect_nothing_left();
}

/// The directories above a mount were closed to other users, so that no server that refuses root
/// ran.
#[test]
fn a_program_of_another_user_works_in_a_folder_that_is_handed_to_it() {
    let Some(_turn) = can_mount("another user's program", &["mkfs.ext4", "setpriv"]) else {
        return;
    };
    let desk = Desk::new();
    let study = |phase: &str| {
        let head = "format = 1\nname = \"handover\"\ntitle = \"Handover\"\n\
                    subjects = [\"ext4\"]\nsize = \"320MiB\"\nrepeats = 1\n\
                    trial_limit_s = 120\n[[phase]]\nname = \"handed\"\n";
        std::fs::write(desk.path("handover.toml"), format!("{head}{phase}")).expect("a study");
        let words = [
            "run",
            "./handover.toml",
            "--venue",
            "loop",
            "--images",
            "images",
            "--out",
            "out",
            "--allow-commands",
        ];
        desk.run(&words).expect_code(0);
        let trial = desk.last_run()["trials"][0].clone();
        desk.expect_nothing_left();
        trial
    };
    let other = "setpriv --reuid 65534 --regid 65534 --clear-groups sh -c";
    let script = "id -u; echo x > \\\"$HOME/data/file\\\"; cat \\\"$HOME/data/file\\\"; \
                  cat \\\"$HOME/../../disk.img\\\" > /dev/null || echo closed; \
                  ls \\\"$HOME/../..\\\" || echo unlisted";
    let trial = study(&format!(
        "workload = \"command\"\nprepare = \"install -d -o 65534 -g 65534 data\"\n\
         argv = \"{other} '{script}' 2> /dev/null\"\nkeep_output = true\n"
    ));
    assert_eq!(trial["facts"]["mount.other_users"], "yes");
    let notes = trial["phases"][0]["notes"].to_string();
    // Neither the image nor the names beside the mount are open to that user.
    assert!(notes.contains("65534\\nx\\nclosed\\nunlisted"), "{notes}");
    // Nothing is opened for phases that start no program.
    let trial = study("workload = \"write\"\nfile_size = \"1MiB\"\n");
    assert!(trial["facts"]["mount.other_users"].is_null(), "{trial}");
}

/// A disk with sectors of 4096 bytes, mounted; detached when dropped.
struct LargeSectors {
    device: String,
    mounted: std::path::PathBuf,
}

impl LargeSectors {
    fn new(desk: &Desk) -> Self {
        let image = desk.path("large-sectors.img");
        let made = std::fs::File::create(&image).and_then(|file| file.set_len(256 << 20));
        made.expect("an image");
        let image = image.to_str().expect("text");
        let run = |words: &[&str]| {
            let output = Command::new(words[0]).args(&words[1..]).output();
            let output = output.expect("starts");
            assert!(output.status.success(), "{words:?}: {output:?}");
            String::from_utf8(output.stdout).expect("text")
        };
        let device = run(&["losetup", "--find", "--show", "-b", "4096", image]);
        let device = device.trim().to_owned();
        let mounted = desk.path("large-sectors");
        std::fs::create_dir(&mounted).expect("a directory");
        run(&["mkfs.ext4", "-q", &device]);
        run(&["mount", &device, mounted.to_str().expect("text")]);
        Self { device, mounted }
    }
}

impl Drop for LargeSectors {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.mounted).status();
        let _ = Command::new("losetup").args(["-d", &self.device]).status();
    }
}

/// The error named the file system, which has direct I/O, in each trial.
#[test]
fn a_disk_with_larger_sectors_below_the_images_is_named_before_a_trial() {
    let Some(_turn) = can_mount("larger sectors", &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let disk = LargeSectors::new(&desk);
    let images = disk.mounted.to_str().expect("text").to_owned();
    let ended = desk.run(&[
        "compare", "ext4", "ext2", "--venue", "loop", "--images", &images, "--size", "128MiB",
    ]);
    ended.expect_code(4);
    ended.expect_error("sectors of 4096 bytes", "--venue guest");
}
