//! Ctrl-C, kill -9 and --resume: nothing that is done is lost, and nothing is left behind.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::harness::{Desk, can_mount};

const COMPARE: [&str; 12] = [
    "compare",
    "ext4",
    "ext2",
    "--study",
    "./small.toml",
    "--images",
    "images",
    "--out",
    "out",
    "--repeats",
    "2",
    "--resume",
];

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_child(child);
    rustix::process::kill_process(pid, signal).expect("the process is there");
}

/// Waits until the run says that its first trial is done.
pub(crate) fn wait_for_first_trial(child: &mut Child) {
    let errors = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut lines = errors.lines();
    let done = lines.find(|line| line.as_ref().is_ok_and(|line| line.starts_with("1/")));
    assert!(done.is_some(), "the run ended before its first trial");
    // The pipe must be read, or the run would wait for space in it.
    std::thread::spawn(move || lines.for_each(drop));
}

fn stored_trials(desk: &Desk) -> usize {
    desk.last_run()["trials"].as_array().map_or(0, Vec::len)
}

#[test]
fn ctrl_c_keeps_what_is_done_and_resume_does_the_rest() {
    let Some(_turn) = can_mount("ctrl-c", &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let mut child = desk.start(&COMPARE);
    wait_for_first_trial(&mut child);
    signal(&child, Signal::INT);
    let began = Instant::now();
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
    assert!(began.elapsed() < Duration::from_secs(20));
    desk.expect_nothing_left();
    let before = stored_trials(&desk);
    assert!((1..4).contains(&before), "{before} trials");
    let resumed = desk.run(&COMPARE);
    resumed.expect_code(0);
    assert!(
        resumed
            .err
            .contains(&format!("{before} of 4 trials are done already"))
    );
    assert_eq!(stored_trials(&desk), 4);
}

#[test]
fn kill_9_of_the_run_loses_one_trial_and_clean_removes_what_it_left() {
    let Some(_turn) = can_mount("kill -9", &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let mut child = desk.start(&COMPARE);
    wait_for_first_trial(&mut child);
    // In the middle of the second trial: its image is there.
    let began = Instant::now();
    let image_there = || {
        std::fs::read_dir(desk.path("images"))
            .expect("images")
            .flatten()
            .next()
            .is_some()
    };
    while !image_there() && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(150));
    signal(&child, Signal::KILL);
    child.wait().expect("it ends");
    assert!(
        image_there(),
        "the run was killed too late to leave anything"
    );
    let cleaned = desk.run(&["clean"]);
    cleaned.expect_code(0);
    assert!(cleaned.out.contains("removed: "), "{}", cleaned.out);
    desk.expect_nothing_left();
    assert!(desk.run(&["clean"]).out.contains("nothing to clean"));
    assert!((1..4).contains(&stored_trials(&desk)));
    desk.run(&COMPARE).expect_code(0);
    assert_eq!(stored_trials(&desk), 4);
    desk.expect_nothing_left();
}

#[test]
fn the_next_start_after_kill_9_cleans_up_by_itself() {
    let Some(_turn) = can_mount("restart", &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let mut child = desk.start(&COMPARE);
    wait_for_first_trial(&mut child);
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, Signal::KILL);
    child.wait().expect("it ends");
    desk.run(&COMPARE).expect_code(0);
    assert_eq!(stored_trials(&desk), 4);
    desk.expect_nothing_left();
}

const ENDLESS: [&str; 11] = [
    "compare",
    "--study",
    "./endless.toml",
    "--venue",
    "dir",
    "--out",
    "out",
    "--seed",
    "7",
    "--trial-limit",
    "1",
];

/// A desk with a study whose one trial ends at its limit alone.
fn endless_desk() -> Desk {
    let desk = Desk::new();
    let endless = "format = 1\nname = 'endless'\ntitle = 'e'\nsize = '4MiB'\nrepeats = 1\n\
                   trial_limit_s = 60\n[[phase]]\nname = 'forever'\nworkload = 'io'\n\
                   file_size = '1MiB'\namount = { time-ns = 60_000_000_000 }\n";
    std::fs::write(desk.path("endless.toml"), endless).expect("a study");
    desk
}

/// The same command with another limit.
fn endless_for(limit_s: &'static str) -> Vec<&'static str> {
    [&ENDLESS[..10], &[limit_s]].concat()
}

/// The process of the trial that `run` has started.
fn trial_of(run: &Child) -> Pid {
    let began = Instant::now();
    loop {
        let trial = std::fs::read_dir("/proc")
            .expect("proc")
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
            .find(|pid| parent(*pid) == Some(run.id()) && is_trial(*pid));
        if let Some(pid) = trial.and_then(Pid::from_raw) {
            // It listens to signals some milliseconds after its start.
            std::thread::sleep(Duration::from_millis(300));
            return pid;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "no trial begins");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A run has other children, too: what touches its directories and devices.
fn is_trial(pid: i32) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).nth(1) == Some(b"trial")
}

fn parent(pid: i32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

#[test]
fn a_trial_over_its_limit_is_ended_and_recorded_with_its_place() {
    let desk = endless_desk();
    desk.run(&ENDLESS).expect_code(3);
    let run = desk.last_run();
    let failure = &run["trials"][0]["failure"];
    assert_eq!(failure["kind"], "timeout", "{failure}");
    assert!(
        failure["message"]
            .as_str()
            .is_some_and(|text| text.contains("'forever'"))
    );
}

/// Such a trial used to count as not begun, and the run did not report it; later it was stored as a
/// failure of its subject, which a resumed run did not repeat.
#[test]
fn a_trial_that_somebody_else_ends_is_reported_and_a_resumed_run_repeats_it() {
    for (by, what) in [(Signal::TERM, "not by this run"), (Signal::KILL, "SIGKILL")] {
        let desk = endless_desk();
        let mut child = desk.start(&endless_for("60"));
        let trial = trial_of(&child);
        rustix::process::kill_process(trial, by).expect("the trial is there");
        let mut said = String::new();
        let mut errors = child.stderr.take().expect("piped");
        std::io::Read::read_to_string(&mut errors, &mut said).expect("text");
        assert_eq!(child.wait().expect("it ends").code(), Some(3), "{said}");
        assert!(
            said.contains(what) && said.contains("1 trial missing"),
            "{said}"
        );
        let trials = || desk.last_run()["trials"].as_array().map_or(0, Vec::len);
        assert_eq!(trials(), 0);
        let mut resume = endless_for("3");
        resume.push("--resume");
        desk.run(&resume).expect_code(3);
        assert_eq!(trials(), 1, "the limit of its time is its own");
        desk.expect_nothing_left();
    }
}

#[test]
fn a_run_that_is_under_way_is_not_resumed_and_a_killed_one_is() {
    let desk = endless_desk();
    let mut child = desk.start(&endless_for("60"));
    trial_of(&child);
    let mut resume = ENDLESS.to_vec();
    resume.push("--resume");
    desk.run(&resume)
        .expect_code(2)
        .expect_error("is under way", "wait");
    signal(&child, Signal::KILL);
    child.wait().expect("it ends");
    desk.run(&resume).expect_code(3);
    let run = desk.last_run();
    assert_eq!(run["trials"][0]["failure"]["kind"], "timeout", "{run}");
    desk.expect_nothing_left();
}

#[test]
fn a_hang_up_that_the_parent_ignores_does_not_stop_the_run() {
    let desk = endless_desk();
    for (ignored, kind) in [(true, Some("timeout")), (false, None)] {
        let start = if ignored {
            "trap '' HUP; exec \"$@\""
        } else {
            // The caller of this test may ignore it, too, and a shell cannot undo that.
            "exec env --default-signal=HUP \"$@\""
        };
        let mut words = vec!["-c", start, "sh", env!("CARGO_BIN_EXE_fslab")];
        words.extend(endless_for("3"));
        let mut child = desk.start_as_is("/bin/sh", &words);
        trial_of(&child);
        signal(&child, Signal::HUP);
        assert_eq!(child.wait().expect("it ends").code(), Some(3));
        let run = desk.last_run();
        assert_eq!(run["trials"][0]["failure"]["kind"].as_str(), kind, "{run}");
    }
}

/// An unmount by another program went unnoticed until the end, and what the trial then wrote into
/// the directory below could not be removed.
#[test]
fn a_foreign_lazy_unmount_fails_the_trial_and_leaves_nothing() {
    let Some(_turn) = can_mount("foreign unmount", &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let study = "format = 1\nname = 'long'\ntitle = 'l'\nsize = '160MiB'\nrepeats = 1\n\
                 trial_limit_s = 60\n[[phase]]\nname = 'first'\nworkload = 'io'\n\
                 file_size = '1MiB'\namount = { time-ns = 4_000_000_000 }\n\
                 [[phase]]\nname = 'second'\nworkload = 'create'\n";
    std::fs::write(desk.path("long.toml"), study).expect("a study");
    let mut child = desk.start(&[
        "compare",
        "ext4",
        "--study",
        "./long.toml",
        "--images",
        "images",
        "--out",
        "out",
    ]);
    let images = desk.path("images");
    let mounted = || {
        let table = std::fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
        let places = table.lines().filter_map(|line| line.split(' ').nth(4));
        let mut ours = places.filter(|place| place.starts_with(images.to_str().expect("text")));
        ours.next().map(str::to_owned)
    };
    let began = Instant::now();
    let place = loop {
        if let Some(place) = mounted() {
            break place;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "never mounted");
        std::thread::sleep(Duration::from_millis(5));
    };
    // In the middle of the first phase.
    std::thread::sleep(Duration::from_secs(1));
    let status = std::process::Command::new("umount")
        .args(["-l", &place])
        .status();
    assert!(status.expect("umount starts").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
    let run = desk.last_run();
    let failure = &run["trials"][0]["failure"];
    assert!(
        failure.to_string().contains("another program unmounted it"),
        "{run}"
    );
    desk.run(&["clean"]).expect_code(0);
    desk.expect_nothing_left();
}
