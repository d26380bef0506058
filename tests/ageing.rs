//! Stages before the phases: a file system is aged or filled, really, on a loop device, and in
//! virtual time.

use std::fs;

use serde_json::Value;

use crate::harness::{Desk, Ended, can_mount};

/// One small write and its cold read, on 64 MiB.
const STUDY: &str = "format = 1\nname = 'aged'\ntitle = 'aged'\nsize = '64MiB'\nrepeats = 1\n\
     trial_limit_s = 120\n\
     [[phase]]\nname = 'write'\nworkload = 'write'\nfile_size = '2MiB'\n\
     [[phase]]\nname = 'read'\nworkload = 'read'\ncache = 'cold'\nfile_size = '2MiB'\n\
     [[phase]]\nname = 'reread'\nworkload = 'read'\ncache = 'warm'\nfile_size = '2MiB'\n";

fn compare(desk: &Desk, venue: &str, subjects: &[&str]) -> Ended {
    fs::write(desk.path("aged.toml"), STUDY).expect("the study");
    let options = ["--venue", venue, "--study", "./aged.toml", "--seed", "7"];
    let folders = ["--images", "images", "--out", "out", "--repeats", "1"];
    let ended = desk.run(&[&["compare"], subjects, &options, &folders].concat());
    desk.expect_nothing_left();
    ended
}

fn fact(trial: &Value, name: &str) -> f64 {
    let text = trial["facts"][name].as_str();
    let text = text.unwrap_or_else(|| panic!("no {name}: {}", trial["facts"]));
    text.parse().expect("a number")
}

#[test]
fn churn_brings_the_layout_score_down_and_fills_as_far_as_asked() {
    let Some(_turn) = can_mount("ageing", &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let aged = "ext4:age=mail,full=85%,turnover=2";
    compare(&desk, "loop", &[aged, "ext4:fill=50%"]).expect_code(0);
    let run = desk.last_run();
    let trials = run["trials"].as_array().expect("trials");
    let of = |subject: &str| trials.iter().find(|it| it["subject"] == subject);
    let (aged, filled) = (
        of(aged).expect("aged"),
        of("ext4:fill=50%").expect("filled"),
    );
    let score = |when: &str| fact(aged, &format!("age.layout_score.{when}"));
    assert!(score("aged") < score("full"), "{}", aged["facts"]);
    assert!(score("full") < fact(filled, "fill.layout_score.full"));
    assert_eq!(aged["facts"]["age.layout_by"], "FIEMAP");
    let fullness = fact(aged, "age.fullness_percent");
    assert!((83.0..89.0).contains(&fullness), "{fullness}");
    let fullness = fact(filled, "fill.fullness_percent");
    assert!((49.0..52.0).contains(&fullness), "{fullness}");
    let steps = |trial: &Value| -> Vec<String> {
        let steps = trial["steps"].as_array().expect("steps");
        let names = steps.iter().map(|it| it["step"].as_str().expect("a name"));
        names.take(5).map(str::to_owned).collect()
    };
    let stage = |name: &str| ["mkfs", "mount", name, "unmount", "mount"].map(str::to_owned);
    assert_eq!(steps(aged), stage("age"));
    assert_eq!(steps(filled), stage("fill"));
    for phase in aged["phases"].as_array().expect("phases") {
        assert_eq!(phase["outcome"], "done", "{phase}");
    }
    let reread = &aged["phases"][2];
    assert_eq!(
        reread["device"]["reads"], 0,
        "a warm read is one of memory: {reread}"
    );
}

#[test]
fn ageing_ends_at_the_score_that_was_asked_for() {
    let Some(desk) = Desk::new().with_lab("sim, ageing to a score") else {
        return;
    };
    let subject = "ext2:age=mail,full=85%,score=0.9,turnover=20";
    compare(&desk, "sim", &[subject]).expect_code(0);
    let trial = &desk.last_run()["trials"][0];
    assert_eq!(trial["facts"]["age.ended_by"], "layout score");
    assert!(fact(trial, "age.layout_score.aged") <= 0.9);
    assert!(fact(trial, "age.turnover") < 20.0);
}

#[test]
fn a_file_system_that_would_be_too_full_for_its_phases_is_refused_before_anything_is_made() {
    let desk = Desk::new();
    let ended = compare(&desk, "loop", &["ext4:fill=98%"]);
    ended.expect_code(2);
    ended.expect_error("98 % full leaves of 64 MiB", "--size");
}

/// The seed is the same, and so is everything else, to the block.
#[test]
fn in_virtual_time_the_same_seed_leaves_the_same_layout() {
    let Some(desk) = Desk::new().with_lab("sim, ageing") else {
        return;
    };
    let subjects = ["ext4:age=churn,full=70%,turnover=2", "ext2:fill=40%"];
    let exact = || {
        compare(&desk, "sim", &subjects).expect_code(0);
        desk.run(&["export", "last", "--format", "exact"]).out
    };
    let first = exact();
    assert!(first.contains("age.layout_score.aged"), "{first}");
    assert_eq!(first, exact());
}

#[test]
fn stages_that_make_no_sense_are_refused_before_anything_is_made() {
    let desk = Desk::new();
    for (subject, what) in [
        ("ext4:age=chrun", "did you mean 'churn'?"),
        ("ext4:age=churn,full=120%", "1% to 98%"),
        ("ext4:fill=80%:fill=90%", "the stage 'fill' twice"),
        ("ext4:age=mail,speed=2", "no setting 'speed'"),
    ] {
        let ended = compare(&desk, "loop", &[subject]);
        assert_eq!(ended.code, Some(2), "{subject}: {}", ended.err);
        assert!(ended.err.contains(what), "{subject}: {}", ended.err);
    }
}
