//! An agreement as a page.

use fslab_model::{Headline, RunRecord};

use super::Findings;
use super::agreement::{Agreement, CLEAR_DIFFERENCE, PhaseAgreement, REPEATED_LEAST};
use super::picture::picture;
use super::prices::{Priced, PricedPhase, Prices, Request, Trial, trials};
use crate::grid::Grid;
use crate::page::{Body, Page, Section};
use crate::verdict::verdict;

/// What is to be reached: the median rank correlation of a phase, and the median by which the ratio
/// of two file systems differs.
const CORRELATION_GOAL: f64 = 0.9;
const RATIO_GOAL: f64 = 0.25;

/// What was found, as a page.
pub(crate) fn page(findings: &Findings) -> Page {
    let pricing = Pricing::of(findings);
    let of_prices = Body::Explained(pricing.words(), prices(&pricing.trials));
    let section = |title, body| Section { title, body };
    Page {
        title: "The counted processor and this machine's",
        summary: summary(&findings.agreement),
        method: format!("{}\n", conditions(findings)),
        picture: picture(findings).map(|svg| (svg, "Counted rates against real ones")),
        targets: None,
        sections: vec![
            Section::grid("Phases", phases(&findings.agreement)),
            section("Prices", of_prices),
            section("Rates", Body::LongGrid(rates(&findings.agreement))),
        ],
        notes: Vec::new(),
    }
}

fn summary(agreement: &Agreement) -> String {
    let correlation = agreement.median_correlation().map_or_else(
        || "The rank correlation is not measured.".to_owned(),
        |rho| {
            let verdict = verdict(Some(rho >= CORRELATION_GOAL));
            format!(
                "Rank correlation, median of all {} phases: {rho:.3} (goal {CORRELATION_GOAL}: \
                 {verdict}).",
                agreement.phases.len()
            )
        },
    );
    let repeated = match agreement.median_correlation_of_repeated() {
        (Some(rho), count) => format!(
            "Of the {count} phases whose real order is repeated (at least {REPEATED_LEAST} between \
             odd and even repeats): {rho:.3}."
        ),
        (None, _) => format!(
            "No phase has a real order that is repeated (at least {REPEATED_LEAST} between odd and \
             even repeats)."
        ),
    };
    let ratio = agreement.median_ratio_error().map_or_else(
        || "The ratios are not measured.".to_owned(),
        |error| {
            let verdict = verdict(Some(error <= RATIO_GOAL));
            format!(
                "The ratio of two file systems differs by {:.1} % in the median of all pairs and \
                 phases (goal {:.0} %: {verdict}).",
                100.0 * error,
                100.0 * RATIO_GOAL
            )
        },
    );
    let (alike, all) = agreement.ordered_alike();
    let pairs = match all {
        0 => "No pair of file systems has clearly different real rates.".to_owned(),
        _ => format!(
            "Of {all} pairs of file systems in a phase whose real rates differ by more than {:.0} %, \
             the counted ones have the same order in {alike} ({:.0} %).",
            100.0 * CLEAR_DIFFERENCE,
            100.0 * alike as f64 / all as f64
        ),
    };
    format!("{correlation} {repeated} {pairs} {ratio}")
}

fn conditions(findings: &Findings) -> String {
    let machine = findings.counted.header.plan.venue.counted_machine();
    let machine = machine.map_or_else(|| "none".to_owned(), ToString::to_string);
    let facts = &findings.real.header.machine;
    let unknown = || "unknown".to_owned();
    let repeats = |run: &RunRecord| run.header.plan.repeats;
    let (real, counted) = (releases(&findings.real), releases(&findings.counted));
    let kernels = match real == counted {
        true => "",
        false => " The kernels differ, which is part of every difference below.",
    };
    format!(
        "Real: the venue loop on images in tmpfs, kernel {real}, processor {}, {} repeats. The run \
         was kept on one processor (number {}), since the counted machine has one: fslab, its trials \
         and the programs of ntfs-3g and zfs; threads of the kernel were not. Counted: the machine \
         {machine}, kernel {counted} (lab {}), {} repeats.{kernels} Rates are medians of the \
         repeats.\n\n\
         A phase in whose order the real machine does not agree with itself cannot be decided: \
         \"real, odd against even repeats\" is the rank correlation between the medians of the \
         odd and of the even repeats of the real run.",
        facts.cpu.clone().unwrap_or_else(unknown),
        repeats(&findings.real),
        findings.processor,
        findings.counted.labs().join(", "),
        repeats(&findings.counted),
    )
}

/// The kernels of a run's trials, each once.
fn releases(run: &RunRecord) -> String {
    let found = run.trials.iter().filter_map(|it| it.facts.get("kernel"));
    let mut found: Vec<&str> = found.map(String::as_str).collect();
    found.sort_unstable();
    found.dedup();
    match found.is_empty() {
        true => "unknown".to_owned(),
        false => found.join(", "),
    }
}

