//! Outputs of other tools into the store and out again, as a user does it.

use std::fs;

use crate::harness::Desk;

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/exchange/"
);

fn fixture(name: &str) -> String {
    format!("{FOLDER}{name}")
}

#[test]
fn an_import_is_shown_listed_and_reported_like_any_run() {
    let desk = Desk::new();
    let file = fixture("bonnie-1.96-two-machines.csv");
    let imported = desk.run(&["import", &file]);
    imported.expect_code(0);
    assert!(imported.out.contains("box-a"), "{}", imported.out);
    assert!(imported.out.contains("Block write"), "{}", imported.out);
    let shown = desk.run(&["show", "last", "--all", "--figures"]);
    shown.expect_code(0);
    assert!(shown.out.contains("K/sec"), "{}", shown.out);
    desk.run(&["list"]).expect_code(0);
    desk.run(&["report", "last", "--out", "out"]).expect_code(0);
    let run = desk.last_run();
    assert_eq!(run["plan"]["venue"]["venue"], "imported");
    assert_eq!(run["trials"].as_array().map(Vec::len), Some(6));
}

#[test]
fn standard_input_is_read_and_json_is_pure() {
    let desk = Desk::new();
    let text = fs::read_to_string(fixture("fio-3.33-grouped.json")).expect("an output");
    let words = [
        "import",
        "-",
        "--json",
        "--subject",
        "ext4:noatime",
        "--run",
        "mine",
    ];
    let ended = desk.run_with_input(&words, &text);
    ended.expect_code(0);
    let run: serde_json::Value = serde_json::from_str(&ended.out).expect("pure JSON");
    assert_eq!(run["run"], "mine");
    assert_eq!(run["trials"][0]["subject"], "ext4:mount=noatime");
    assert_eq!(run["trials"][0]["facts"]["imported from"], "standard input");
}

#[test]
fn files_may_be_given_to_subjects() {
    let desk = Desk::new();
    let text = fs::read_to_string(fixture("fio-3.33-grouped.json")).expect("an output");
    for (name, time) in [("a1", "17953"), ("a2", "17954"), ("b", "17955")] {
        let other = text.replace("\"timestamp\" : 17953", &format!("\"timestamp\" : {time}"));
        fs::write(desk.path(name), other).expect("written");
    }
    let words = ["import", "--subject", "ext4=a1,a2", "--subject", "xfs=b"];
    desk.run(&words).expect_code(0);
    let run = desk.last_run();
    let trials = run["trials"].as_array().expect("trials").iter();
    let trials: Vec<String> = trials
        .map(|trial| format!("{} {}", trial["subject"], trial["trial"]["repeat"]))
        .collect();
    assert_eq!(trials, ["\"ext4\" 0", "\"ext4\" 1", "\"xfs\" 0"]);
    let twice = desk.run(&["import", "a1", "a1"]);
    twice.expect_code(2).expect_error("a1 is named twice", "");
}

#[test]
fn what_is_refused_leaves_nothing_in_the_store() {
    let desk = Desk::new();
    desk.run(&["import", &fixture("mdtest-4.0.0.txt"), "--run", "whole"])
        .expect_code(0);
    let whole = fs::read_to_string(fixture("bonnie-2.00a.txt")).expect("an output");
    let cut = &whole[..whole.trim_end().len() - 60];
    fs::write(desk.path("cut.csv"), cut).expect("written");
    let refused = desk.run(&["import", "cut.csv"]);
    refused
        .expect_code(2)
        .expect_error("cannot import cut.csv as output of bonnie++", "cut off");
    assert!(refused.err.contains("fields instead of"), "{}", refused.err);
    let mixed = [
        &*fixture("fio-3.33-plus.json"),
        &fixture("iozone-3.489-all.txt"),
    ];
    let refused = desk.run(&["import", mixed[0], mixed[1]]);
    refused
        .expect_code(2)
        .expect_error("output of another kind", "separately");
    desk.run(&["import", "nowhere"])
        .expect_code(2)
        .expect_error("cannot read nowhere", "");
    let list = desk.run(&["list", "--json"]);
    assert_eq!(list.out.matches("\"run\"").count(), 1, "{}", list.out);
}

