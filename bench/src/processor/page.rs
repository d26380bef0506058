//! The tables of an agreement, and the page that is kept with its picture.

use fslab_claims::{Claims, Original, Published, PublishedRow, PublishedValue};
use fslab_compare::Analysis;
use fslab_model::{Headline, RunRecord};

use super::Findings;
use super::agreement::{Agreement, PhaseAgreement};
use crate::grid::Grid;

/// What is to be reached: the median rank correlation of a phase, and the median by which the ratio
/// of two file systems differs.
const CORRELATION_GOAL: f64 = 0.9;
const RATIO_GOAL: f64 = 0.25;

/// The tables for the terminal.
pub(crate) fn terminal(findings: &Findings) -> String {
    format!(
        "{}\n\n{}\n",
        summary(&findings.agreement),
        phases(&findings.agreement).terminal()
    )
}

/// The page; its picture, if there is one, lies beside it as `picture`.
pub(crate) fn page(
    findings: &Findings,
    date: &str,
    command: &str,
    picture: Option<&str>,
) -> String {
    let picture = picture.map_or_else(String::new, |picture| {
        format!("![Real rates against counted ones]({picture})\n\n")
    });
    format!(
        "# The counted processor and this machine's, {date}\n\n{}\n\n`{command}`\n\n{}\n\n\
         {picture}## Phases\n\n{}\n\n## Rates\n\n{}\n",
        summary(&findings.agreement),
        conditions(findings),
        phases(&findings.agreement).markdown(),
        rates(&findings.agreement).markdown(),
    )
}

/// Real rates against counted ones, a panel for each phase, as SVG; `None` if too few were
/// measured.
pub(crate) fn picture(findings: &Findings) -> Option<String> {
    let original = Original {
        claims: Claims::from_toml("study = \"processor\"\n").ok()?,
        published: Published {
            rows: findings
                .agreement
                .phases
                .iter()
                .flat_map(|it| rows(it, &findings.real))
                .collect(),
        },
    };
    let analysis = Analysis::of(&findings.counted);
    let exhibits = fslab_report::then_and_now_pictures(&analysis, &original);
    exhibits.into_iter().find_map(|exhibit| exhibit.svg())
}

/// The real rates of a phase in the form of an original's figures.
fn rows(phase: &PhaseAgreement, real: &RunRecord) -> Vec<PublishedRow> {
    let planned = real.trials.iter().flat_map(|trial| &trial.phases);
    let headline = planned
        .into_iter()
        .find(|it| it.name == phase.name)
        .map(|it| it.headline);
    let (metric, unit) = match headline {
        Some(Headline::Throughput) => ("rate", "K/sec"),
        _ => ("operations", "/sec"),
    };
    // `K/sec` are KiB, as bonnie++ prints them.
    let unit_of_one = if unit == "K/sec" { 1024.0 } else { 1.0 };
    let row = |(subject, rate, _): &(String, f64, f64)| PublishedRow {
        place: "this machine".to_owned(),
        subject: Some(subject.clone()),
        phase: phase.name.clone(),
        parameters: Vec::new(),
        part: None,
        value: PublishedValue::Number(*rate / unit_of_one),
        printed: format!("{rate:.0}"),
        metric: Some(metric.to_owned()),
        unit: Some(unit.to_owned()),
        note: String::new(),
    };
    phase.rates.iter().map(row).collect()
}

fn summary(agreement: &Agreement) -> String {
    let reached = |is_so: bool| if is_so { "reached" } else { "NOT reached" };
    let correlation = agreement.median_correlation().map_or_else(
        || "The rank correlation is not measured.".to_owned(),
        |rho| {
            let verdict = reached(rho >= CORRELATION_GOAL);
            format!(
                "Rank correlation, median of the phases: {rho:.2} (goal {CORRELATION_GOAL}: \
                 {verdict})."
            )
        },
    );
    let ratio = agreement.median_ratio_error().map_or_else(
        || "The ratios are not measured.".to_owned(),
        |error| {
            let verdict = reached(error <= RATIO_GOAL);
            format!(
                "The ratio of two file systems differs by {:.0} % in the median of all pairs and \
                 phases (goal {:.0} %: {verdict}).",
                100.0 * error,
                100.0 * RATIO_GOAL
            )
        },
    );
    format!("{correlation} {ratio}")
}

fn conditions(findings: &Findings) -> String {
    let machine = findings.counted.header.plan.venue.counted_machine();
    let machine = machine.map_or_else(|| "none".to_owned(), ToString::to_string);
    let facts = &findings.real.header.machine;
    let unknown = || "unknown".to_owned();
    let repeats = |run: &RunRecord| run.header.plan.repeats;
    format!(
        "Real: the venue loop on images in tmpfs, kernel {}, processor {}, {} repeats. Counted: the \
         machine {machine}, lab {}, {} repeats. Rates are medians of the repeats.",
        facts.kernel.clone().unwrap_or_else(unknown),
        facts.cpu.clone().unwrap_or_else(unknown),
        repeats(&findings.real),
        findings.counted.labs().join(", "),
        repeats(&findings.counted),
    )
}

fn phases(agreement: &Agreement) -> Grid {
    let row = |phase: &PhaseAgreement| {
        let correlation = phase.correlation.as_ref();
        let interval = correlation.and_then(|it| it.interval);
        vec![
            phase.name.clone(),
            phase.rates.len().to_string(),
            correlation.map_or_else(|| "-".to_owned(), |it| format!("{:.2}", it.rho)),
            interval.map_or_else(
                || "-".to_owned(),
                |it| format!("{:.2} to {:.2}", it.low, it.high),
            ),
            format!("{:.2}", phase.factor),
            phase
                .median_ratio_error()
                .map_or_else(|| "-".to_owned(), |error| format!("{:.0} %", 100.0 * error)),
        ]
    };
    Grid {
        head: &[
            "phase",
            "file systems",
            "rank correlation",
            "95 % interval",
            "real / counted",
            "ratio of two differs by, median",
        ],
        rows: agreement.phases.iter().map(row).collect(),
    }
}

fn rates(agreement: &Agreement) -> Grid {
    let rows = agreement.phases.iter().flat_map(|phase| {
        phase.rates.iter().map(move |(subject, real, counted)| {
            vec![
                phase.name.clone(),
                subject.clone(),
                format!("{real:.4e}"),
                format!("{counted:.4e}"),
                format!("{:.2}", real / counted),
            ]
        })
    });
    Grid {
        head: &[
            "phase",
            "file system",
            "real, per s",
            "counted, per s",
            "real / counted",
        ],
        rows: rows.collect(),
    }
}
