//! What a subject asks of the device beyond the others, as a sentence: the reason of many a figure,
//! from the counters of the trials.

use fslab_compare::{Analysis, PhaseAnalysis, PhaseCell};
use fslab_model::{PhaseKind, PhaseRecord};

use crate::wording::{list, phase};

/// Requests that are named: so many times those of the others.
const TIMES_MIN: f64 = 4.0;
/// The least requests for an operation, and for a MiB, that are named.
const EACH_MIN: f64 = 0.9;
const PER_MIB_MIN: f64 = 64.0;
/// Phases named of each subject.
const PHASES_MAX: usize = 4;
const MIB: f64 = 1_048_576.0;

/// Requests of a subject in a phase, for a MiB or an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    writes: f64,
    /// `None` if the device does not count them.
    flushes: Option<f64>,
}

/// "At the device, UFS1 causes 258 writes for each MiB in write (the others at the median 2.0)."
pub(crate) fn device_costs(analysis: &Analysis, names: &[String]) -> Vec<String> {
    let of_subject = |(subject, name): (usize, &String)| {
        let mut found: Vec<String> = analysis
            .phases
            .iter()
            .filter(|of| of.sweep.is_none())
            .filter_map(|of| excess(of, subject))
            .collect();
        let more = found.len().saturating_sub(PHASES_MAX);
        found.truncate(PHASES_MAX);
        if more > 0 {
            found.push(format!("more in {more} further phases"));
        }
        (!found.is_empty()).then(|| format!("At the device, {name} causes {}.", list(&found)))
    };
    names.iter().enumerate().filter_map(of_subject).collect()
}

/// What the subject causes in a phase many times as often as the others do at the median.
fn excess(of: &PhaseAnalysis, subject: usize) -> Option<String> {
    let kind = of.kind?;
    let (unit, least) = match kind {
        PhaseKind::Write => ("MiB", PER_MIB_MIN),
        PhaseKind::Metadata => ("operation", EACH_MIN),
        PhaseKind::Read | PhaseKind::Mixed => return None,
    };
    let costs: Vec<Option<Cost>> = of.cells.iter().map(|cell| cost(cell, kind)).collect();
    let own = costs[subject]?;
    let others = |figure: fn(&Cost) -> Option<f64>| {
        let others = costs.iter().enumerate().filter(|(it, _)| *it != subject);
        let found: Vec<f64> = others
            .filter_map(|(_, cost)| figure(cost.as_ref()?))
            .collect();
        middle(found)
    };
    let name = phase(of.name);
    let words = |own: f64, of_others: Option<f64>, what: &str| {
        let of_others = of_others?;
        let is_more = own >= least && own >= TIMES_MIN * of_others;
        is_more.then(|| {
            let (own, of_others) = (number(own), number(of_others));
            format!("{own} {what} for each {unit} in {name} (the others at the median {of_others})")
        })
    };
    let writes = words(own.writes, others(|cost| Some(cost.writes)), "writes");
    let flushes = || words(own.flushes?, others(|cost| cost.flushes), "flushes");
    writes.or_else(flushes)
}

/// The requests of a subject's repeats; `None` if no device counted them.
fn cost(cell: &PhaseCell, kind: PhaseKind) -> Option<Cost> {
    let mut total = (0.0, 0.0, Some(0.0));
    for record in cell.done() {
        let device = record.device?;
        total.0 += units(record, kind)?;
        total.1 += device.writes as f64;
        total.2 = total
            .2
            .zip(device.flushes)
            .map(|(sum, it): (f64, u64)| sum + it as f64);
    }
    let (units, writes, flushes) = total;
    (units > 0.0).then(|| Cost {
        writes: writes / units,
        flushes: flushes.map(|it| it / units),
    })
}

fn units(record: &PhaseRecord, kind: PhaseKind) -> Option<f64> {
    match kind {
        PhaseKind::Write => Some(record.bytes? as f64 / MIB),
        _ => Some(record.operations? as f64),
    }
}

/// The median, the higher of two; `None` of nothing.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn number(value: f64) -> String {
    if value >= 10.0 {
        return format!("{value:.0}");
    }
    format!("{value:.1}")
}
