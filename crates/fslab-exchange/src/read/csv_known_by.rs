//! The headline of a phase in a table: given by the table, or chosen by the figures that the phase
//! has.

use std::collections::BTreeMap;

use fslab_model::definitions::{ELAPSED, OPERATION_RATE, THROUGHPUT};
use fslab_model::{Headline, METRICS, PhaseKind};

use crate::error::Fault;
use crate::reading::Measured;

/// Preferred headlines, in order.
const FIRST: [&str; 3] = [THROUGHPUT.name, OPERATION_RATE.name, ELAPSED.name];

/// The headline and kind given by a row of fslab's own tables. `None` if it has none, and for other
/// tools' tables, whatever the names of their columns.
pub(crate) fn named<'r>(
    field: impl Fn(&str) -> Option<&'r str>,
    line: u64,
) -> Result<Option<(Headline, PhaseKind)>, Fault> {
    let own = field("plan_hash").and(field("headline").zip(field("kind")));
    let Some((headline, kind)) = own else {
        return Ok(None);
    };
    let wrong = |name: &str, text: &str| {
        Fault::value(
            format!("line {line}, {name}"),
            text,
            "a word of fslab's own tables",
        )
    };
    let kind = match kind {
        "read" => PhaseKind::Read,
        "write" => PhaseKind::Write,
        "mixed" => PhaseKind::Mixed,
        "metadata" => PhaseKind::Metadata,
        other => return Err(wrong("kind", other)),
    };
    match Headline::named(headline) {
        Some(headline) => Ok(Some((headline, kind))),
        None => Err(wrong("headline", headline)),
    }
}

/// The number of records of a phase, and of each of its figures.
#[derive(Default)]
struct Counts {
    records: usize,
    figures: BTreeMap<String, usize>,
}

impl Counts {
    /// The first figure that every record has, else the first that any has: throughput, the rate of
    /// operations, the time, then any with a good direction.
    fn headline(&self) -> Option<Headline> {
        let others = METRICS.iter().map(|metric| metric.name);
        let names = || FIRST.into_iter().chain(others.clone());
        let count = |name: &str| self.figures.get(name).copied().unwrap_or_default();
        let known = |name: &str| {
            let metric = METRICS.iter().find(|metric| metric.name == name)?;
            Headline::of(metric)
        };
        let of_all = names().filter(|name| count(name) == self.records);
        let of_any = names().filter(|name| count(name) > 0);
        of_all.chain(of_any).find_map(known)
    }
}

/// Sets the kind and headline of each phase, over all trials. Notes phases without a figure to
/// compare.
pub(crate) fn known_by(
    trials: &mut [Measured],
    named: &BTreeMap<String, (Headline, PhaseKind)>,
) -> Result<Vec<String>, Fault> {
    let mut found: BTreeMap<String, Counts> = BTreeMap::new();
    for phase in trials.iter().flat_map(|trial| &trial.phases) {
        let counts = found.entry(phase.name.clone()).or_default();
        if phase.figures.is_empty() {
            continue;
        }
        counts.records += 1;
        for name in phase.figures.keys() {
            *counts.figures.entry(name.clone()).or_default() += 1;
        }
    }
    let headline = |name: &str| {
        let given = named.get(name).map(|(headline, _)| *headline);
        given.or_else(|| found.get(name)?.headline())
    };
    for phase in trials.iter_mut().flat_map(|trial| &mut trial.phases) {
        if let Some(headline) = headline(&phase.name) {
            phase.headline = headline;
        }
        phase.kind = match (named.get(&phase.name), phase.headline) {
            (Some((_, kind)), _) => *kind,
            (None, Headline::OperationRate) => PhaseKind::Metadata,
            (None, _) => kind_of(&phase.name),
        };
    }
    let is_without = |name: &&String| headline(name).is_none() && found[*name].records > 0;
    let without: Vec<&String> = found.keys().filter(is_without).collect();
    let has_steps = trials.iter().any(|trial| !trial.steps.is_empty());
    let measured = found.values().filter(|counts| counts.records > 0).count();
    let note = |name: &&String| {
        let figures: Vec<&str> = found[*name].figures.keys().map(String::as_str).collect();
        format!(
            "the phase '{name}' has only {}, for which neither less nor more is better: it is \
             shown, but not compared",
            figures.join(", ")
        )
    };
    match without.first() {
        Some(first) if without.len() == measured && !has_steps => {
            let reason = format!(
                "the phase '{first}' has only {}, for which neither less nor more is better",
                found[*first]
                    .figures
                    .keys()
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(", ")
            );
            Err(Fault::no_figure(reason).hint(
                "add a rate, a time or a latency of each phase: throughput, operation_rate, \
                 elapsed, latency_p99",
            ))
        }
        _ => Ok(without.iter().map(note).collect()),
    }
}

fn kind_of(name: &str) -> PhaseKind {
    let name = name.to_ascii_lowercase();
    match (name.contains("read"), name.contains("writ")) {
        (true, false) => PhaseKind::Read,
        (false, true) => PhaseKind::Write,
        _ => PhaseKind::Mixed,
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::definitions as d;

    use super::*;
    use crate::read::csv_rows::read;

    fn headline(rows: &str) -> Headline {
        let reading = read(&format!("phase,subject,metric,value,unit\n{rows}")).expect(rows);
        let phases = || reading.trials.iter().flat_map(|trial| &trial.phases);
        let headline = phases().next().expect("a phase").headline;
        assert!(phases().all(|phase| phase.headline == headline));
        headline
    }

    #[test]
    fn a_phase_that_has_its_time_alone_is_known_by_it_and_nothing_is_made_of_it() {
        let reading = read("phase,metric,value,unit\nbuild,time,20,s\n").expect("a time");
        let phase = &reading.trials[0].phases[0];
        assert_eq!(phase.headline, Headline::Duration);
        let figures: Vec<_> = phase.figures.iter().collect();
        assert_eq!(figures, [(&"elapsed_ns".to_owned(), &20e9)]);
    }

    #[test]
    fn a_phase_is_known_by_the_first_figure_that_all_have() {
        for (rows, expected) in [
            ("w,a,bw,1,B/s\nw,a,time,1,s\n", Headline::Throughput),
            ("w,a,time,1,s\nw,a,latency_p99,1,us\n", Headline::Duration),
            (
                "w,a,latency_p99,1,us\nw,a,cpu,1,%\n",
                Headline::Figure(&d::LATENCY_P99),
            ),
            ("w,a,cpu_user_ns,5,\n", Headline::Figure(&d::CPU_USER)),
            (
                "w,a,bw,1,B/s\nw,a,time,1,s\nw,b,time,1,s\n",
                Headline::Duration,
            ),
        ] {
            assert_eq!(headline(rows), expected, "{rows}");
        }
    }

    #[test]
    fn what_nothing_can_be_compared_in_is_refused_by_what_it_has() {
        let head = "phase,metric,value,unit\n";
        let fault = read(&format!("{head}w,cpu,12,%\nw,operations,5,1\n")).expect_err("no figure");
        let shown = fault.to_string();
        assert!(
            shown.contains("'w' has only cpu_share, operations"),
            "{shown}"
        );
        let some = read(&format!("{head}w,cpu,12,%\nv,time,5,s\n")).expect("a figure");
        assert!(some.notes[0].contains("the phase 'w'"), "{:?}", some.notes);
    }
}
