//! All figures of one phase, subjects as rows.

use fslab_model::definitions as d;
use fslab_model::{CacheVerdict, Headline, LatencyHistogram, METRICS, MetricDefinition};
use fslab_model::{Subject, Unit};
use fslab_stats::Summary;

use super::cells::{EXACT, absence_word, against_best, interval, mean, mean_title, subject_cell};
use super::disturbances::{mark_note, marked};
use super::flushing::{flush_marked, flush_note};
use super::sensitivity;
use crate::wording;
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::{Entry, PhaseAnalysis, PhaseCell};

/// Counters shown by their median over the repeats, by group and short title.
const COUNTERS: [(&str, &str, &MetricDefinition); 13] = [
    ("CPU", "user", &d::CPU_USER),
    ("CPU", "system", &d::CPU_SYSTEM),
    ("Switches", "vol.", &d::SWITCHES_VOLUNTARY),
    ("Switches", "invol.", &d::SWITCHES_INVOLUNTARY),
    ("Device", "reads", &d::DEVICE_READS),
    ("Device", "read", &d::DEVICE_READ_BYTES),
    ("Device", "writes", &d::DEVICE_WRITES),
    ("Device", "written", &d::DEVICE_WRITE_BYTES),
    ("Device", "flushes", &d::DEVICE_FLUSHES),
    ("Device", "discarded", &d::DEVICE_DISCARD_BYTES),
    ("Device", "busy", &d::DEVICE_BUSY),
    ("Device", "amplif.", &d::WRITE_AMPLIFICATION),
    ("Device", "amplif.", &d::READ_AMPLIFICATION),
];

/// Latencies shown, by title, metric and percentile, of all repeats together.
const LATENCIES: [(&str, &MetricDefinition, f64); 5] = [
    ("p50", &d::LATENCY_P50, 50.0),
    ("p95", &d::LATENCY_P95, 95.0),
    ("p99", &d::LATENCY_P99, 99.0),
    ("p99.9", &d::LATENCY_P999, 99.9),
    ("max", &d::LATENCY_MAX, 100.0),
];

/// Rate with its interval, latencies, processor, device and cache verdict of each subject.
///
/// `subjects` are those of the run, in the order of the plan. Columns without any value are left
/// out and named in a note.
pub fn phase<'a>(phase: &PhaseAnalysis, subjects: impl IntoIterator<Item = &'a Subject>) -> Table {
    let subjects: Vec<&Subject> = subjects.into_iter().collect();
    let mut sheet = Sheet {
        columns: vec![Column::left("Subject")],
        rows: Vec::new(),
        missing: Vec::new(),
    };
    let heads = subjects.iter().enumerate().zip(&phase.cells);
    sheet.rows = heads
        .map(|((index, subject), cell)| {
            let head = subject_cell(index, subject);
            vec![match cell.absence() {
                Some(reason) => head.detail(absence_word(&reason)).tone(Tone::Bad),
                None => head,
            }]
        })
        .collect();
    sheet.rates(phase, subjects.len() > 1);
    sheet.repeats(phase);
    sheet.cache(phase);
    sheet.latencies(phase);
    for (group, title, metric) in COUNTERS {
        sheet.counter(phase, group, title, metric);
    }
    for metric in own_metrics(phase) {
        let title = wording::phase(metric.name.trim_end_matches("_ns"));
        sheet.counter(phase, "Of this workload", &title, metric);
    }
    let mut notes = Vec::new();
    if phase.is_exact() {
        notes.push(EXACT.to_owned());
    }
    if !sheet.missing.is_empty() {
        notes.push(format!("Not measured here: {}.", sheet.missing.join(", ")));
    }
    let absent = subjects.iter().zip(&phase.cells);
    notes.extend(absent.filter_map(|(subject, cell)| {
        let reason = cell.absence()?;
        Some(format!("{subject} has no figure; {reason}."))
    }));
    notes.extend(mark_note([phase]));
    notes.extend(flush_note([phase]));
    let mut said: Vec<&str> = phase
        .cells
        .iter()
        .flat_map(PhaseCell::records)
        .flat_map(|record| {
            let disturbing = record.disturbances.iter().map(|it| it.text.as_str());
            record.notes.iter().map(String::as_str).chain(disturbing)
        })
        .collect();
    said.sort_unstable();
    said.dedup();
    notes.extend(said.into_iter().map(str::to_owned));
    Table {
        caption: format!("All figures of {}", wording::phase(phase.name)),
        columns: sheet.columns,
        rows: sheet.rows,
        notes,
    }
}

/// The figures of the phase's workload alone.
fn own_metrics(phase: &PhaseAnalysis) -> Vec<&'static MetricDefinition> {
    let records = || phase.cells.iter().flat_map(PhaseCell::records);
    let has = |metric: &&MetricDefinition| records().any(|r| r.figures.contains_key(metric.name));
    // The headline comes first.
    let known_by = phase
        .comparison
        .as_ref()
        .map(|comparison| comparison.metric);
    let is_other = |metric: &&MetricDefinition| Some(*metric) != known_by;
    METRICS.iter().filter(has).filter(is_other).collect()
}

