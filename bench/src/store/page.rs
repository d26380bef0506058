//! The findings as text: tables for the terminal, and the page that is kept.

use std::fmt::Write;

use super::findings::{Findings, judge};
use crate::grid::Grid;
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

/// What the terminal shows.
pub(crate) fn terminal(findings: &Findings) -> String {
    let mut text = String::new();
    let judged = judge(findings);
    let _ = writeln!(text, "{}\n", commands(findings).terminal());
    let _ = writeln!(text, "{}\n", adding(findings).terminal());
    if !judged.is_empty() {
        let _ = writeln!(text, "{}\n", verdict::table(&judged).terminal());
    }
    let _ = writeln!(text, "{}", summary(findings, &judged));
    for note in &findings.notes {
        let _ = writeln!(text, "{note}");
    }
    text
}

/// The page that is kept, in Markdown. `date` is when it was measured, `command` how.
pub(crate) fn page(findings: &Findings, date: &str, command: &str) -> String {
    let judged = judge(findings);
    let mut text = format!("# The store at scale, {date}\n\n");
    let _ = writeln!(text, "{}\n\n`{command}`\n", summary(findings, &judged));
    text.push_str(METHOD);
    let targets = (!judged.is_empty()).then(|| ("Targets", verdict::table(&judged)));
    let measured = [
        ("Commands", commands(findings)),
        ("Storing a trial", adding(findings)),
    ];
    for (title, grid) in targets.into_iter().chain(measured) {
        let _ = write!(text, "\n## {title}\n\n{}", grid.markdown());
    }
    text.push_str("\n## Machine and notes\n\n");
    for (name, value) in &findings.machine {
        let _ = writeln!(text, "- {name}: {value}");
    }
    for note in &findings.notes {
        let _ = writeln!(text, "- {note}");
    }
    text
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
