//! Imports compared with own runs, as a user does it: which phases meet, and what else differs.

use std::fs;

use crate::harness::Desk;

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/exchange/"
);

/// The workload of bonnie++ and of fio's jobs in small, in a directory.
const STUDY: &str = r#"format = 1
name = "own"
title = "Own"
subjects = ["ext4"]
size = "320MiB"
repeats = 2
trial_limit_s = 120

[[phase]]
name = "first-write"
workload = "write"
file_size = "4MiB"
record = "8KiB"
[[phase]]
name = "change"
workload = "update"
file_size = "4MiB"
record = "8KiB"
[[phase]]
name = "read"
workload = "read"
file_size = "4MiB"
record = "8KiB"
[[phase]]
name = "mixed"
workload = "io"
file = "data"
file_size = "4MiB"
record = "4KiB"
direction = { mix = { read_percent = 70 } }
access = "random-uniform"
open = "existing"
amount = { operations = 256 }
[[phase]]
name = "rewrite"
workload = "rewrite"
file_size = "4MiB"
record = "8KiB"
"#;

/// A desk with the run `own`, and the imports `bonnie` and `jobs`, all of ext4.
fn desk() -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("own.toml"), STUDY).expect("a study");
    fs::create_dir(desk.path("work")).expect("a directory");
    let ended = desk.run(&[
        "run",
        "./own.toml",
        "--venue",
        "dir",
        "--dir",
        "work",
        "--out",
        "out",
        "--json",
    ]);
    ended.expect_code(0);
    let run: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    let name = run["run"].as_str().expect("a name");
    let exported = desk.run(&["export", name, "--format", "json"]);
    exported.expect_code(0);
    let file = desk.path("own.json");
    fs::write(&file, exported.out.replace(name, "own")).expect("written");
    desk.run(&["import", file.to_str().expect("a path of text")])
        .expect_code(0);
    for (name, file) in [
        ("bonnie", format!("{FOLDER}bonnie-2.00a-thrice.csv")),
        ("jobs", format!("{FOLDER}fio-3.33-four-jobs.json")),
    ] {
        desk.run(&["import", &file, "--run", name, "--subject", "ext4"])
            .expect_code(0);
    }
    desk
}

fn json(desk: &Desk, words: &[&str]) -> serde_json::Value {
    let ended = desk.run(words);
    ended.expect_code(0);
    serde_json::from_str(&ended.out).expect("pure JSON")
}

fn pairs(document: &serde_json::Value) -> Vec<String> {
    let pairs = document["pairs"].as_array().expect("pairs").iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    pairs
        .map(|pair| format!("{}={}", text(&pair["base"]), text(&pair["new"])))
        .collect()
}

/// A diff of an import with an own run was refused: "workload write against bonnie++".
#[test]
fn an_import_is_compared_with_an_own_run_by_what_phases_do() {
    let desk = desk();
    let listed = json(&desk, &["diff", "bonnie", "own", "--dry-run", "--json"]);
    // bonnie++'s rewrite is an update; ours of that name only writes, and meets nothing.
    let expected = [
        "block-write=first-write",
        "rewrite=change",
        "block-read=read",
    ];
    assert_eq!(pairs(&listed), expected);
    let left = listed["left_over"].as_array().expect("left over").iter();
    let left: Vec<&str> = left.filter_map(|it| it["phase"].as_str()).collect();
    assert!(
        left.contains(&"seeks") && left.contains(&"rewrite"),
        "{left:?}"
    );
    let differences = listed["pairs"][0]["differences"].to_string();
    assert!(
        differences.contains("300 MiB") && differences.contains("4 MiB"),
        "{differences}"
    );

    let diff = json(&desk, &["diff", "bonnie", "own", "--json"]);
    let contrasts = diff["contrasts"].as_array().expect("contrasts");
    let phases: Vec<&str> = contrasts
        .iter()
        .filter_map(|it| it["phase"].as_str())
        .collect();
    assert_eq!(phases, ["first-write", "change", "read"]);
    assert!(contrasts[0]["speed"].is_f64(), "{}", contrasts[0]);
    assert_eq!(diff["repeats"], serde_json::json!([3, 2]));
    let dimensions = diff["differences"].as_array().expect("differences").iter();
    let dimensions: Vec<&str> = dimensions
        .filter_map(|it| it["dimension"].as_str())
        .collect();
    for named in [
        "machine", "kernel", "venue", "device", "size", "cold", "engine",
    ] {
        assert!(dimensions.contains(&named), "no {named} in {dimensions:?}");
    }
    let shown = desk.run(&["diff", "bonnie", "own"]);
    shown.expect_code(0);
    let text = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in [
        "They differ in repeats: 2 against 3.",
        "first-write is also block-write of bonnie",
        "own differs from bonnie in file size: 4 MiB against 300 MiB.",
        "Not known of bonnie, with the values of own:",
        "Of own not compared with bonnie: mixed and rewrite",
    ] {
        assert!(text.contains(sentence), "no '{sentence}' in {text}");
    }
}

