//! `fslab run`: the built-in studies, from one command to figures, verdicts and an answer.

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
        if study == "small-files" {
            let report = ["report", "last", "--out", "out", "--figures", "figures"];
            let drawn = desk.run(&report);
            drawn.expect_code(0);
            let expected = "no chart of the original against this run";
            assert!(drawn.err.contains(expected), "{}", drawn.err);
        }
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

#[test]
fn the_ready_studies_run_to_their_end_and_are_found_by_what_a_user_would_type() {
    for (typed, study) in [
        ("usb", "usb-stick"),
        ("media-server", "nas"),
        ("compile", "build"),
        ("maildir", "mail"),
        ("repo", "git"),
        ("postgres", "database"),
    ] {
        let desk = Desk::new();
        let words = ["--fs", "fake", "--repeats", "1", "--out", "out"];
        desk.run(&[&["run", typed], &words[..]].concat())
            .expect_code(0);
        let run = desk.last_run();
        assert_eq!(run["plan"]["study"], study);
        assert!(run["plan"]["question"]["text"].is_string(), "{study}");
        for phase in run["trials"][0]["phases"].as_array().expect("phases") {
            assert_eq!(phase["outcome"], "done", "{study}: {phase}");
        }
    }
}

#[test]
fn an_ambiguous_or_unknown_study_lists_the_candidates() {
    let desk = Desk::new();
    let run = |name: &str| desk.run(&["run", name, "--fs", "fake", "--dry-run"]);
    run("b")
        .expect_code(2)
        .expect_error("'b' matches 2 studies", "name one of bonnie-2010, build");
    run("usbb").expect_code(2).expect_error(
        "there is no study 'usbb'",
        "did you mean 'usb'? the studies are ",
    );
    let list = desk.run(&["study", "list"]).out;
    for part in ["Question", "pendrive", "for a mail server?"] {
        assert!(list.contains(part), "{part}: {list}");
    }
}

/// The recommendation is the same in the summary, later in `show`, and on the page.
#[test]
fn the_answer_stands_at_the_top_of_the_summary_and_of_the_report() {
    let desk = Desk::new();
    let ended = desk.run(&["run", "quick", "--fs", "fake", "--out", "out"]);
    ended.expect_code(0);
    let words = "No recommendation: only one file system was measured.";
    assert!(
        ended
            .out
            .contains("Question      Which file system is fastest"),
        "{}",
        ended.out
    );
    assert!(
        ended.out.contains(&format!("Answer        {words}")),
        "{}",
        ended.out
    );
    let answer = ended.out.find("Answer ").expect("an answer");
    let table = ended.out.find("Each phase").expect("a table");
    assert!(answer < table, "{}", ended.out);
    let shown = desk.run(&["show", "last"]).out;
    assert!(shown.contains(words), "{shown}");
    let page = std::fs::read_dir(desk.path("out")).expect("out").flatten();
    let page = page
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some());
    let page = std::fs::read_to_string(page.expect("a report")).expect("a page");
    let (answer, summary) = (page.find(words), page.find(">In words</h2>"));
    assert!(answer.is_some() && answer < summary);
}
