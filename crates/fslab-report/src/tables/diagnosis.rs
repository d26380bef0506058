//! Anomalies in the repeats: outliers, two modes, drift, warm-up.

use fslab_stats::Outlier;

use super::overview::phase_target;
use crate::wording;
use crate::{Column, Table, TableCell};
use fslab_compare::{Analysis, Anomaly, DetectedAnomaly};

/// Most anomalies listed; more are counted.
const ROWS_MAX: usize = 60;
/// Most outliers listed in a row.
const OUTLIERS_MAX: usize = 4;

/// The anomalies of each phase and subject, with figures and corrected p-value; `None` if there is
/// none.
pub fn diagnosis(analysis: &Analysis) -> Option<Table> {
    let found = &analysis.diagnosis.findings;
    if found.is_empty() {
        return None;
    }
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let row = |finding: &DetectedAnomaly| {
        let phase = finding.phase.map(|place| analysis.phases[place].name);
        let run = || TableCell::new("the entire run");
        vec![
            phase.map_or_else(run, |name| {
                TableCell::new(wording::heading(name)).leads_to(phase_target(name))
            }),
            finding.subject.map_or_else(TableCell::nothing, |subject| {
                TableCell::new(&names[subject]).about(subject)
            }),
            TableCell::new(kind(&finding.anomaly)),
            TableCell::new(details(analysis, finding)),
            TableCell::new(wording::p_value(finding.p_corrected)),
        ]
    };
    let mut notes = vec![format!(
        "Nothing is dropped: every repeat is in every figure. Looked at: {} of a phase and a \
         subject, each kind of anomaly corrected for that many.",
        wording::count(analysis.diagnosis.samples, "sample")
    )];
    if found.len() > ROWS_MAX {
        let more = found.len() - ROWS_MAX;
        notes.push(format!(
            "{} more are not listed.",
            wording::thousands(more as f64)
        ));
    }
    Some(Table {
        caption: "Anomalies in the repeats".to_owned(),
        columns: vec![
            Column::left("Phase"),
            Column::left("Subject"),
            Column::left("Anomaly"),
            Column::left("What was found"),
            Column::right("corrected p").of("Corrected p"),
        ],
        rows: found.iter().take(ROWS_MAX).map(row).collect(),
        notes,
    })
}

/// The kind as named in docs/figures.md.
pub(crate) fn kind(anomaly: &Anomaly) -> &'static str {
    match anomaly {
        Anomaly::Outliers(_) => "Outlier",
        Anomaly::TwoModes(_) => "Two modes",
        Anomaly::Drift(_) => "Drift",
        Anomaly::WarmUp(_) => "Warm-up",
    }
}

fn details(analysis: &Analysis, finding: &DetectedAnomaly) -> String {
    let repeat = |index: usize| finding.repeats.get(index).map_or(index, |r| *r as usize) + 1;
    match &finding.anomaly {
        Anomaly::Outliers(found) => {
            let outlier =
                |it: &Outlier| format!("repeat {} {}", repeat(it.index), wording::away(it.times));
            let mut outliers: Vec<String> = found.iter().take(OUTLIERS_MAX).map(outlier).collect();
            if found.len() > OUTLIERS_MAX {
                outliers.push(format!("{} more", found.len() - OUTLIERS_MAX));
            }
            format!(
                "{} the geometric mean of the others",
                wording::list(&outliers)
            )
        }
        Anomaly::TwoModes(modes) => {
            let phase = finding
                .phase
                .and_then(|place| analysis.phases[place].comparison.as_ref());
            let figure = |value: f64| match phase {
                Some(comparison) => wording::figure(comparison.metric, value),
                None => wording::ratio(value),
            };
            format!(
                "{} about {} and {} about {}",
                wording::count(modes.low_count, "repeat"),
                figure(modes.low),
                modes.high_count,
                figure(modes.high)
            )
        }
        Anomaly::Drift(drift) => {
            let change = wording::percent((drift.times - 1.0).abs());
            let direction = if drift.times > 1.0 { "rises" } else { "falls" };
            let tau = drift.tau;
            format!("{direction} by {change} from the first trial to the last (tau {tau:.2})")
        }
        Anomaly::WarmUp(first) => format!(
            "the first trial, repeat {}, is {} the geometric mean of the others",
            repeat(0),
            wording::away(first.times)
        ),
    }
}
