//! The columns of bonnie++: rate, processor share and largest latency of each of its phases; as a
//! table and in its CSV format.

use fslab_compare::{Analysis, PhaseAnalysis, PhaseCell, RepeatState, spread_over};
use fslab_model::definitions::{CPU_SHARE, LATENCY_MAX, OPERATION_RATE, THROUGHPUT};
use fslab_model::{MetricDefinition, PhaseRecord, RunRecord, Unit, VenuePlan};
use fslab_stats::centre;

use super::bars;
use super::content::{Content, Value, phase_title};
use super::published::PublishedFigures;
use super::selection::{Selected, Selection};
use crate::chart::GroupedBars;
use crate::{Column, ReportError, Table, TableCell, Tone};

/// The phases of bonnie++ in the order of its columns, by their names in the study.
const PHASES: [&str; 12] = [
    "per-char-write",
    "block-write",
    "rewrite",
    "per-char-read",
    "block-read",
    "seeks",
    "create-seq",
    "read-seq",
    "delete-seq",
    "create-rand",
    "read-rand",
    "delete-rand",
];
/// The first phase on files as units, and the first whose rate is of operations.
const FILES_FROM: usize = 6;
const OPERATIONS_FROM: usize = 5;
/// What bonnie++ prints for a figure that it could not measure.
const NO_RATE: &str = "+++++";
const NO_SHARE: &str = "+++";

pub(super) fn draw(selection: &Selection, originals: &PublishedFigures) -> Result<Content, String> {
    let mut content = Content::default();
    let is_data = |selected: &&Selected| {
        let place = PHASES.iter().position(|name| *name == selected.phase.name);
        place.map_or(selected.metric.unit == Unit::BytesPerSecond, |at| {
            at < FILES_FROM
        })
    };
    let (data, files): (Vec<&Selected>, Vec<&Selected>) = selection
        .phases
        .iter()
        .partition(|selected| is_data(selected));
    for (caption, phases) in [("Data", data), ("Files", files)] {
        if !phases.is_empty() {
            content.tables.push(table(selection, caption, &phases));
        }
    }
    let mut chart = GroupedBars {
        groups: Vec::new(),
        cap: selection.cap()?,
    };
    for selected in &selection.phases {
        let spreads = spread_over(&selected.points, selected.metric, selection.labels.len());
        let title = phase_title(selected.phase.name);
        let points = &selected.points;
        let mut group = bars::group(selection, selected, (title, points), &spreads, originals);
        bars::sort(&mut group);
        chart.groups.push(group);
        content.values.extend(values(selection, selected));
    }
    content.notes.extend(bars::notes(&chart));
    content.notes.push(format!(
        "Rates of data are in K/sec (1024 B/s), all others a second; latency is the largest of a \
         single operation. {NO_RATE} stands where a phase took no time of the disk or has no such \
         figure."
    ));
    content.drawing = chart.draw();
    Ok(content)
}

fn values(selection: &Selection, selected: &Selected) -> Vec<Value> {
    let of = |(subject, name): (usize, &str)| {
        [selected.metric, &CPU_SHARE, &LATENCY_MAX].map(|metric| {
            let cell = selected.phase.cells.get(subject);
            let value = cell.and_then(|cell| mean(cell, metric));
            Value::of((selected.phase.name, name, ""), metric, value)
        })
    };
    selection.names().enumerate().flat_map(of).collect()
}

fn mean(cell: &PhaseCell, metric: &MetricDefinition) -> Option<f64> {
    centre(&cell.values(metric))
}

/// Two rows per subject: rates with shares, and latencies.
fn table(selection: &Selection, caption: &str, phases: &[&Selected]) -> Table {
    let mut columns = vec![Column::left("")];
    columns.extend(phases.iter().map(|selected| {
        let title = phase_title(selected.phase.name);
        Column::right(format!("{} %CP", unit(selected.metric))).in_group(&title)
    }));
    let mut rows = Vec::new();
    for (subject, name) in selection.names().enumerate() {
        let mut rates = vec![TableCell::new(name).about(subject)];
        let mut latencies = vec![TableCell::new("latency").tone(Tone::Weak)];
        for selected in phases {
            let cell = selected.phase.cells.get(subject);
            rates.push(cell.map_or_else(TableCell::nothing, |cell| rate(cell, selected.metric)));
            let largest = cell.and_then(|cell| mean(cell, &LATENCY_MAX));
            latencies.push(match largest {
                Some(ns) => TableCell::new(latency(ns)).tone(Tone::Weak),
                None => TableCell::nothing(),
            });
        }
        rows.extend([rates, latencies]);
    }
    Table {
        caption: caption.to_owned(),
        columns,
        rows,
        notes: Vec::new(),
    }
}

