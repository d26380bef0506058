//! `fslab diff` and `fslab gate`: two runs, two stores, files, and what a build sees of them.

use std::fs;

use serde_json::Value;

use crate::harness::{Desk, Ended};

/// A desk with the run `base.json` of five repeats of the fake file system.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.compare_fake(&["--seed", "7", "--repeats", "5"])
        .expect_code(0);
    desk.run(&["export", "last", "--format", "json", "-o", "base.json"])
        .expect_code(0);
    desk
}

/// Writes `base.json` to `name` with every duration of `phase` `times` as long.
fn slowed(desk: &Desk, name: &str, phase: &str, times: f64) {
    stretched(desk, name, times, |record| record == phase);
}

/// Writes `base.json` as a separate run, to `RUN.json`, with every duration `times` as long.
fn in_another_state(desk: &Desk, run: &str, times: f64) {
    let name = format!("{run}.json");
    stretched(desk, &name, times, |_| true);
    let text = fs::read_to_string(desk.path(&name)).expect("the run");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    document["run"] = run.into();
    fs::write(desk.path(&name), document.to_string()).expect("written");
}

fn stretched(desk: &Desk, name: &str, times: f64, wanted: impl Fn(&Value) -> bool) {
    let text = fs::read_to_string(desk.path("base.json")).expect("the base");
    let mut run: Value = serde_json::from_str(&text).expect("JSON");
    for trial in run["trials"].as_array_mut().expect("trials") {
        for record in trial["phases"].as_array_mut().expect("phases") {
            if wanted(&record["name"]) {
                let ns = record["elapsed_ns"].as_f64().expect("a duration");
                record["elapsed_ns"] = Value::from((ns * times) as u64);
            }
        }
    }
    fs::write(desk.path(name), run.to_string()).expect("written");
}

fn first_phase(desk: &Desk) -> String {
    let run = desk.last_run();
    let name = run["trials"][0]["phases"][0]["name"].as_str();
    name.expect("a phase").to_owned()
}

fn gate(desk: &Desk, arguments: &[&str]) -> Ended {
    let mut all = vec!["gate"];
    all.extend_from_slice(arguments);
    desk.run(&all)
}

#[test]
fn a_run_against_itself_passes_and_a_slower_one_fails_with_exit_code_1() {
    let desk = desk();
    let phase = first_phase(&desk);
    gate(&desk, &["last", "last"]).expect_code(0);
    slowed(&desk, "slow.json", &phase, 4.0);
    let failed = gate(&desk, &["last", "slow.json", "--max-slowdown", "5%"]);
    failed.expect_code(1);
    assert!(failed.out.contains("too slow"), "{}", failed.out);
    let last = failed.out.lines().last().expect("lines");
    assert!(last.starts_with("gate failed: 1 of "), "{last}");
    // Three quarters of the speed are lost: a limit beyond that lets it through.
    gate(&desk, &["last", "slow.json", "--max-slowdown", "95%"]).expect_code(0);
    // The other way about it is faster.
    gate(&desk, &["slow.json", "last"]).expect_code(0);
}

#[test]
fn the_same_question_gets_the_same_answer() {
    let desk = desk();
    slowed(&desk, "slow.json", &first_phase(&desk), 1.3);
    let ask = || gate(&desk, &["base.json", "slow.json", "--json"]).out;
    let first = ask();
    let answer: Value = serde_json::from_str(&first).expect("pure JSON");
    assert!(
        answer["checks"]
            .as_array()
            .is_some_and(|checks| checks.len() > 1)
    );
    for _ in 0..5 {
        assert_eq!(ask(), first);
    }
}

#[test]
fn two_stores_are_compared_and_a_store_stands_for_its_last_run() {
    let desk = desk();
    let store = desk.store();
    let store = store.to_str().expect("a path of text");
    let named = format!("{store}:last");
    for new in [store, named.as_str()] {
        let diff = desk.run(&["diff", "base.json", new, "--json"]);
        diff.expect_code(0);
        let document: Value = serde_json::from_str(&diff.out).expect("pure JSON");
        let contrasts = document["contrasts"].as_array().expect("contrasts");
        assert!(
            contrasts
                .iter()
                .all(|c| c["verdict"] != "slower" && c["speed"] == 1.0)
        );
    }
    desk.run(&["diff", "base.json", "nowhere.db:last"])
        .expect_code(2);
}