/// The head of the headline's column.
fn headline_title(metric: &MetricDefinition) -> String {
    match Headline::of(metric) {
        Some(Headline::Throughput) => "Throughput".to_owned(),
        Some(Headline::Duration) => "Duration".to_owned(),
        Some(Headline::Figure(metric)) => wording::heading(metric.title),
        Some(Headline::OperationRate) | None => "Rate".to_owned(),
    }
}

struct Sheet {
    columns: Vec<Column>,
    rows: Vec<Vec<TableCell>>,
    missing: Vec<String>,
}

impl Sheet {
    fn column(&mut self, column: Column, cells: impl IntoIterator<Item = TableCell>) {
        self.columns.push(column);
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }

    fn rates(&mut self, phase: &PhaseAnalysis, compare: bool) {
        let Some(comparison) = &phase.comparison else {
            self.missing.push("rates".to_owned());
            return;
        };
        let title = &headline_title(comparison.metric);
        let entries = &comparison.entries;
        let column = Column::right(mean_title(comparison.exact))
            .in_group(title)
            .of(comparison.metric.name);
        self.column(
            column,
            entries.iter().enumerate().map(|(subject, entry)| {
                let cell = marked(mean(comparison, entry), phase.disturbed(subject));
                flush_marked(cell, phase, subject)
            }),
        );
        if !comparison.exact {
            let column = Column::right("95 % interval")
                .in_group(title)
                .of("95 % interval");
            self.column(
                column,
                entries.iter().map(|entry| interval(comparison, entry)),
            );
        }
        if phase.is_perturbed && !comparison.exact {
            let column = Column::right("sensitivity")
                .in_group(title)
                .of("Sensitivity");
            let cells = (0..entries.len()).map(|subject| sensitivity::cell(phase, subject));
            self.column(column, cells);
        }
        if compare {
            let against = |entry: &Entry| match (against_best(entry), entry.to_best) {
                (Some(text), Some(speed)) => TableCell::new(text).ratio(speed.value),
                _ => TableCell::nothing(),
            };
            let column = Column::right("of best").in_group(title).of("Ratio");
            self.column(column, entries.iter().map(against));
        }
    }

    fn repeats(&mut self, phase: &PhaseAnalysis) {
        if phase.is_exact() {
            return;
        }
        let done = |cell: &PhaseCell| {
            let (done, planned) = (cell.done().count(), cell.repeats.len());
            let text = TableCell::new(format!("{done}/{planned}"));
            if done < planned {
                text.tone(Tone::Bad)
            } else {
                text
            }
        };
        self.column(Column::right("Repeats"), phase.cells.iter().map(done));
    }

    fn latencies(&mut self, phase: &PhaseAnalysis) {
        let merged: Vec<Option<LatencyHistogram>> =
            phase.cells.iter().map(PhaseCell::latency).collect();
        if merged.iter().all(Option::is_none) {
            self.missing.push("latencies".to_owned());
            return;
        }
        for (title, metric, percentile) in LATENCIES {
            let cells = merged.iter().map(|histogram| {
                let ns = histogram.as_ref().and_then(|h| h.percentile_ns(percentile));
                TableCell::optional(ns.map(|ns| wording::figure(metric, ns as f64)))
            });
            self.column(
                Column::right(title).in_group("Latency").of(metric.name),
                cells,
            );
        }
    }

    fn counter(
        &mut self,
        phase: &PhaseAnalysis,
        group: &str,
        title: &str,
        metric: &'static MetricDefinition,
    ) {
        // Medians only: ratios of counters are not shown, and each would cost a bootstrap.
        let medians: Vec<Option<f64>> = phase
            .cells
            .iter()
            .map(|cell| Summary::of(&cell.values(metric)).map(|summary| summary.median))
            .collect();
        if medians.iter().all(Option::is_none) {
            // A phase has either read or write amplification, so the other one is not missing. In
            // virtual time the host's processor is in the table of the disk.
            let elsewhere = phase.is_virtual && matches!(group, "CPU" | "Switches");
            if metric.unit != Unit::Ratio && !elsewhere {
                self.missing.push(metric.title.to_owned());
            }
            return;
        }
        // Bars only if there are several values to compare.
        let many = medians.iter().flatten().count() > 1;
        let high = medians.iter().flatten().copied().fold(0.0, f64::max);
        let is_counted = many && high > 0.0 && metric.unit != Unit::Ratio;
        let cells = medians.into_iter().map(|median| {
            median.map_or_else(TableCell::nothing, |value| {
                let cell = TableCell::new(wording::figure(metric, value));
                match is_counted {
                    true => cell.share(value / high),
                    false => cell,
                }
            })
        });
        self.column(Column::right(title).in_group(group).of(metric.name), cells);
    }

    fn cache(&mut self, phase: &PhaseAnalysis) {
        let verdicts: Vec<_> = phase.cells.iter().map(PhaseCell::cache_verdict).collect();
        if verdicts.iter().all(Option::is_none) {
            return;
        }
        let cells = verdicts.into_iter().map(|verdict| match verdict {
            Some(CacheVerdict::Device) => TableCell::new("device").badge(),
            Some(CacheVerdict::Mixed) => TableCell::new("mixed").badge().tone(Tone::Weak),
            Some(CacheVerdict::Cache) => TableCell::new("page cache").badge().tone(Tone::Bad),
            None => TableCell::nothing(),
        });
        self.column(Column::left("Figure of").of("Cache verdict"), cells);
    }
}