fn unit(metric: &MetricDefinition) -> &'static str {
    match metric.unit {
        Unit::BytesPerSecond => "K/sec",
        _ => "/sec",
    }
}

/// A rate and a processor share.
fn rate(cell: &PhaseCell, metric: &MetricDefinition) -> TableCell {
    if let Some(reason) = cell.absence() {
        return TableCell::new(crate::tables::absence_word(&reason)).tone(Tone::Bad);
    }
    let rate = mean(cell, metric);
    let text = rate.map_or_else(|| NO_RATE.to_owned(), |rate| rate_text(metric, rate));
    let share = mean(cell, &CPU_SHARE);
    let share = share.map_or_else(
        || NO_SHARE.to_owned(),
        |share| format!("{:.0}", 100.0 * share),
    );
    let tone = if rate.is_some() {
        Tone::Plain
    } else {
        Tone::Weak
    };
    TableCell::new(format!("{text} {share:>3}")).tone(tone)
}

/// In the format of bonnie++: KiB a second, or operations with a decimal if they are few.
fn rate_text(metric: &MetricDefinition, value: f64) -> String {
    match metric.unit {
        Unit::BytesPerSecond => format!("{:.0}", value / 1024.0),
        _ if value < 1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// In the format of bonnie++: microseconds up to five digits, then milliseconds, then seconds.
fn latency(ns: f64) -> String {
    let us = ns / 1e3;
    if us < 99_999.5 {
        format!("{us:.0}us")
    } else if us < 99_999_500.0 {
        format!("{:.0}ms", us / 1e3)
    } else {
        format!("{:.0}s", us / 1e6)
    }
}

/// The run in the CSV of bonnie++, format 1.98: a line for each subject and repeat, with the
/// subject as the machine's name. `bon_csv2html` and `bon_csv2txt` read it.
///
/// # Errors
/// [`ReportError::Layout`] if the run has none of bonnie++'s phases.
pub fn bonnie_csv(run: &RunRecord) -> Result<String, ReportError> {
    let analysis = Analysis::of(run);
    let find = |name: &&str| analysis.phases.iter().find(|phase| phase.name == *name);
    let phases: Vec<Option<&PhaseAnalysis>> = PHASES.iter().map(find).collect();
    if phases.iter().all(Option::is_none) {
        return Err(ReportError::Layout {
            layout: "bonnie++",
            wanted: format!("phases of these names: {}", PHASES.join(", ")),
        });
    }
    let mut writer = csv::WriterBuilder::new()
        .quote_style(csv::QuoteStyle::Necessary)
        .from_writer(Vec::new());
    for (subject, name) in analysis.subjects().enumerate() {
        for trial in analysis.trials_of(subject) {
            let repeat = trial.trial.repeat;
            // The format cannot quote, so a comma would end the name.
            let name = name.to_string().replace([',', '"'], ";");
            let line = Line::of(run, &phases, (subject, repeat));
            writer.write_record(line.fields(run, &name))?;
        }
    }
    crate::table::into_text(writer)
}

/// The figures of one repeat (rate, share and latency of each phase) and its settings.
struct Line<'a> {
    figures: Vec<[String; 3]>,
    data: Option<&'a PhaseRecord>,
    seeks: Option<&'a PhaseRecord>,
    created: Option<&'a PhaseRecord>,
    /// True if bonnie++ itself measured it: then its settings are parameters of the phases.
    is_own: bool,
    /// Its seed in that case.
    seed: Option<String>,
}

impl<'a> Line<'a> {
    fn of(run: &'a RunRecord, phases: &[Option<&PhaseAnalysis>], of: (usize, u32)) -> Self {
        let records = run.cell(fslab_model::CellId::at(of.0));
        let trial = records.into_iter().find(|trial| trial.trial.repeat == of.1);
        let record = |name: &str| trial?.phases.iter().find(|phase| phase.name == name);
        let first = |names: &[&str]| names.iter().find_map(|name| record(name));
        let data = first(&["block-write", "block-read", "rewrite"]);
        let created = first(&["create-seq", "create-rand"]);
        let is_own = data
            .or(created)
            .is_some_and(|phase| phase.workload == "bonnie++");
        Self {
            figures: phases
                .iter()
                .enumerate()
                .map(|(column, phase)| figures(*phase, of, (column < OPERATIONS_FROM, is_own)))
                .collect(),
            data,
            seeks: record("seeks"),
            created,
            is_own,
            seed: trial
                .and_then(|trial| trial.facts.get("bonnie++ seed"))
                .filter(|_| is_own)
                .cloned(),
        }
    }

    /// A setting of bonnie++ itself.
    fn set(&self, phase: Option<&PhaseRecord>, name: &str) -> Option<u64> {
        phase
            .filter(|_| self.is_own)?
            .parameters
            .get(name)?
            .as_u64()
    }

    fn fields(self, run: &RunRecord, name: &str) -> Vec<String> {
        let number = |value: Option<u64>| value.map_or_else(String::new, |v| v.to_string());
        let moved = || self.data.and_then(|record| record.bytes);
        let size = self.set(self.data, "file_size").or_else(moved);
        let size = size.map(|bytes| match bytes % (1 << 20) {
            0 => format!("{}M", bytes >> 20),
            _ => format!("{}k", bytes >> 10),
        });
        let issued = || {
            self.data
                .and_then(|it| Some(it.bytes? / it.operations?.max(1)))
        };
        let chunk = self.set(self.data, "record").or_else(issued);
        // bonnie++ counts files in units of 1024; fewer are written with decimals.
        let made = || self.created.and_then(|record| record.operations);
        let files = self.set(self.created, "files").or_else(made);
        let files = files.map(|files| match files % 1024 {
            0 => (files / 1024).to_string(),
            _ => format!("{:.3}", files as f64 / 1024.0),
        });
        let concurrency = self.set(self.data.or(self.created), "concurrency");
        let mut fields = vec![
            "1.98".to_owned(),
            match &run.header.plan.venue {
                VenuePlan::Imported { tool } => {
                    tool.trim_start_matches("bonnie++ ").replace(',', ";")
                }
                _ => format!("fslab {}", run.header.fslab),
            },
            name.to_owned(),
            concurrency.unwrap_or(1).to_string(),
            self.seed
                .clone()
                .unwrap_or_else(|| run.header.plan.seed.to_string()),
            size.unwrap_or_default(),
            number(chunk),
            number(self.set(self.seeks, "seeks")),
            number(self.set(self.seeks, "seekers")),
        ];
        let rates = |figures: &[[String; 3]]| -> Vec<String> {
            let pairs = figures.iter().flat_map(|[rate, share, _]| [rate, share]);
            pairs.cloned().collect()
        };
        fields.extend(rates(&self.figures[..FILES_FROM]));
        fields.push(files.unwrap_or_default());
        for name in ["max_size", "min_size", "directories", "file_chunk"] {
            fields.push(number(self.set(self.created, name)));
        }
        fields.extend(rates(&self.figures[FILES_FROM..]));
        fields.extend(self.figures.into_iter().map(|[.., latency]| latency));
        fields
    }
}

fn figures(
    phase: Option<&PhaseAnalysis>,
    (subject, repeat): (usize, u32),
    (of_data, is_own): (bool, bool),
) -> [String; 3] {
    // A phase that did not run has empty fields.
    let nothing = || std::array::from_fn(|_| String::new());
    let repeats = phase
        .and_then(|phase| phase.cells.get(subject))
        .map(|cell| &cell.repeats);
    let found = repeats.and_then(|repeats| repeats.iter().find(|r| r.repeat == repeat));
    let Some(found) = found.filter(|found| matches!(found.state, RepeatState::Done(_))) else {
        return nothing();
    };
    let value = |metric: &MetricDefinition| found.value(metric);
    let known_by = if of_data {
        &THROUGHPUT
    } else {
        &OPERATION_RATE
    };
    let rate = value(known_by).map(|rate| match is_own {
        // Exact, because it was read from such a line.
        true if of_data => (rate / 1024.0).to_string(),
        true => rate.to_string(),
        false => rate_text(known_by, rate),
    });
    let share = value(&CPU_SHARE).map(|share| format!("{:.0}", 100.0 * share));
    [
        rate.unwrap_or_else(|| NO_RATE.to_owned()),
        share.unwrap_or_else(|| NO_SHARE.to_owned()),
        value(&LATENCY_MAX).map_or_else(String::new, latency),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_written_as_bonnie_writes_them() {
        assert_eq!(latency(4_126_000.0), "4126us");
        assert_eq!(latency(116e6), "116ms");
        assert_eq!(latency(120e9), "120s");
    }
}