#[test]
fn several_runs_tell_how_much_runs_differ_where_nothing_has_changed() {
    let desk = desk();
    for (run, times) in [("a", 1.0), ("b", 1.2), ("c", 0.9), ("d", 1.1), ("e", 1.3)] {
        in_another_state(&desk, run, times);
    }
    // A single base run takes the machine's other state for a slower file system.
    let alarmed = gate(&desk, &["a.json", "e.json", "--max-slowdown", "5%"]);
    alarmed.expect_code(1);
    assert!(
        alarmed.out.contains("Each side is one run"),
        "{}",
        alarmed.out
    );
    let base = "a.json,b.json,c.json,d.json";
    let passed = gate(&desk, &[base, "e.json", "--max-slowdown", "5%"]);
    passed.expect_code(0);
    assert!(passed.out.contains("n = 20 in 4 runs"), "{}", passed.out);
    in_another_state(&desk, "slow", 20.0);
    gate(&desk, &[base, "slow.json"]).expect_code(1);
    // Runs of stores and of files may stand beside each other, and none twice.
    let diff = desk.run(&["diff", "last,b.json,c.json", "d.json,e.json", "--json"]);
    diff.expect_code(0);
    let document: Value = serde_json::from_str(&diff.out).expect("pure JSON");
    assert_eq!(document["contrasts"][0]["test"], "t test between runs");
    assert_eq!(
        document["contrasts"][0]["new"]["runs"],
        serde_json::json!([5, 5])
    );
    // Of a store they are counted back from the last.
    let import = |name: &str| {
        desk.run(&["import", &format!("{name}.json")])
            .expect_code(0);
    };
    ["b", "c", "d", "e"].into_iter().for_each(import);
    let counted = desk.run(&["diff", "last~4..last~1", "last", "--json"]);
    counted.expect_code(0);
    let document: Value = serde_json::from_str(&counted.out).expect("pure JSON");
    assert_eq!(
        document["contrasts"][0]["base"]["runs"],
        serde_json::json!([5, 5, 5, 5])
    );
    gate(&desk, &["last~9..last~1", "last"])
        .expect_code(2)
        .expect_error("before the last", "list");
    gate(&desk, &["last~1..last~9", "last"])
        .expect_code(2)
        .expect_error("is not a range of runs", "older to the newer");
    gate(&desk, &["last~4..last", "last"])
        .expect_code(2)
        .expect_error("is on both sides", "");
    gate(&desk, &["a.json,b.json,a.json", "e.json"])
        .expect_code(2)
        .expect_error("names the run a twice", "");
}

/// Stores a run that began so many seconds after the base, after `change` was made to it.
fn stored_later(desk: &Desk, run: &str, seconds: u64, change: impl FnOnce(&mut Value)) {
    in_another_state(desk, run, 1.0);
    let path = desk.path(&format!("{run}.json"));
    let text = fs::read_to_string(&path).expect("the run");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let began = document["started_unix_s"].as_u64().expect("a time");
    document["started_unix_s"] = (began + seconds).into();
    change(&mut document);
    fs::write(&path, document.to_string()).expect("written");
    desk.run(&["import", &format!("{run}.json")]).expect_code(0);
}

#[test]
fn a_history_is_what_the_plan_gave_before_as_far_back_as_it_was_the_same_measurement() {
    let desk = desk();
    let alone = gate(&desk, &["history", "last"]);
    alone.expect_code(2);
    alone.expect_error("has no history", "last~1");
    let other_plan = |run: &mut Value| {
        run["plan_hash"] = "0".repeat(64).into();
        run["plan"]["study"] = "other".into();
    };
    stored_later(&desk, "first", 10, |run| {
        run["machine"]["kernel"] = "5.0".into();
    });
    stored_later(&desk, "second", 20, |_| {});
    stored_later(&desk, "stranger", 30, other_plan);
    stored_later(&desk, "third", 40, |_| {});
    stored_later(&desk, "new", 50, |_| {});
    let bases = |words: &[&str]| {
        let asked = gate(&desk, &[words, &["--json"]].concat());
        asked.expect_code(0);
        let answer: Value = serde_json::from_str(&asked.out).expect("pure JSON");
        let runs = answer["base"].as_str().expect("runs of the base");
        (runs.to_owned(), asked.err)
    };
    let (runs, said) = bases(&["history", "new"]);
    assert_eq!(runs, "second,third");
    assert!(
        said.contains("2 runs of 5; earlier runs differ in kernel"),
        "{said}"
    );
    let (runs, said) = bases(&["history~1", "new"]);
    assert_eq!((runs.as_str(), said.as_str()), ("third", ""));
    let (runs, said) = bases(&["history~9", "new", "--across", "kernel"]);
    assert!(runs.ends_with(",first,second,third"), "{runs}");
    assert!(
        said.contains("4 runs of 9; this plan has no more runs"),
        "{said}"
    );
    let refused = gate(&desk, &["history~0", "last"]);
    refused.expect_code(2);
    refused.expect_error("'history~0' is not a history", "history~8");
}

#[test]
fn files_for_continuous_integration_are_written_beside_the_table() {
    let desk = desk();
    let phase = first_phase(&desk);
    slowed(&desk, "slow.json", &phase, 4.0);
    let ended = gate(
        &desk,
        &[
            "base.json",
            "slow.json",
            "--format",
            "github",
            "--write",
            "junit=gate.xml",
            "--write",
            "json=gate.json",
        ],
    );
    ended.expect_code(1);
    assert!(ended.out.starts_with("::error title="), "{}", ended.out);
    let xml = fs::read_to_string(desk.path("gate.xml")).expect("the file");
    assert!(
        xml.contains("<failure") && xml.contains("failures=\"1\""),
        "{xml}"
    );
    let json = fs::read_to_string(desk.path("gate.json")).expect("the file");
    let document: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(document["passed"], false);
}

