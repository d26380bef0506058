//! The results as a page.

use std::fmt::Write;

use crate::counting::Counter;
use crate::grid::Grid;
use crate::page::{Body, Page, Section};
use crate::results::Results;
use crate::series::{Series, Spread};
use crate::targets::{JudgedRow, judge};
use crate::verdict;
use crate::work::{Figure, Work};

/// The results as a page.
pub(crate) fn page(results: &Results) -> Page {
    let judged = judge(results);
    let mut versions = results.machine.clone();
    versions.extend(results.versions.iter().map(|(name, version)| {
        let version = version.clone();
        let version = version.unwrap_or_else(|why| format!("does not take part: {why}"));
        ((*name).into(), version)
    }));
    let list = |title, lines: &[String]| Section {
        title,
        body: Body::List(lines.to_vec()),
    };
    Page {
        title: "fslab and its peers",
        summary: summary(results, &judged),
        method: METHOD.to_owned(),
        picture: None,
        targets: (!judged.is_empty()).then(|| verdicts(&judged)),
        sections: vec![
            Section::grid("Rates", rates(results)),
            Section::grid("What an operation costs", costs(results)),
            list("Remarks", &results.remarks),
            Section::facts("Machine and versions", &versions),
            Section {
                title: "Commands",
                body: Body::Text(commands(results)),
            },
        ],
        notes: Vec::new(),
    }
}

fn commands(results: &Results) -> String {
    let mut text = COMMANDS.to_owned();
    for commands in &results.commands {
        let _ = writeln!(
            text,
            "\n{}, {}:\n\n```sh\n{}\n```",
            commands.work.name(),
            commands.contender,
            commands.lines.join("\n")
        );
    }
    text
}

const METHOD: &str = "\
Within a round the loop in C and fslab run in the order A B B A (A B in the rows names, stream and
files), then every peer; the next round runs the other way around. The first round is not counted.
Rates are medians of all runs with the smallest and the largest; ratios are taken round by round.
All work but that of the row seeks is done by one thread, nothing is preallocated, and data is
incompressible. A peer gets the settings that make it fastest, which stand beside its rate; all
contenders make their files in the same directory. After each run its files are removed and the file
system is synchronised. Before each run of much data, memory is touched, since a guest may have
returned it to its host. fslab records a full latency histogram in every run. Instructions (callgrind) and system
calls (strace) are slopes between two numbers of operations. User time is that of the process
without that of a run with a fiftieth of the operations; memory is the peak of the process.
";

const COMMANDS: &str = "\
`DIR` is a directory of the place with nothing but the file that records are read from. Every
command is started in it; in the rows names and files in `DIR/files`, where all contenders make
their files.
";

fn summary(results: &Results, judged: &[JudgedRow]) -> String {
    if results.quick {
        return format!(
            "{} rounds of small amounts: no figure means anything, and no target is judged.",
            results.rounds
        );
    }
    verdict::summary(judged, results.rounds)
}

fn verdicts(judged: &[JudgedRow]) -> Grid {
    let row = |it: &JudgedRow| {
        vec![
            it.subject.work.name().to_owned(),
            it.subject.place.to_owned(),
            it.target.clone(),
            it.found.clone(),
            it.verdict().to_owned(),
        ]
    };
    Grid {
        head: &["row", "place", "target", "found", "verdict"],
        rows: judged.iter().map(row).collect(),
    }
}

fn rates(results: &Results) -> Grid {
    let mut rows = Vec::new();
    for work in &results.works {
        let title = results
            .amounts
            .map(|amounts| work.title(&amounts))
            .unwrap_or_default();
        let mut said = String::new();
        for figure in work.figures() {
            for series in of_figure(results, *work, *figure) {
                let heading = if said == title { "" } else { title.as_str() };
                rows.push(rate_row(results, series, heading));
                said.clone_from(&title);
            }
        }
    }
    Grid {
        head: &[
            "work",
            "place",
            "figure",
            "contender",
            "best setting",
            "median",
            "min..max",
            "runs",
            "fslab is",
        ],
        rows,
    }
}

