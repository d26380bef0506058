//! What the machine below a trial does to it is no result of its subject: it is not stored, and a
//! resumed run repeats it; or the trial lives on.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::guest_venue::ImagesInMemory;
use crate::harness::{Desk, can_mount};

/// A wait in which the test acts, and then a write of most of the disk.
const STUDY: &str = "format = 1\nname = 'host'\ntitle = 'h'\nsize = '256MiB'\nrepeats = 1\n\
                     trial_limit_s = 300\n[[phase]]\nname = 'wait'\nworkload = 'io'\n\
                     file_size = '1MiB'\namount = { time-ns = 8_000_000_000 }\n\
                     [[phase]]\nname = 'write'\nworkload = 'write'\nrecord = '1MiB'\n";

const GUEST: [&str; 10] = [
    "compare",
    "ext4",
    "--study",
    "./host.toml",
    "--venue",
    "guest",
    "--images",
    "images",
    "--out",
    "out",
];

/// The events of the trials whose directories are in `images`.
fn events(images: &Path) -> String {
    let folders = fs::read_dir(images).into_iter().flatten().flatten();
    let events = folders.map(|folder| folder.path().join("share/events"));
    events
        .filter_map(|it| fs::read_to_string(it).ok())
        .collect()
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_there() {
        assert!(began.elapsed() < Duration::from_secs(120), "no {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// When the trial had failed there was room again, and the failure was stored as one of ext4, with
/// the hint to take a larger --size.
#[test]
fn a_disk_of_images_that_was_full_for_a_moment_is_named_and_nothing_is_stored() {
    let Some(desk) = Desk::new().with_lab("guest, full for a moment") else {
        return;
    };
    let Some(_turn) = can_mount("guest, full for a moment", &[]) else {
        return;
    };
    let images = ImagesInMemory::mount(desk.path("images"), "2g");
    fs::write(desk.path("host.toml"), STUDY).expect("a study");
    let run = desk.start(&GUEST);
    wait_for("guest", || events(&images.0).contains("\"wait\""));
    images.fill();
    // The phase fails, and others beside the trial make room before it ends.
    wait_for("failure", || {
        let folders = fs::read_dir(&images.0).expect("images").count();
        events(&images.0).contains("os error 28") || folders == 1
    });
    fs::remove_file(images.0.join("fill")).expect("ours");
    let ended = run.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    let full = format!("the disk of {} is full", images.0.display());
    assert!(said.contains(&full) && !said.contains("--size"), "{said}");
    assert_eq!(desk.last_run()["trials"].as_array().map(Vec::len), Some(0));
    drop(images);
    desk.expect_nothing_left();
}

/// All processes below `root`, and itself, the parents first.
fn family(root: u32) -> Vec<Pid> {
    let mut parents = BTreeMap::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse::<u32>().ok()
        };
        if let (Some(pid), Some(parent)) = (field("Pid:"), field("PPid:")) {
            parents.insert(pid, parent);
        }
    }
    let mut found = vec![root];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(parents.iter().filter(|it| *it.1 == parent).map(|it| *it.0));
        next += 1;
    }
    let pids = found.into_iter().filter_map(|pid| i32::try_from(pid).ok());
    pids.filter_map(Pid::from_raw).collect()
}

/// The guest kernel traces the processes of its guest, saw their SIGSTOP and SIGCONT, and died of
/// them: "the guest kernel died" was stored as a failure of the subject.
#[test]
fn a_guest_whose_processes_are_all_stopped_and_continued_lives_on() {
    let Some(desk) = Desk::new().with_lab("guest, stopped") else {
        return;
    };
    fs::write(desk.path("host.toml"), STUDY).expect("a study");
    fs::create_dir_all(desk.path("images")).expect("a directory");
    let run = desk.start(&GUEST);
    wait_for("guest", || {
        events(&desk.path("images")).contains("\"wait\"")
    });
    for _ in 0..10 {
        let all = family(run.id());
        assert!(all.len() > 3, "the run, the guest, and what it traces");
        for signal in [Signal::STOP, Signal::CONT] {
            for pid in &all {
                // It may have ended.
                let _ = kill_process(*pid, signal);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    let ended = run.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    desk.expect_nothing_left();
}

/// The loop device below `images` that was mounted and is not any more.
fn unmounted_loop(images: &Path, was_mounted: &mut bool) -> Option<String> {
    let devices = fs::read_dir("/sys/block").ok()?.flatten();
    let device = devices.map(|it| it.path()).find(|it| {
        let below = fs::read_to_string(it.join("loop/backing_file")).unwrap_or_default();
        Path::new(below.trim()).starts_with(images)
    })?;
    let name = format!("/dev/{}", device.file_name()?.to_str()?);
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let is_mounted = mounts
        .lines()
        .any(|line| line.starts_with(&format!("{name} ")));
    *was_mounted |= is_mounted;
    (*was_mounted && !is_mounted).then_some(name)
}

/// The check was tried once, and btrfs-check ends with 1 for a busy device as for a damaged one:
/// "found errors" was stored, and the subject took no part.
#[test]
fn a_device_that_another_program_holds_at_the_check_is_waited_for() {
    const EXCLUSIVE: i32 = 0o200;
    let Some(_turn) = can_mount("busy check", &["mkfs.btrfs"]) else {
        return;
    };
    let desk = Desk::new();
    let images = desk.path("images");
    fs::create_dir_all(&images).expect("a directory");
    let (is_over, held) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut was_mounted = false;
            while !is_over.load(Ordering::Relaxed) && !held.load(Ordering::Relaxed) {
                let Some(device) = unmounted_loop(&images, &mut was_mounted) else {
                    continue;
                };
                let mut open = fs::File::options();
                if let Ok(_file) = open.read(true).custom_flags(EXCLUSIVE).open(device) {
                    held.store(true, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(1_500));
                }
            }
        });
        let study = STUDY.replace("8_000_000_000", "1_000_000");
        fs::write(desk.path("host.toml"), study).expect("a study");
        let words = [
            "compare",
            "btrfs",
            "--study",
            "./host.toml",
            "--venue",
            "loop",
        ];
        let options = ["--images", "images", "--out", "out"];
        let ended = desk.run(&[&words[..], &options].concat());
        is_over.store(true, Ordering::Relaxed);
        ended.expect_code(0);
    });
    assert!(held.load(Ordering::Relaxed), "the device was held");
    desk.expect_nothing_left();
}

/// Each of these ended in a failed trial of the subject, or in one after the other.
#[test]
fn limits_on_this_process_that_are_too_low_are_said_before_any_trial() {
    let Some(desk) = Desk::new().with_lab("guest, limits") else {
        return;
    };
    fs::write(desk.path("host.toml"), STUDY).expect("a study");
    fs::create_dir_all(desk.path("images")).expect("a directory");
    for (limit, remedy) in [
        ("ulimit -v 600000", "ulimit -v unlimited"),
        ("ulimit -f 100000", "ulimit -f unlimited"),
        ("ulimit -n 20", "ulimit -n 1024"),
    ] {
        let script = format!("{limit}; exec \"$@\"");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_fslab")]);
        shell.args(GUEST);
        let ended = desk.run_as_is(shell);
        ended
            .expect_code(4)
            .expect_error("the limit of this process is", remedy);
    }
}