#[test]
fn what_cannot_be_judged_or_compared_is_an_error_with_a_hint() {
    let desk = desk();
    desk.compare_fake(&["--seed", "7", "--repeats", "1"])
        .expect_code(0);
    gate(&desk, &["last", "last"])
        .expect_code(2)
        .expect_error("cannot judge", "--repeats");
    gate(&desk, &["base.json", "last", "--max-slowdown", "5x"]).expect_code(2);
    gate(&desk, &["base.json", "last", "--max-slowdown", "100%"]).expect_code(2);
    desk.run(&["diff", "base.json", "last", "--metric", "latency_p99"])
        .expect_code(2);
    desk.run(&["diff", "base.json", "small.toml"])
        .expect_code(2)
        .expect_error("cannot import small.toml", "fslab export");
    let text = fs::read_to_string(desk.path("base.json")).expect("the base");
    let mut run: Value = serde_json::from_str(&text).expect("JSON");
    run["machine"]["kernel"] = "9.9".into();
    run["fslab"] = "9.9".into();
    fs::write(desk.path("other.json"), run.to_string()).expect("written");
    desk.run(&["diff", "base.json", "other.json"])
        .expect_code(2)
        .expect_error("differ in 2 dimensions", "--across kernel,fslab");
    desk.run(&["diff", "base.json", "other.json", "--across", "kernel"])
        .expect_code(0);
    desk.run(&["diff", "base.json", "other.json", "--across", "all"])
        .expect_code(0);
}

/// Writes a table of `values`, a metric and its unit, as another tool would.
fn table(desk: &Desk, name: &str, (metric, unit): (&str, &str), values: &[f64]) {
    let rows = values.iter().zip(1..);
    let rows = rows.map(|(value, repeat)| format!("ext4,read,{repeat},{metric},{value},{unit}\n"));
    let text = rows.fold(
        "subject,phase,repeat,metric,value,unit\n".to_owned(),
        |text, row| text + &row,
    );
    fs::write(desk.path(name), text).expect("written");
}

#[test]
fn a_time_that_falls_to_zero_is_no_loss_and_a_rate_that_does_is_one() {
    let desk = Desk::new();
    let (time, rate) = (("time", "s"), ("bandwidth", "MB/s"));
    table(&desk, "slow.csv", time, &[5.0, 6.0, 7.0]);
    table(&desk, "none.csv", time, &[0.0; 3]);
    // Both ways about it takes less than the clock shows: there is no ratio, and no regression.
    for (base, new) in [("slow.csv", "none.csv"), ("none.csv", "slow.csv")] {
        gate(&desk, &[base, new])
            .expect_code(2)
            .expect_error("no figure has a ratio", "--metric");
    }
    table(&desk, "fast.csv", rate, &[5.0, 6.0, 7.0]);
    table(&desk, "still.csv", rate, &[0.0; 3]);
    let lost = gate(&desk, &["fast.csv", "still.csv", "--format", "github"]);
    lost.expect_code(1);
    assert!(
        lost.out.contains("dropped to zero: 0 B/s against 6"),
        "{}",
        lost.out
    );
}

#[test]
fn what_was_not_measured_is_named_and_so_is_a_gate_that_decides_nothing() {
    let desk = Desk::new();
    table(&desk, "a.csv", ("time", "s"), &[10.0, 14.0]);
    table(&desk, "b.csv", ("time", "s"), &[11.0, 9.0]);
    desk.run(&["diff", "a.csv", "b.csv", "--metric", "mkfs_ns"])
        .expect_code(2)
        .expect_error("neither a nor b has a figure of mkfs_ns", "elapsed_ns");
    let undecided = gate(&desk, &["a.csv", "b.csv", "--format", "markdown"]);
    undecided.expect_code(0);
    let last = undecided.out.lines().last().expect("lines");
    assert!(
        last.starts_with("**Gate undecided**: 0 of 1 figures"),
        "{last}"
    );
    assert!(last.contains("more likely missed than seen"), "{last}");
    gate(&desk, &["a.csv", "b.csv", "--strict"]).expect_code(1);
}

#[test]
fn a_tolerance_is_heeded_where_time_is_real_and_a_gate_has_none() {
    let desk = desk();
    let diff = desk.run(&["diff", "last", "last", "--tolerance", "10%"]);
    diff.expect_code(0);
    assert!(diff.out.contains("the same within 10 %"), "{}", diff.out);
    assert_eq!(diff.err, "");
    gate(&desk, &["last", "last", "--tolerance", "10%"]).expect_code(2);
}