fn phases(agreement: &Agreement) -> Grid {
    let row = |phase: &PhaseAgreement| {
        let correlation = phase.correlation.as_ref();
        let interval = correlation.and_then(|it| it.interval);
        vec![
            phase.name.clone(),
            phase.rates.len().to_string(),
            coefficient(correlation.map(|it| it.rho)),
            interval.map_or_else(
                || "-".to_owned(),
                |it| format!("{:.2} to {:.2}", it.low, it.high),
            ),
            coefficient(phase.own_order),
            format!("{:.2}", phase.factor),
            percent(phase.median_ratio_error()),
        ]
    };
    Grid {
        head: &[
            "phase",
            "file systems",
            "rank correlation",
            "95 % interval",
            "real, odd against even repeats",
            "real / counted",
            "ratio of two differs by, median",
        ],
        rows: agreement.phases.iter().map(row).collect(),
    }
}

/// What prices bring.
struct Pricing {
    phases: Vec<PricedPhase>,
    /// The phases with operations whose calls are not known.
    left_out: Vec<String>,
    trials: Vec<Trial>,
}

impl Pricing {
    fn of(findings: &Findings) -> Self {
        let machine = findings.counted.header.plan.venue.counted_machine();
        // A constant factor changes no ratio.
        let per_s = machine.map_or(1e9, |it| it.instructions_per_s as f64);
        let (mut phases, mut left_out) = (Vec::new(), Vec::new());
        for phase in &findings.agreement.phases {
            match priced(phase, &findings.counted, per_s) {
                Some(priced) => phases.push(priced),
                None => left_out.push(phase.name.clone()),
            }
        }
        Self {
            trials: trials(&phases),
            phases,
            left_out,
        }
    }

    fn words(&self) -> String {
        let requests = self.phases.iter().map(|phase| {
            let Request { calls, bytes } = phase.request;
            format!("{} {calls:.0} and {bytes:.0}", phase.name)
        });
        let left_out = match self.left_out.as_slice() {
            [] => String::new(),
            names => format!(
                " Left out, since their calls are not known: {}.",
                names.join(", ")
            ),
        };
        format!(
            "What would prices bring? The time of an operation is its instructions, a price for each \
             system call and a price for each byte that it copies, both in instructions. Prices are \
             found on one half of the phases (the first, third and so on, or the second, fourth and \
             so on) by trying 0 and eight steps of each decade, 10 to 100,000 a call and 0.001 to 10 \
             a byte, for the least median by which ratios differ, and tested on the other half. \
             Calls and bytes of an operation: {}.{left_out} Page faults have no price: the buffers \
             are touched before the phases. All file systems pay the same in a phase, so that prices \
             make them more alike and never change their order.",
            requests.collect::<Vec<_>>().join(", "),
        )
    }
}

fn priced(phase: &PhaseAgreement, counted: &RunRecord, per_s: f64) -> Option<PricedPhase> {
    let records = counted.trials.iter().flat_map(|trial| &trial.phases);
    let mut records = records.filter(|it| it.name == phase.name);
    let (record, request) = records.find_map(|it| Some((it, Request::of(it)?)))?;
    let is_of_bytes = match record.headline {
        Headline::Throughput => true,
        Headline::OperationRate => false,
        Headline::Duration | Headline::Figure(_) => return None,
    };
    Some(PricedPhase::of(phase, request, is_of_bytes, per_s))
}

fn prices(trials: &[Trial]) -> Grid {
    let row = |trial: &Trial| {
        let mut cells = vec![
            match trial.priced {
                Priced::Nothing => "instructions alone",
                Priced::Bytes => "+ bytes",
                Priced::Calls => "+ calls",
                Priced::Both => "+ calls and bytes",
            }
            .to_owned(),
        ];
        cells.extend(trial.prices.iter().map(|found| words(trial.priced, *found)));
        cells.extend(trial.tested.iter().copied().map(percent));
        cells.push(percent(trial.ratio_error));
        cells.push(coefficient(trial.correlation));
        cells
    };
    Grid {
        head: &[
            "time of an operation",
            "prices found on phases 1, 3, ...",
            "on phases 2, 4, ...",
            "ratio differs by, median: 2, 4, ... at prices of 1, 3, ...",
            "1, 3, ... at prices of 2, 4, ...",
            "all, at prices of the other half",
            "median rank correlation of all",
        ],
        rows: trials.iter().map(row).collect(),
    }
}

fn words(priced: Priced, prices: Prices) -> String {
    let call = format!("{} a call", digits(prices.per_call));
    let byte = format!("{} a byte", digits(prices.per_byte));
    match priced {
        Priced::Nothing => "-".to_owned(),
        Priced::Bytes => byte,
        Priced::Calls => call,
        Priced::Both => format!("{call}, {byte}"),
    }
}

/// A number to three digits.
fn digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

fn coefficient(rho: Option<f64>) -> String {
    rho.map_or_else(|| "-".to_owned(), |rho| format!("{rho:.2}"))
}

fn rates(agreement: &Agreement) -> Grid {
    let rows = agreement.phases.iter().flat_map(|phase| {
        phase.rates.iter().map(move |it| {
            vec![
                phase.name.clone(),
                it.subject.clone(),
                format!("{:.4e}", it.real),
                format!("{:.4e}", it.counted),
                format!("{:.2}", it.real / it.counted),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_named_to_three_digits_and_only_where_they_are_found() {
        let prices = Prices {
            per_call: 13_335.2,
            per_byte: 0.001_333,
        };
        assert_eq!(words(Priced::Nothing, prices), "-");
        assert_eq!(words(Priced::Calls, prices), "13300 a call");
        assert_eq!(words(Priced::Both, prices), "13300 a call, 0.00133 a byte");
    }
}