#[test]
fn a_run_moves_to_another_store_and_comes_out_the_same_to_the_byte() {
    let desk = Desk::new();
    desk.run(&["import", &fixture("fio-3.33-plus.json"), "--run", "first"])
        .expect_code(0);
    let export = |store: &str| {
        let words = ["export", "first", "--format", "json", "--store", store];
        let ended = desk.run(&words);
        ended.expect_code(0);
        ended.out
    };
    let store = desk.store();
    let before = export(store.to_str().expect("a path of text"));
    fs::write(desk.path("first.json"), &before).expect("written");
    desk.run(&["import", "first.json", "--store", "other.db"])
        .expect_code(0);
    assert!(export("other.db") == before, "the export differs");
    desk.run(&["import", "first.json", "--store", "other.db"])
        .expect_code(2)
        .expect_error("already has a run first", "--run NAME");
}

/// The advice was to use --resume, which `import` does not have.
#[test]
fn the_advice_after_an_import_is_about_imports() {
    let desk = Desk::new();
    let file = fixture("../imports/advice-after-import.csv");
    let imported = desk.run(&["import", &file]);
    imported.expect_code(0);
    let words: Vec<&str> = imported.out.split_whitespace().collect();
    let shown = words.join(" ");
    assert!(!shown.contains("--resume"), "{shown}");
    let advice = "import the outputs of that many executions in one command";
    assert!(shown.contains(advice), "{shown}");
}

/// Names hold the second and random letters: the second import to choose one gets another.
#[test]
fn many_imports_at_once_all_land() {
    const IMPORTS: usize = 12;
    let desk = Desk::new();
    let file = fixture("bonnie-2.00a.txt");
    std::thread::scope(|scope| {
        for _ in 0..IMPORTS {
            scope.spawn(|| {
                desk.run(&["import", &file]).expect_code(0);
            });
        }
    });
    let list = desk.run(&["list", "--json"]);
    assert_eq!(list.out.matches("\"run\"").count(), IMPORTS);
    assert_eq!(list.out.matches("\"trials_done\": 1").count(), IMPORTS);
}

/// A form that has no place for most of a run was nearly empty, and nothing said so.
#[test]
fn what_a_form_has_no_place_for_is_reported() {
    let desk = Desk::new();
    let rows = [
        "rewrite,throughput,100",
        "a,throughput,200",
        "b,throughput,3",
    ];
    let table = format!("phase,metric,value\n{}\n", rows.join("\n"));
    desk.run_with_input(&["import", "-"], &table).expect_code(0);
    let ended = desk.run(&["export", "last", "--format", "bonnie"]);
    ended.expect_code(0);
    assert_eq!(ended.out.lines().count(), 1, "{}", ended.out);
    let stated = "2 phases have no place in the format of bonnie++ and are left out: a, b; of its \
                12 phases the run has 1";
    assert!(ended.err.contains(stated), "{}", ended.err);
    desk.run(&["import", &fixture("bonnie-2.00a.txt")])
        .expect_code(0);
    let ended = desk.run(&["export", "last", "--format", "bonnie"]);
    ended.expect_code(0);
    assert_eq!(ended.err, "");
}

