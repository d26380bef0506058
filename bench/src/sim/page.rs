//! The findings as a page.

use super::findings::{Everything, Findings, Kind, Phase, PhaseFigures, SizeFigures};
use super::goals::{self, judge};
use super::session::Compared;
use crate::grid::Grid;
use crate::page::{Page, Section};
use crate::series::Spread;
use crate::verdict;

/// Trials of the quick study that are shown: the longest.
const TRIALS_SHOWN: usize = 8;

const METHOD: &str = "\
Every figure is that of `fslab compare --venue sim` with the studies in `bench/sim`. Virtual time is
exact and the same in every round; what it costs the host is measured around each phase, in real
time and in time of the processor. Phases and sizes run with one guest at a time, the quick study
with one guest a processor. Before each run, memory is touched, since a machine that is a guest may
have returned it to its host. Figures are medians of all rounds with the smallest and the largest.

What can be asked of a phase depends on what it does with its disk, which the trace shows. A phase
*waits* where at least every second operation comes with an access to the media: it must simulate
200 seconds a second. It *streams* where an operation moves 256 KiB or more: it must move 500 MB of
file data a second. Where a *cache* answers most operations, there is hardly any virtual time to
simulate, and where the disk is *idle* there is none at all: what is left is the host's time for an
operation.
";

/// What a run reports while it works.
pub(crate) fn progress(what: &str, compared: &Compared) {
    let took_s = compared.real_ns as f64 / 1e9;
    let (done, all) = (compared.record.trials_done(), compared.record.trials.len());
    eprintln!("bench: {what}: {done} of {all} trials done in {took_s:.1} s");
}

/// What was found, as a page.
pub(crate) fn page(findings: &Findings) -> Page {
    let judged = judge(findings);
    let grids = grids(findings).into_iter();
    let tables = grids.map(|(title, grid)| Section::grid(title, grid));
    let facts = Section::facts("Machine and versions", &findings.facts);
    Page {
        title: "The speed of virtual time",
        summary: verdict::summary(&judged, findings.rounds),
        method: METHOD.to_owned(),
        picture: None,
        targets: Some(verdict::table(&judged)),
        sections: tables.chain([facts]).collect(),
        notes: Vec::new(),
    }
}

fn grids(findings: &Findings) -> Vec<(&'static str, Grid)> {
    let everything = findings.everything.iter().flat_map(trials).collect();
    let grids = [
        ("Phases", phases(findings)),
        ("Sizes", sizes(findings)),
        (
            "The quick study of every file system",
            Grid {
                head: &["file system", "trial s", "outcome"],
                rows: everything,
            },
        ),
        ("The model alone", requests(findings)),
    ];
    grids
        .into_iter()
        .filter(|(_, grid)| !grid.rows.is_empty())
        .collect()
}

fn phases(findings: &Findings) -> Grid {
    Grid {
        head: &[
            "disk",
            "file system",
            "phase",
            "virtual s",
            "virtual us/op",
            "accesses/op",
            "real us/op",
            "simulated s/real s",
            "simulated s/processor s",
            "MB/real s",
            "kind",
            "target",
            "verdict",
        ],
        rows: findings.phases.iter().map(phase_row).collect(),
    }
}

fn phase_row(phase: &Phase) -> Vec<String> {
    let mut cells = vec![
        phase.disk.clone(),
        phase.subject.clone(),
        phase.name.clone(),
    ];
    match &phase.figures {
        Ok(figures) => cells.extend(figure_cells(phase, figures)),
        Err(why) => {
            cells.resize(10, String::new());
            cells.extend([
                why.clone(),
                String::new(),
                verdict::verdict(None).to_owned(),
            ]);
        }
    }
    cells
}

fn figure_cells(phase: &Phase, figures: &PhaseFigures) -> [String; 10] {
    let kind = figures.kind();
    let operations = figures.operations.max(1) as f64;
    let has_time = kind != Kind::Idle;
    let has_data = figures.bytes > 0;
    let target = goals::phase_target(kind);
    let verdict = goals::phase_reached(phase);
    [
        format!("{:.2}", figures.virtual_ns as f64 / 1e9),
        format!("{:.1}", figures.virtual_ns as f64 / 1e3 / operations),
        format!("{:.2}", figures.accesses_each()),
        spread(figures.operation_us()),
        spread(figures.speed().filter(|_| has_time)),
        spread(figures.speed_of_processor().filter(|_| has_time)),
        spread(figures.data_rate().filter(|_| has_data)),
        word(kind).to_owned(),
        target.clone().unwrap_or_default(),
        target.map_or_else(String::new, |_| verdict::verdict(verdict).to_owned()),
    ]
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Streams => "streams",
        Kind::Waits => "waits",
        Kind::Cached => "is cached",
        Kind::Idle => "has an idle disk",
    }
}

