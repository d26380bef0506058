//! `fslab run`: the published studies, from one command to figures and verdicts.

use crate::harness::Desk;

const STUDIES: [&str; 5] = [
    "bonnie-2010",
    "home-usb",
    "iozone-2003",
    "ntfs-ext4",
    "small-files",
];

/// No root, no device, no clock: every phase, sweep and figure of each study is one that there is.
#[test]
fn every_published_study_runs_to_its_end_and_is_checked() {
    for study in STUDIES {
        let desk = Desk::new();
        let words = ["--fs", "fake", "--scale", "1/1000", "--repeats", "1"];
        // What is mounted nowhere has no device to ask how far the kernel reads ahead.
        let anywhere = ["--set", "required_facts={}", "--out", "out"];
        let ended = desk.run(&[&["run", study], &words[..], &anywhere].concat());
        ended.expect_code(0);
        let run = desk.last_run();
        assert_eq!(run["plan"]["scale"], "1/1000", "{study}");
        let phases = run["trials"][0]["phases"].as_array().expect("phases");
        for phase in phases {
            assert_eq!(phase["outcome"], "done", "{study}: {phase}");
        }
        let figures = desk.run(&["show", "last", "--figures"]);
        figures.expect_code(0);
        let checked = desk.run(&["study", "check", "last"]);
        checked.expect_code(0);
        assert!(checked.out.contains(" claims: holds "), "{}", checked.out);
    }
}

#[test]
fn a_study_on_a_simulated_stick_gives_the_figures_of_its_original() {
    let Some(desk) = Desk::new().with_lab("run, home-usb") else {
        return;
    };
    let words = ["--fs", "udf,ext4", "--scale", "1/64", "--venue", "sim"];
    let ended = desk.run(&[&["run", "home-usb"], &words[..], &["--out", "out"]].concat());
    ended.expect_code(0);
    desk.expect_nothing_left();
    let figures = desk.run(&["show", "last", "--figures"]).out;
    assert!(figures.contains("unmount"), "{figures}");
    let checked = desk.run(&["study", "check", "last"]).out;
    let clears = checked.lines().position(|line| line.contains("clear-ext4"));
    assert!(clears.is_some(), "{checked}");
}

#[test]
fn a_scale_or_a_setting_that_makes_no_sense_is_refused_by_name() {
    let desk = Desk::new();
    let run = |words: &[&str]| desk.run(&[&["run", "quick", "--fs", "fake"], words].concat());
    run(&["--scale", "2"]).expect_code(2);
    run(&["--set", "phase.nobody.record=1"])
        .expect_code(2)
        .expect_error("nobody", "");
    run(&["--set", "repeats"]).expect_code(2);
}