/// fio's job was `mixed read` and `mixed write`, and ours `mixed`.
#[test]
fn a_mixed_job_of_fio_meets_one_phase() {
    let desk = desk();
    let listed = json(&desk, &["diff", "jobs", "own", "--dry-run", "--json"]);
    assert_eq!(
        pairs(&listed),
        ["write=first-write", "read=read", "mixed=mixed"]
    );
    let mixed = listed["pairs"][2]["differences"].to_string();
    assert!(!mixed.contains("share of reads"), "both read 70 %: {mixed}");
    let listed = json(
        &desk,
        &[
            "import",
            &format!("{FOLDER}fio-3.33-four-jobs.json"),
            "--dry-run",
            "--json",
            "--store",
            "none.db",
        ],
    );
    let phases = listed[0]["phases"].as_array().expect("phases");
    assert_eq!(phases[3]["does"], "random reads and writes");
    assert_eq!(phases[0]["workload"], "write");
    assert!(!desk.path("none.db").exists(), "nothing is stored");
}

#[test]
fn the_user_maps_phases_and_unknown_names_are_refused() {
    let desk = desk();
    let mapped = [
        "diff",
        "bonnie",
        "own",
        "--dry-run",
        "--json",
        "--map",
        "rewrite=rewrite",
    ];
    let listed = json(&desk, &mapped);
    assert!(pairs(&listed).contains(&"rewrite=rewrite".to_owned()));
    // The other way round, theirs is still the first name.
    let swapped = [
        "diff",
        "own",
        "bonnie",
        "--dry-run",
        "--json",
        "--map",
        "rewrite=change",
    ];
    assert!(pairs(&json(&desk, &swapped)).contains(&"change=rewrite".to_owned()));
    desk.run(&["diff", "bonnie", "own", "--map", "blockwrite=first-write"])
        .expect_code(2)
        .expect_error("bonnie has no phase 'blockwrite'", "block-write, rewrite");
    desk.run(&["diff", "bonnie", "own", "--map", "block-write=write"])
        .expect_code(2)
        .expect_error("own has no phase 'write'", "first-write, change");
    desk.run(&["report", "bonnie", "own", "--map", "x=y", "--out", "out"])
        .expect_code(2)
        .expect_error("has no phase", "the phases of");
    let neither = desk.run(&["diff", "bonnie", "own", "--map", "block-write"]);
    assert!(
        neither.err.contains("is not THEIRS=OURS"),
        "{}",
        neither.err
    );
}

/// A report of several runs was one report after the other.
#[test]
fn runs_that_share_phases_are_reported_in_one_table() {
    let desk = desk();
    let ended = desk.run(&[
        "report", "bonnie", "own", "jobs", "--out", "out", "--tables", "tables",
    ]);
    ended.expect_code(0);
    let page = fs::read_to_string(desk.path(ended.out.lines().next().expect("a path")));
    let page = page.expect("the report");
    for subject in ["ext4 (bonnie)", "ext4 (own)", "ext4 (jobs)"] {
        assert!(page.contains(subject), "{subject}");
    }
    assert!(page.contains("compared in what they share"));
    assert!(page.contains("bonnie differs from own in file size"));
    let folders = fs::read_dir(desk.path("tables")).expect("tables").flatten();
    let folders = folders.filter(|it| it.path().is_dir());
    assert_eq!(folders.count(), 1, "one chapter");
    // Runs without a phase in common stay separate chapters.
    desk.run(&[
        "import",
        &format!("{FOLDER}mdtest-4.0.0.txt"),
        "--run",
        "names",
    ])
    .expect_code(0);
    let ended = desk.run(&["report", "names", "own", "--out", "apart"]);
    ended.expect_code(0);
    let page = fs::read_to_string(desk.path(ended.out.trim())).expect("the report");
    assert!(!page.contains("compared in what they share"));
}

/// Two runs of one study are compared, too, and each keeps its claims.
#[test]
fn own_runs_of_one_study_are_reported_in_one_table() {
    let desk = Desk::new();
    for _ in 0..2 {
        desk.compare_fake(&[]).expect_code(0);
    }
    let ended = desk.run(&["report", "last~1", "last", "--out", "both"]);
    ended.expect_code(0);
    let page = fs::read_to_string(desk.path(ended.out.trim())).expect("the report");
    assert!(page.contains("compared in what they share"));
}