fn sizes(findings: &Findings) -> Grid {
    let mut rows = Vec::new();
    for sized in &findings.sizes {
        match &sized.pair {
            Ok(pair) => rows.extend(pair.iter().map(|it| size_row(&sized.subject, it))),
            Err(why) => {
                let mut cells = vec![sized.subject.clone(), why.clone()];
                cells.resize(7, String::new());
                rows.push(cells);
            }
        }
    }
    Grid {
        head: &[
            "file system",
            "size",
            "trial s",
            "written MB",
            "image MB",
            "trace MB",
            "requests in the trace",
        ],
        rows,
    }
}

fn size_row(subject: &str, figures: &SizeFigures) -> Vec<String> {
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    let footprint = |name| figures.footprint.get(name).copied().unwrap_or(0);
    let seconds: Vec<_> = figures.real_ns.iter().map(|ns| ns / 1e9).collect();
    vec![
        subject.to_owned(),
        figures.size.to_owned(),
        spread(Spread::of(&seconds)),
        megabytes(figures.written_bytes),
        megabytes(footprint(goals::IMAGE)),
        megabytes(footprint(goals::TRACE)),
        goals::trace_requests(footprint(goals::TRACE)).to_string(),
    ]
}

/// The longest trials and those that failed.
fn trials(everything: &Everything) -> Vec<Vec<String>> {
    let mut trials: Vec<_> = everything.trials.iter().collect();
    trials.sort_by_key(|(_, real_ns, _)| std::cmp::Reverse(*real_ns));
    trials
        .iter()
        .enumerate()
        .filter(|(place, (_, _, failure))| *place < TRIALS_SHOWN || failure.is_some())
        .map(|(_, (subject, real_ns, failure))| {
            vec![
                subject.clone(),
                format!("{:.1}", *real_ns as f64 / 1e9),
                failure.clone().unwrap_or_else(|| "done".to_owned()),
            ]
        })
        .collect()
}

fn requests(findings: &Findings) -> Grid {
    let rows = findings.requests.iter().map(|it| {
        vec![
            it.disk.clone(),
            it.what.to_owned(),
            it.depth.to_string(),
            spread(Some(it.ns)),
        ]
    });
    Grid {
        head: &["disk", "requests", "depth", "ns a request"],
        rows: rows.collect(),
    }
}

/// `12.3 (11.9..14.2)`, and nothing for nothing.
fn spread(spread: Option<Spread>) -> String {
    let Some(Spread {
        min, median, max, ..
    }) = spread
    else {
        return String::new();
    };
    let digits = match median {
        it if it >= 100.0 => 0,
        it if it >= 1.0 => 1,
        _ => 3,
    };
    format!("{median:.digits$} ({min:.digits$}..{max:.digits$})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::findings::tests::figures;

    fn page_of(figures: Result<PhaseFigures, String>) -> String {
        let phase = Phase {
            disk: "disk".into(),
            subject: "ext4".into(),
            name: "stat".into(),
            figures,
        };
        let findings = Findings {
            phases: vec![phase],
            rounds: 3,
            ..Findings::default()
        };
        page(&findings).markdown("2000-01-01", "fslab-bench sim", "")
    }

    #[test]
    fn a_phase_without_virtual_time_has_no_speed_but_a_cost() {
        let text = page_of(Ok(figures(0, 0, 0)));
        let row = "| disk | ext4 | stat | 1.00 | 1000.0 | 0.00 | 5.0 (5.0..5.0) |  |  |  \
                   | has an idle disk |  |  |";
        assert!(text.contains(row), "{text}");
    }

    #[test]
    fn what_falls_short_and_what_failed_are_shown_as_they_are() {
        let mut slow = figures(4_096_000, 1_000, 1);
        slow.virtual_ns /= 2;
        let text = page_of(Ok(slow));
        assert!(text.contains("| waits | 200 s/s | NOT reached |"), "{text}");
        let text = page_of(Err("skipped: no O_DIRECT".into()));
        assert!(
            text.contains("| skipped: no O_DIRECT |  | not measured |"),
            "{text}"
        );
        assert!(text.contains("0 targets reached, 0 not reached"), "{text}");
    }
}
