//! Tables and charts on terminals of several widths, of real runs of the fake file system.

use std::collections::BTreeSet;
use std::fs;

use crate::harness::{Desk, Ended};

const WIDE: usize = 2000;

/// A sweep, a phase that is read cold, and long options: what makes tables wide.
const STUDY: &str = "format = 1
name = 'wide'
title = 'A study with wide tables'
size = '64MiB'
repeats = 2
trial_limit_s = 60

[sweep.sizes]
file_size = ['64KiB', '1MiB']
record = ['16KiB', '64KiB']

[[phase]]
name = 'sequential-write-in-large-records'
workload = 'write'
sweep = 'sizes'
file_size = '$file_size'
record = '$record'

[[phase]]
name = 'random-read-4k'
workload = 'random-read'
cache = 'cold'
file_size = '1MiB'
record = '4KiB'
operations = 100

[[phase]]
name = 'create'
workload = 'create'
files = 50
";

/// Subjects and phases with long names, three repeats each.
fn figures() -> String {
    let subjects = [
        "ext4",
        "xfs:mkfs=-m reflink=0",
        "btrfs:mount=compress=zstd:3",
        "ext4:mount=data=journal",
    ];
    let phases = [
        "sequential-write-in-large-records",
        "random-read-4k",
        "append",
    ];
    let mut rows = "subject,phase,repeat,metric,value,unit\n".to_owned();
    for (slower, subject) in subjects.iter().enumerate() {
        for phase in phases {
            for repeat in 1..=3 {
                let rate = 300_000_000 - 30_000_000 * slower + 1_000_000 * repeat;
                rows += &format!("{subject},{phase},{repeat},throughput,{rate},B/s\n");
            }
        }
    }
    rows
}

/// A desk with two runs of several subjects.
fn desk() -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("figures.csv"), figures()).expect("the figures");
    for _ in 0..2 {
        desk.run(&["import", "figures.csv"]).expect_code(0);
    }
    desk
}

/// The same, and then two runs of a sweep.
fn desk_with_sweeps() -> Desk {
    let desk = desk();
    fs::write(desk.path("wide.toml"), STUDY).expect("the study");
    for _ in 0..2 {
        let words = ["compare", "fake", "--study", "./wide.toml", "--out", "out"];
        desk.run(&words).expect_code(0);
    }
    desk
}

fn at(desk: &Desk, columns: usize, arguments: &[&str]) -> Ended {
    desk.run_in(
        arguments,
        &[("COLUMNS", &columns.to_string()), ("LC_ALL", "C.UTF-8")],
    )
}

/// At 80 columns, words were broken: "undecid" and "ed".
#[test]
fn no_table_breaks_a_word_at_80_and_at_60_columns() {
    let desk = desk_with_sweeps();
    for arguments in [
        &["show", "last", "--all"][..],
        &["show", "last~2", "--all"],
        &["diff", "last~1", "last"],
        &["gate", "last~1", "last"],
        &["list"],
        &["fs", "list"],
        &["disk", "list"],
        &["workload", "list"],
    ] {
        let whole = at(&desk, WIDE, arguments);
        let shown = without_chart(&whole.out);
        let words: BTreeSet<&str> = shown.split_whitespace().collect();
        assert!(words.len() > 20, "{}", whole.out);
        for columns in [60, 80] {
            let narrow = at(&desk, columns, arguments);
            assert_eq!(narrow.code, whole.code, "{}", narrow.err);
            let found: BTreeSet<&str> = narrow.out.split_whitespace().collect();
            for word in words.iter().filter(|word| !is_drawn(word)) {
                assert!(
                    found.contains(word),
                    "{word} at {columns} columns:\n{}",
                    narrow.out
                );
            }
            for line in narrow.out.lines() {
                let is_short = line
                    .split_whitespace()
                    .all(|word| word.chars().count() < 30);
                let width = line.chars().count();
                assert!(
                    !is_short || width <= columns,
                    "{width} of {columns}: {line}"
                );
            }
        }
    }
}

/// The output without the chart, which leaves out words where it has no room.
fn without_chart(text: &str) -> String {
    let blocks = text.split("\n\n");
    let others = blocks.filter(|block| !block.contains("Speed relative to the best:"));
    others.collect::<Vec<_>>().join("\n\n")
}

/// Rules and bars, which are as long as there is room.
fn is_drawn(word: &str) -> bool {
    word.chars().all(|letter| "─█▏▎▍▌▋▊▉├┼┤".contains(letter))
}

#[test]
fn the_overall_result_is_a_bar_chart_below_the_overview_that_fits_the_terminal() {
    let desk = desk();
    for columns in [60, 80, 200] {
        let shown = at(&desk, columns, &["show", "last"]).out;
        let chart = shown.split("Speed relative to the best:").nth(1);
        let chart = chart.unwrap_or_else(|| panic!("no chart: {shown}"));
        let bars: Vec<&str> = chart.lines().filter(|line| line.contains('█')).collect();
        assert_eq!(bars.len(), 4, "{chart}");
        assert!(bars[0].contains("1.00"), "{chart}");
        let most = columns.min(80);
        assert!(
            bars.iter().all(|bar| bar.chars().count() <= most),
            "{chart}"
        );
    }
    let plain = desk.run_in(&["show", "last"], &[("LC_ALL", "C")]).out;
    assert!(
        plain.contains("##########") && !plain.contains('█'),
        "{plain}"
    );
}

#[test]
fn tables_of_a_diff_are_written_as_latex() {
    let desk = desk();
    for command in ["diff", "gate"] {
        let ended = desk.run(&[command, "last~1", "last", "--format", "latex"]);
        assert!(ended.out.contains("\\begin{tabular}{@{}"), "{}", ended.out);
        assert!(
            ended.out.contains(&format!("\\label{{tab:{command}}}")),
            "{}",
            ended.out
        );
        assert!(ended.out.ends_with("\\end{table}\n"), "{}", ended.out);
    }
}
