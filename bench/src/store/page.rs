//! The findings as a page.

use super::findings::{Findings, judge};
use crate::grid::Grid;
use crate::page::{Page, Section};
use crate::series::Spread;
use crate::verdict::{self, Judged};

const METHOD: &str = "\
The store is filled through `fslab-store`, a run in a transaction: 10 subjects and 10 repeats
each, 3 phases a trial with latencies, time series and all counters, one trial in 50 failed, one
run in ten of another study. Then the real command is started, as a person types it; its time is
that of the process from start to end, its memory the peak that wait4(2) reports. *Warm*: once more
than is counted; *cold*: the page cache of the machine is dropped before each. Figures are
medians with the smallest and the largest. Adding is `Store::add_trial`, durable before it
returns, 100 trials one by one.
";

/// What was found, as a page.
pub(crate) fn page(findings: &Findings) -> Page {
    let judged = judge(findings);
    Page {
        title: "The store at scale",
        summary: summary(findings, &judged),
        method: METHOD.to_owned(),
        picture: None,
        targets: (!judged.is_empty()).then(|| verdict::table(&judged)),
        sections: vec![
            Section::grid("Commands", commands(findings)),
            Section::grid("Storing a trial", adding(findings)),
            Section::facts("Machine", &findings.machine),
        ],
        notes: findings.notes.clone(),
    }
}

fn summary(findings: &Findings, judged: &[Judged]) -> String {
    let reached = judged.iter().filter(|it| it.reached == Some(true)).count();
    let filled = findings
        .filling_s
        .map_or_else(String::new, |seconds| format!(", filled in {seconds:.0} s"));
    let verdict = if findings.quick {
        "No target is judged: the store is small".to_owned()
    } else {
        format!("{reached} of {} targets reached", judged.len())
    };
    format!(
        "{} trials in {} runs, {:.2} GB{filled}. {verdict}; {} measurements of each command.",
        findings.trials,
        findings.runs,
        findings.store_bytes as f64 / 1e9,
        findings.times
    )
}

fn commands(findings: &Findings) -> Grid {
    let rows = findings.commands.iter().map(|measured| {
        vec![
            format!("fslab {}", measured.command),
            in_words(&measured.warm_ms),
            measured.cold_ms.as_ref().map_or_else(String::new, in_words),
            format!("{:.0}", measured.resident_mib),
        ]
    });
    Grid {
        head: &["command", "warm ms", "cold ms", "peak MiB"],
        rows: rows.collect(),
    }
}

fn adding(findings: &Findings) -> Grid {
    let rows = findings.adding.iter().flat_map(|(empty, full)| {
        [("empty", empty), ("filled", full)]
            .map(|(store, added)| vec![store.to_owned(), in_words(&added.spread)])
    });
    Grid {
        head: &["store", "ms a trial"],
        rows: rows.collect(),
    }
}

fn in_words(spread: &Spread) -> String {
    let digits = if spread.median < 20.0 { 2 } else { 0 };
    format!(
        "{:.digits$} ({:.digits$}..{:.digits$})",
        spread.median, spread.min, spread.max
    )
}
