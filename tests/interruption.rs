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
    "--folder",
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
fn wait_for_first_trial(child: &mut Child) {
    let errors = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut lines = errors.lines();
    let done = lines.find(|line| line.as_ref().is_ok_and(|line| line.starts_with("1/")));
    assert!(done.is_some(), "the run ended before its first trial");
    // Somebody must go on reading, or the run would wait for room in the pipe.
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
    assert!(cleaned.out.contains("undone: "), "{}", cleaned.out);
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

#[test]
fn a_trial_over_its_limit_is_ended_and_recorded_with_its_place() {
    let desk = Desk::new();
    let endless = "format = 1\nname = 'endless'\ntitle = 'e'\nsize = '4MiB'\nrepeats = 1\n\
                   trial_limit_s = 60\n[[phase]]\nname = 'forever'\nworkload = 'io'\n\
                   file_size = '1MiB'\namount = { time-ns = 60_000_000_000 }\n";
    std::fs::write(desk.path("endless.toml"), endless).expect("a study");
    let ended = desk.run(&[
        "compare",
        "--study",
        "./endless.toml",
        "--venue",
        "dir",
        "--out",
        "out",
        "--trial-limit",
        "1",
    ]);
    ended.expect_code(3);
    let run = desk.last_run();
    let failure = &run["trials"][0]["failure"];
    assert_eq!(failure["kind"], "timeout", "{failure}");
    assert!(
        failure["message"]
            .as_str()
            .is_some_and(|text| text.contains("'forever'"))
    );
}
