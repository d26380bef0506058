//! Job files of fio and filebench in the place of a study.

use std::fs;

use serde_json::Value;

use crate::harness::{Desk, turn};

const JOB: &str = include_str!("fixtures/jobs/mixed.fio");
const MAIL: &str = include_str!("fixtures/jobs/mail.f");

fn desk() -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("job.fio"), JOB).expect("written");
    fs::write(desk.path("common.inc"), "thread\n").expect("written");
    desk
}

#[test]
fn a_job_file_runs_in_a_directory_as_its_study_would() {
    let _turn = turn();
    let desk = desk();
    let words = ["run", "job.fio", "--set", "env.SIZE=1m", "--repeats", "1"];
    let ended = desk.run(&[&words[..], &["--dir", "."]].concat());
    ended.expect_code(0);
    assert!(ended.err.contains("option"), "{}", ended.err);
    let run = desk.last_run();
    assert_eq!(run["plan"]["study"], "job");
    let phases = run["trials"][0]["phases"].as_array().expect("phases");
    let of = |name: &str| {
        let phase = phases.iter().find(|phase| phase["name"] == name);
        phase.unwrap_or_else(|| panic!("no phase {name}"))
    };
    assert_eq!(of("fill")["operations"], 256);
    // Two copies of one job, each over the whole file, and a third job on another file.
    let both = of("both+look");
    assert_eq!(both["operations"], 3 * 256, "{both}");
    assert_eq!(both["threads"].as_array().map(Vec::len), Some(3));
    let shown = desk.run(&["study", "show", "job.fio", "--toml", "--set", "env.SIZE=1m"]);
    shown.expect_code(0);
    fs::write(desk.path("kept.toml"), &shown.out).expect("written");
    let hash = |words: &[&str]| {
        let ended =
            desk.run(&[words, &["--dir", ".", "--seed", "3", "--dry-run", "--json"]].concat());
        ended.expect_code(0);
        let plan: Value = serde_json::from_str(&ended.out).expect("a plan");
        plan["phases"].clone()
    };
    let kept = hash(&["run", "./kept.toml", "--repeats", "1"]);
    assert_eq!(kept, hash(&words), "the study that is printed is another");
}

#[test]
fn what_is_left_out_is_listed_and_what_cannot_be_used_is_named_at_once() {
    let desk = desk();
    let dry = ["run", "job.fio", "--dir", ".", "--dry-run"];
    let listed = desk.run(&[&dry[..], &["--set", "env.SIZE=1m"]].concat());
    listed.expect_code(0);
    for note in [
        "note     [global] write_bw_log: it changes only fio's logs",
        "note     [fill] filename=/data/pages: the file is pages in the measured file system",
    ] {
        assert!(listed.out.contains(note), "{note}: {}", listed.out);
    }
    let text = format!("{JOB}exec_prerun=touch hurt\nioengine=rdma\n");
    fs::write(desk.path("job.fio"), text).expect("written");
    let refused = desk.run(&dry);
    refused.expect_code(2);
    for problem in [
        "line 3: [global] size=${SIZE}: the variable SIZE has no value",
        "a job file starts no program",
        "it works over a network",
    ] {
        assert!(refused.err.contains(problem), "{problem}: {}", refused.err);
    }
    assert!(!desk.path("hurt").exists());
}

#[test]
fn a_personality_runs_as_a_loop_over_its_files() {
    let _turn = turn();
    let desk = Desk::new();
    fs::write(desk.path("mail.f"), MAIL).expect("written");
    let ended = desk.run(&["run", "mail.f", "--dir", ".", "--repeats", "1"]);
    ended.expect_code(0);
    let run = desk.last_run();
    let phase = &run["trials"][0]["phases"][0];
    assert_eq!(
        (&phase["name"], &phase["workload"]),
        (&"server".into(), &"personality".into())
    );
    assert_eq!(phase["bytes"], 20 * 4096);
}