fn of_figure(results: &Results, work: Work, figure: Figure) -> impl Iterator<Item = &Series> {
    results
        .series
        .iter()
        .filter(move |series| (series.work, series.figure) == (work, figure))
}

fn rate_row(results: &Results, series: &Series, heading: &str) -> Vec<String> {
    let figure = series.figure;
    let untold = || "not reported".to_owned();
    let rate = series.rate();
    let show = |pick: fn(Spread) -> f64| rate.map(|rate| figure.show(pick(rate)));
    let range = show(|rate| rate.min)
        .zip(show(|rate| rate.max))
        .map(|(min, max)| format!("{min}..{max}"));
    let ratio = results
        .beside(series, "fslab")
        .filter(|fslab| fslab.contender != series.contender)
        .and_then(|fslab| fslab.ratio_to(series))
        .map(|ratio| {
            format!(
                "{:.3} times ({:.3}..{:.3})",
                ratio.median, ratio.min, ratio.max
            )
        });
    vec![
        heading.to_owned(),
        series.place.to_owned(),
        figure.name().to_owned(),
        series.contender.to_owned(),
        results.setting(series.work, series.contender).to_owned(),
        show(|rate| rate.median).unwrap_or_else(untold),
        range.unwrap_or_default(),
        rate.map_or(0, |rate| rate.count).to_string(),
        ratio.unwrap_or_default(),
    ]
}

fn costs(results: &Results) -> Grid {
    let mut rows = Vec::new();
    for series in &results.series {
        let count = |counter| {
            results
                .count(series.work, series.figure, series.contender, counter)
                .map_or_else(String::new, |count| format!("{count:.2}"))
        };
        let Some([resident_kib, _]) = series.resident_kib() else {
            continue;
        };
        let user_ns = series.user_ns_per_operation();
        rows.push(vec![
            series.work.name().to_owned(),
            series.place.to_owned(),
            series.figure.name().to_owned(),
            series.contender.to_owned(),
            count(Counter::Instructions),
            count(Counter::SystemCalls),
            user_ns.map_or_else(String::new, |ns| format!("{ns:.0}")),
            format!("{:.1}", resident_kib as f64 / 1024.0),
        ]);
    }
    Grid {
        head: &[
            "row",
            "place",
            "figure",
            "contender",
            "user instructions/op",
            "system calls/op",
            "user ns/op",
            "peak MiB",
        ],
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Setting;
    use crate::series::tests::series;
    use crate::work::Amounts;

    fn results() -> Results {
        let mut results = Results {
            works: vec![Work::Pread],
            amounts: Some(Amounts::QUICK),
            rounds: 1,
            ..Results::default()
        };
        for (contender, rate) in [("C", 100.0), ("fslab", 90.0), ("bonnie++", 1.0)] {
            results
                .series
                .push(series(contender, Figure::RandomRead, &[rate]));
        }
        results.series[2].samples[0].rate = None;
        results.settings.push(Setting {
            contender: "bonnie++",
            work: Work::Pread,
            options: "-f",
        });
        results.remarks.push("first\nsecond".into());
        results
    }

    #[test]
    fn what_falls_short_is_shown_as_it_is() {
        let text = page(&results()).markdown("2000-01-01", "make bench", "");
        let short = "| pread | tmpfs | random read: at least 0.97 of the loop in C \
                     | 0.900 (0.900..0.900) | NOT reached |";
        assert!(text.contains(short), "{text}");
        assert!(
            text.contains("| bonnie++ | -f | not reported |  | 0 |  |"),
            "{text}"
        );
        assert!(text.contains("- first\n  second\n"));
    }

    #[test]
    fn the_terminal_shows_the_same_verdicts() {
        let text = page(&results()).terminal();
        assert!(text.contains("NOT reached"), "{text}");
        assert!(text.contains("1 rounds"), "{text}");
    }

    #[test]
    fn small_amounts_are_shown_without_a_verdict() {
        let mut results = results();
        results.quick = true;
        let page = page(&results);
        for text in [page.terminal(), page.markdown("2000-01-01", "bench", "")] {
            assert!(text.contains("no figure means anything"), "{text}");
            assert!(!text.contains("reached"), "{text}");
        }
    }
}