/// Seconds of a build were turned into builds a second.
#[test]
fn a_table_of_times_is_compared_in_time_and_less_is_better() {
    let desk = Desk::new();
    let table = |ext4: [f64; 3]| {
        let row = |subject: &str, value: f64| format!("{subject},build,time,{value},s\n");
        let rows: String = ext4.map(|value| row("ext4", value)).concat();
        let other: String = [58.9, 59.4, 59.0].map(|value| row("xfs", value)).concat();
        format!("subject,phase,metric,value,unit\n{rows}{other}")
    };
    for (name, ext4) in [
        ("before", [61.2, 60.8, 61.0]),
        ("after", [71.2, 70.8, 71.0]),
    ] {
        fs::write(desk.path(name), table(ext4)).expect("written");
        desk.run(&["import", name, "--run", name]).expect_code(0);
    }
    let shown = desk.run(&["show", "before", "--all"]);
    assert!(shown.out.contains("61.0 s"), "{}", shown.out);
    assert!(shown.out.contains("Duration"), "{}", shown.out);
    assert!(!shown.out.contains("op/s"), "{}", shown.out);
    let wins = "XFS is 1.03 times as fast as ext4";
    assert!(shown.out.contains(wins), "{}", shown.out);
    let gate = ["gate", "before", "after", "--max-slowdown", "5%"];
    desk.run(&gate).expect_code(1);
    let back = ["gate", "after", "before", "--max-slowdown", "5%"];
    desk.run(&back).expect_code(0);
}

#[test]
fn every_form_is_written_to_a_file_as_a_whole() {
    let desk = Desk::new();
    desk.run(&["import", &fixture("fio-3.33-plus.json")])
        .expect_code(0);
    for (form, begin) in [
        ("json", "{\n"),
        ("csv", "run,plan_hash"),
        ("csv-wide", "run,plan_hash"),
        ("fio", "{\n"),
        ("parquet", "PAR1"),
    ] {
        let path = desk.path(form);
        let file = path.to_str().expect("a path of text");
        desk.run(&["export", "last", "--format", form, "-o", file])
            .expect_code(0);
        let content = fs::read(&path).expect("a file");
        assert!(content.starts_with(begin.as_bytes()), "{form}");
    }
    let none = desk.run(&["export", "last", "--format", "bonnie", "-o", "none.csv"]);
    none.expect_code(2);
    assert!(!desk.path("none.csv").exists());
    let parts = fs::read_dir(desk.path("")).expect("the desk").flatten();
    let parts = parts.filter(|entry| entry.path().extension().is_some_and(|it| it == "part"));
    assert_eq!(parts.count(), 0);
}

/// The phases that a form of IOR, mdtest or IO500 has no place for are named, and the others come
/// back.
#[test]
fn a_run_goes_out_as_ior_mdtest_and_io500_and_comes_back() {
    let desk = Desk::new();
    for (name, format, left_out) in [
        ("ior-3.3.0.txt", "ior", "the phase 'remove' is left out"),
        ("mdtest-4.1.0-hard.txt", "mdtest", ""),
        (
            "io500-result.txt",
            "io500",
            "the phase 'ior-rnd4k-easy-read' is left out",
        ),
    ] {
        desk.run(&["import", &fixture(name), "--run", format])
            .expect_code(0);
        let words = ["export", format, "--format", format, "--output", "out.txt"];
        let exported = desk.run(&words);
        exported.expect_code(0);
        assert!(exported.err.contains(left_out), "{}", exported.err);
        let back = format!("{format}-back");
        desk.run(&["import", "out.txt", "--run", &back])
            .expect_code(0);
        let run = desk.last_run();
        assert_eq!(run["plan"]["study"], format);
        assert_eq!(run["plan"]["ranks"], 2);
    }
    let refused = desk.run(&["export", "ior", "--format", "mdtest"]);
    refused
        .expect_code(2)
        .expect_error("mdtest's format needs phases", "");
    let summary = desk.run(&["export", "io500", "--format", "io500-summary"]);
    summary.expect_code(0);
    let score =
        "[SCORE ] Bandwidth 0.272421 GiB/s : IOPS 23.974553 kiops : TOTAL 2.555614 [INVALID]";
    assert!(summary.out.contains(score), "{}", summary.out);
}
