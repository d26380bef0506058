//! Real jobs under mpirun, on the `fake` file system, which needs no device and no lab.

mod desk;
mod load;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use desk::{Desk, is_open_mpi, processes, text};

const RUN: [&str; 6] = ["run", "study.toml", "--fs", "fake", "--store", "s.db"];

fn run(desk: &Desk, options: &[&str], more: &[&str]) -> Command {
    desk.job(options, &[&RUN[..], more].concat())
}

#[test]
fn a_job_of_four_ranks_runs_every_trial_of_a_plain_run() {
    let Some(desk) = Desk::new() else { return };
    let plain = Command::new(desk.path("bin/fslab"))
        .args(RUN.map(|word| if word == "s.db" { "plain.db" } else { word }))
        .current_dir(desk.folder.path())
        .env("HOME", desk.folder.path())
        .output()
        .expect("fslab starts");
    assert!(plain.status.success(), "{}", text(&plain));
    let output = run(&desk, &["-np", "4"], &[])
        .output()
        .expect("mpirun starts");
    assert!(output.status.success(), "{}", text(&output));
    let trials = desk.trials("s.db");
    assert_eq!(trials.len(), 40, "{trials:?}");
    assert_eq!(trials, desk.trials("plain.db"));
}

#[test]
fn a_rank_with_another_build_is_refused_by_name() {
    let Some(desk) = Desk::new() else { return };
    let other = desk.install("other", &desk.path("bin/fslab"));
    let mut bytes = fs::read(desk.path("other/fslab")).expect("read");
    bytes.push(0);
    fs::write(desk.path("other/fslab"), bytes).expect("written");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(desk.path("other/fslab"), mode).expect("executable");
    let output = desk
        .mpirun(&["-np", "2"])
        .arg(desk.path("bin/fslab-mpi"))
        .args(RUN)
        .args([":", "-np", "1"])
        .arg(other)
        .output()
        .expect("mpirun starts");
    let said = text(&output);
    assert!(!output.status.success());
    assert!(
        said.contains("rank 2 on ") && said.contains("a different build"),
        "{said}"
    );
}

#[test]
fn one_rank_and_other_commands_are_refused_with_a_hint() {
    let Some(desk) = Desk::new() else { return };
    let alone = run(&desk, &["-np", "1"], &[])
        .output()
        .expect("mpirun starts");
    assert_eq!(alone.status.code(), Some(2));
    assert!(
        text(&alone).contains("at least two ranks"),
        "{}",
        text(&alone)
    );
    let list = desk
        .job(&["-np", "2"], &["list"])
        .output()
        .expect("mpirun starts");
    assert_eq!(list.status.code(), Some(2));
    assert!(text(&list).contains("use `fslab`"), "{}", text(&list));
}

/// Kills a process of a job of three ranks after its first trial, by the end of its command line.
/// The job's output, and whether it ended by itself with a report.
fn kill_one_of(desk: &Desk, program: &str, options: &[&str]) -> Output {
    let mut job = run(desk, options, &[])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mpirun starts");
    let errors = BufReader::new(job.stderr.take().expect("a pipe"));
    let mut lines = errors.lines().map_while(Result::ok);
    let is_progress = |line: &String| line.trim_start().contains("/40 ");
    let begun = lines.find(is_progress);
    assert!(begun.is_some(), "the job ended before its first trial");
    let victims = processes(desk, program);
    let victim = victims.last().expect("it runs").to_string();
    let killed = Command::new("kill").args(["-KILL", &victim]).status();
    assert!(killed.expect("kill starts").success());
    // The pipe must be read, or the job would wait for space in it.
    let errors: Vec<String> = lines.collect();
    let mut output = job.wait_with_output().expect("mpirun ends");
    output.stderr = errors.join("\n").into_bytes();
    output
}

/// The worker dies, its rank lives: the conductor learns it at once.
#[test]
fn a_killed_worker_costs_its_trial_and_a_resumed_run_repeats_it() {
    let Some(desk) = Desk::new() else { return };
    let output = kill_one_of(&desk, "fslab worker", &["-np", "3"]);
    assert!(!output.status.success(), "{}", text(&output));
    assert_eq!(desk.trials("s.db").len(), 39, "{}", text(&output));
    let resumed = run(&desk, &["-np", "3"], &["--resume"])
        .output()
        .expect("starts");
    assert!(resumed.status.success(), "{}", text(&resumed));
    assert_eq!(desk.trials("s.db").len(), 40);
}

/// Under Open MPI with recovery its silence is noticed after a minute; MPICH ends the job.
#[test]
fn a_killed_rank_costs_its_trial_and_a_resumed_run_repeats_it() {
    let Some(desk) = Desk::new() else { return };
    let mut options = vec!["-np", "3"];
    if is_open_mpi() {
        options.push("--enable-recovery");
    }
    let output = kill_one_of(&desk, "fslab-mpi run", &options);
    let stored = desk.trials("s.db").len();
    if is_open_mpi() {
        assert!(
            text(&output).contains("has been silent"),
            "{}",
            text(&output)
        );
        assert_eq!(stored, 39, "{}", text(&output));
    }
    assert!(
        (1..40).contains(&stored),
        "{stored} trials: {}",
        text(&output)
    );
    // What the killed job left ends by itself.
    let began = Instant::now();
    while !processes(&desk, "fslab ").is_empty() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "processes are left"
        );
        sleep(Duration::from_millis(100));
    }
    let resumed = run(&desk, &["-np", "3"], &["--resume"])
        .output()
        .expect("starts");
    assert!(resumed.status.success(), "{}", text(&resumed));
    assert_eq!(desk.trials("s.db").len(), 40);
}
