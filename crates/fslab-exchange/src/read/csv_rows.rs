//! CSV with a row for each value: fslab's long CSV, or that of any tool.
//!
//! Columns are known by name: `metric` and `value`, and optionally `subject`, `phase` and `repeat`;
//! `unit` if a value is not in the metric's own. `mount` and `iteration` together are a round of a
//! repeat, `sweep` and `point` together a point of a sweep. Each value is stored as given and none
//! is computed from others, so that an export equals the import.
//!
//! The round and the sweep point of a row each require two columns together. A column `iteration`
//! without the other, which in other tools mostly counts repeats, is ignored.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{
    CachePolicy, Headline, MetricDefinition, Parameters, PhaseKind, PhaseOutcome, PhaseRecord,
    Point, PointValue, Round, StepRecord, Swept, suggestion,
};

use super::csv_known_by::{self, known_by};
use super::csv_units::{Unknown, resolve};
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, number};

/// Metrics of a trial outside its phases, and their steps.
const STEPS: [(&str, &str); 4] = [
    ("mkfs_ns", "mkfs"),
    ("mount_ns", "mount"),
    ("unmount_ns", "unmount"),
    ("check_ns", "check"),
];

/// True if the first line with content names known columns.
pub(crate) fn has_header(text: &str) -> bool {
    let names = text.lines().find(|line| is_row(line)).map(columns);
    names.is_some_and(|names| {
        let has = |name: &str| names.iter().any(|known| known == name);
        has("value") && (has("metric") || has("subject") || has("phase"))
    })
}

fn is_row(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

fn columns(line: &str) -> Vec<String> {
    let name = |text: &str| text.trim().trim_matches('"').to_ascii_lowercase();
    line.split(char::from(delimiter(line))).map(name).collect()
}

/// The separator that splits the line into the most parts.
fn delimiter(line: &str) -> u8 {
    let parts = |separator: &u8| line.split(char::from(*separator)).count();
    // `max_by_key` takes the last of equals: the comma.
    [b'\t', b';', b',']
        .into_iter()
        .max_by_key(parts)
        .unwrap_or(b',')
}

/// Reads every row.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let header = text.lines().find(|line| is_row(line)).unwrap_or_default();
    let table = Table::of(&columns(header))?;
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .delimiter(delimiter(header))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Rows::default();
    for record in reader.records() {
        // The text is UTF-8 and rows may have any length, so no other error is possible.
        let record = record.map_err(|error| Fault::value("", error.to_string(), "CSV"))?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != table.count {
            let wanted = format!("the {} of the first line", table.count);
            return Err(Fault::fields(format!("line {line}"), record.len(), wanted));
        }
        rows.take(&table, &record, line)?;
    }
    rows.finish()
}

/// The positions of the columns.
struct Table {
    count: usize,
    names: BTreeMap<String, usize>,
}

impl Table {
    fn of(names: &[String]) -> Result<Self, Fault> {
        let mut table = Self {
            count: names.len(),
            names: BTreeMap::new(),
        };
        for (place, name) in names.iter().enumerate() {
            if table.names.insert(name.clone(), place).is_some() && !name.is_empty() {
                let wanted = "a column that occurs once";
                return Err(Fault::value("the first line", name, wanted));
            }
        }
        for name in ["phase", "metric", "value"] {
            if !table.names.contains_key(name) {
                return Err(Fault::missing("the first line", name).hint(
                    "the columns are subject, phase, repeat, metric, value and unit; others are \
                     ignored",
                ));
            }
        }
        Ok(table)
    }

    fn field<'r>(&self, record: &'r csv::StringRecord, name: &str) -> Option<&'r str> {
        let place = self.names.get(name)?;
        let text = record.get(*place).filter(|text| !text.is_empty())?;
        // As an export of fslab writes what a spreadsheet would take for a formula.
        Some(fslab_report::unguarded(text))
    }
}

/// A subject, and the number of the repeat.
type Trial = (String, u64);

/// The result of the rows so far.
#[derive(Default)]
struct Rows {
    run: Option<String>,
    tool: Option<String>,
    engine: Option<String>,
    /// In order of appearance.
    trials: Vec<(Trial, Measured)>,
    /// Values of a metric so far, for repeats without numbers.
    counts: BTreeMap<(String, String, &'static str, Option<Round>), u64>,
    /// The headlines and kinds given by the table, by phase.
    named: BTreeMap<String, (Headline, PhaseKind)>,
}

impl Rows {
    fn take(&mut self, table: &Table, record: &csv::StringRecord, line: u64) -> Result<(), Fault> {
        let place = |name: &str| format!("line {line}, {name}");
        let field = |name: &str| table.field(record, name);
        self.one_run(field("run"), &place("run"))?;
        let metric =
            field("metric").ok_or_else(|| Fault::missing(format!("line {line}"), "metric"))?;
        let unit = field("unit").unwrap_or_default();
        let (definition, factor) =
            resolve(metric, unit).map_err(|unknown| refused(unknown, (metric, unit), line))?;
        let value = match field("value") {
            None => None,
            Some(text) => {
                let wrong = || Fault::value(place("value"), text, "a number from 0");
                let value = number(text).map(|value| value * factor);
                Some(value.filter(|value| value.is_finite()).ok_or_else(wrong)?)
            }
        };
        let subject = field("subject").unwrap_or_default().to_owned();
        let phase = field("phase").unwrap_or_default();
        let at = Place::of(field, line)?;
        let repeat = match field("repeat") {
            Some(text) => {
                let wrong = || Fault::value(place("repeat"), text, "the number of a repeat");
                text.parse().map_err(|_| wrong())?
            }
            None if value.is_none() => 0,
            None => {
                let key = (subject.clone(), phase.to_owned(), definition.name, at.round);
                let count = self.counts.entry(key).or_default();
                *count += 1;
                *count - 1
            }
        };
        if self.engine.is_none() {
            self.engine = field("engine").map(str::to_owned);
            self.tool = field("fslab").map(|version| format!("fslab {version}"));
        }
        if let Some(named) = csv_known_by::named(field, line)? {
            self.named.insert(phase.to_owned(), named);
        }
        let measured = self.trial((subject, repeat));
        if phase.is_empty() {
            return step(measured, (definition, value), (metric, line));
        }
        let record = phase_of(measured, (phase, &at), field);
        let Some(value) = value else { return Ok(()) };
        let twice = record.figures.insert(definition.name.to_owned(), value);
        if twice.is_some() {
            let found = format!("{metric} of {phase}");
            let wanted = "given once for this subject and repeat";
            return Err(Fault::value(format!("line {line}"), found, wanted));
        }
        record.outcome = PhaseOutcome::Done;
        Ok(())
    }

    fn one_run(&mut self, run: Option<&str>, place: &str) -> Result<(), Fault> {
        match (&self.run, run) {
            (Some(known), Some(run)) if known != run => {
                let wanted = format!("the run of the lines before, {known:?}");
                Err(Fault::value(place, run, wanted).hint("import each run as a separate file"))
            }
            _ => {
                self.run = self.run.take().or(run.map(str::to_owned));
                Ok(())
            }
        }
    }

    fn trial(&mut self, trial: Trial) -> &mut Measured {
        // Rows of one trial are mostly adjacent.
        let place = self.trials.iter().rposition(|(known, _)| *known == trial);
        let place = place.unwrap_or_else(|| {
            let measured = Measured {
                subject: (!trial.0.is_empty()).then(|| trial.0.clone()),
                ..Measured::default()
            };
            self.trials.push((trial, measured));
            self.trials.len() - 1
        });
        &mut self.trials[place].1
    }

    fn finish(self) -> Result<Reading, Fault> {
        if self.trials.is_empty() {
            return Err(Fault::no_figure("no row follows the first line"));
        }
        let mut numbers: Vec<u64> = self.trials.iter().map(|((_, repeat), _)| *repeat).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut reading = Reading {
            tool: self.tool.unwrap_or_else(|| "CSV".to_owned()),
            engine: self.engine,
            ..Reading::default()
        };
        for ((_, repeat), mut measured) in self.trials {
            // Numbers of repeats may begin anywhere and have gaps.
            let place = numbers.binary_search(&repeat).unwrap_or_default();
            measured.repeat = u32::try_from(place).ok();
            reading.trials.push(measured);
        }
        number_rounds(&mut reading.trials);
        reading.notes = known_by(&mut reading.trials, &self.named)?;
        Ok(reading)
    }
}

fn refused(unknown: Unknown, (metric, unit): (&str, &str), line: u64) -> Fault {
    match unknown {
        Unknown::Metric(nearest) => Fault::value(
            format!("line {line}, metric"),
            metric,
            "a metric that is known",
        )
        .hint(format!(
            "see docs/figures.md for the metrics, for example throughput and operation_rate{}",
            suggestion(nearest)
        )),
        Unknown::Unit { known } => {
            let wanted = format!("a unit of {metric}");
            Fault::value(format!("line {line}, unit"), unit, wanted)
                .hint(format!("known units are {known}"))
        }
    }
}

fn step(
    measured: &mut Measured,
    (definition, value): (&MetricDefinition, Option<f64>),
    (metric, line): (&str, u64),
) -> Result<(), Fault> {
    let Some(value) = value else { return Ok(()) };
    let found = STEPS.iter().find(|(name, _)| *name == definition.name);
    let Some((_, step)) = found else {
        let found = format!("{metric} of no phase");
        let wanted = "one of mkfs_ns, mount_ns, unmount_ns and check_ns, or of a phase";
        return Err(Fault::value(format!("line {line}, phase"), found, wanted));
    };
    measured.steps.push(StepRecord {
        step: (*step).to_owned(),
        command: Vec::new(),
        elapsed_ns: value as u64,
        exit_code: None,
        output: String::new(),
    });
    Ok(())
}

/// The record of a phase, inserted if missing: skipped until it has a value.
fn phase_of<'m, 'r>(
    measured: &'m mut Measured,
    (name, at): (&str, &Place),
    field: impl Fn(&str) -> Option<&'r str>,
) -> &'m mut PhaseRecord {
    let is_it = |phase: &PhaseRecord| phase.name == name && phase.round == at.round;
    let place = measured.phases.iter().rposition(is_it);
    let place = place.unwrap_or_else(|| {
        let draft = Draft {
            name: name.to_owned(),
            workload: field("workload").unwrap_or("csv").to_owned(),
            kind: PhaseKind::Mixed,
            headline: Headline::OperationRate,
            parameters: at.parameters(),
            swept: at.swept.clone(),
        };
        let mut record = draft.record();
        record.round = at.round;
        record.cache = match field("cache") {
            Some("cold") => CachePolicy::Cold,
            Some("warm") => CachePolicy::Warm,
            _ => CachePolicy::Keep,
        };
        let reason = match field("outcome") {
            Some(outcome) if outcome != "done" => format!("the table says: {outcome}"),
            _ => "the table has no value of it".to_owned(),
        };
        record.outcome = PhaseOutcome::Skipped { reason };
        measured.phases.push(record);
        measured.phases.len() - 1
    });
    &mut measured.phases[place]
}

/// The round and the point of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) round: Option<Round>,
    pub(crate) swept: Option<Swept>,
}

impl Place {
    pub(crate) fn of<'r>(
        field: impl Fn(&str) -> Option<&'r str>,
        line: u64,
    ) -> Result<Self, Fault> {
        let number = |name: &str, text: &str| {
            let wrong = || Fault::value(format!("line {line}, {name}"), text, "a number from 0");
            text.parse::<u32>().map_err(|_| wrong())
        };
        let round = match (field("mount"), field("iteration")) {
            (Some(mount), Some(iteration)) => Some(Round {
                mount: number("mount", mount)?,
                iteration: number("iteration", iteration)?,
            }),
            _ => None,
        };
        let swept = match (field("sweep"), field("point")) {
            (Some(phase), Some(text)) => {
                let wanted = "a point, for example file_size=65536B processes=2";
                let wrong = || Fault::value(format!("line {line}, point"), text, wanted);
                Some(Swept {
                    phase: phase.to_owned(),
                    point: point(text).ok_or_else(wrong)?,
                })
            }
            _ => None,
        };
        Ok(Self { round, swept })
    }

    /// The point's values as parameters of the phase.
    pub(crate) fn parameters(&self) -> Parameters {
        let point = self.swept.iter().flat_map(|swept| &swept.point);
        point
            .map(|(name, value)| (name.clone(), value.number().into()))
            .collect()
    }
}

/// `file_size=65536B processes=2`: sizes end in `B`.
fn point(text: &str) -> Option<Point> {
    let value = |word: &str| {
        let (name, value) = word.rsplit_once('=')?;
        let value = match value.strip_suffix('B') {
            Some(bytes) => PointValue::Bytes(bytes.parse().ok()?),
            None => PointValue::Count(value.parse().ok()?),
        };
        (!name.is_empty()).then(|| (name.to_owned(), value))
    };
    text.split_whitespace().map(value).collect()
}

/// Renumbers mounts and iterations from 0 without gaps.
pub(crate) fn number_rounds(trials: &mut [Measured]) {
    let rounds = || trials.iter().flat_map(|trial| &trial.phases);
    let mounts: BTreeSet<u32> = rounds().filter_map(|it| Some(it.round?.mount)).collect();
    let iterations: BTreeSet<u32> = rounds()
        .filter_map(|it| Some(it.round?.iteration))
        .collect();
    let place = |known: &BTreeSet<u32>, number: u32| {
        let before = known.range(..number).count();
        u32::try_from(before).unwrap_or(number)
    };
    for phase in trials.iter_mut().flat_map(|trial| &mut trial.phases) {
        phase.round = phase.round.map(|round| Round {
            mount: place(&mounts, round.mount),
            iteration: place(&iterations, round.iteration),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        read(text).expect_err(text).to_string()
    }

    #[test]
    fn columns_are_known_by_their_names_whatever_separates_them() {
        for text in [
            "subject,phase,repeat,metric,value,unit\na,w,1,bw,2,MB/s\na,w,2,bw,4,MB/s\n",
            "# made by hand\nValue;Metric;Phase;Unit;Subject\n2;bw;w;MB/s;a\n4;bw;w;MB/s;a\n",
        ] {
            let reading = read(text).expect(text);
            let values: Vec<_> = reading
                .trials
                .iter()
                .map(|trial| (trial.repeat, trial.phases[0].figures["throughput"]))
                .collect();
            assert_eq!(values, [(Some(0), 2e6), (Some(1), 4e6)]);
        }
    }

    #[test]
    fn rows_that_make_no_sense_are_refused_by_line_and_column() {
        let text = |row: &str| format!("subject,phase,repeat,metric,value,unit\n{row}\n");
        for (row, expected) in [
            (
                "a,w,0,throughput,-1,B/s",
                "line 2, value: \"-1\" is not a number",
            ),
            ("a,w,0,throughput,NaN,B/s", "line 2, value: \"NaN\""),
            ("a,w,zero,throughput,1,B/s", "line 2, repeat: \"zero\""),
            ("a,w,0,troughput,1,B/s", "line 2, metric: \"troughput\""),
            ("a,w,0,throughput,1,furlongs", "line 2, unit: \"furlongs\""),
            ("a,w,0,throughput,1", "line 2: 5 fields instead of the 6"),
            (
                "a,,0,throughput,1,B/s",
                "line 2, phase: \"throughput of no phase\"",
            ),
            (
                "a,w,0,throughput,1,\na,w,0,throughput,2,",
                "line 3: \"throughput of w\"",
            ),
        ] {
            let shown = fault(&text(row));
            assert!(shown.starts_with(expected), "{shown}");
        }
        assert!(fault("subject,metric,value\n").contains("'phase' is missing"));
        assert!(fault("phase,metric,value\n").contains("no row follows"));
    }

    fn of(fields: &[(&str, &'static str)]) -> Result<Place, Fault> {
        let field = |name: &str| {
            let found = fields.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| *text)
        };
        Place::of(field, 3)
    }

    #[test]
    fn a_round_and_a_point_take_two_columns_each() {
        let place = of(&[("mount", "1"), ("iteration", "2")]).expect("a round");
        let round = place.round.expect("a round");
        assert_eq!((round.mount, round.iteration), (1, 2));
        for alone in [("iteration", "2"), ("mount", "noatime"), ("sweep", "write")] {
            assert_eq!(of(&[alone]), Ok(Place::default()));
        }
        let place = of(&[("sweep", "write"), ("point", "file_size=4096B processes=2")]);
        let swept = place.expect("a point").swept.expect("a point");
        assert_eq!(swept.point["file_size"], PointValue::Bytes(4096));
        assert_eq!(swept.point["processes"], PointValue::Count(2));
    }

    #[test]
    fn what_is_no_round_and_no_point_is_refused_by_line_and_column() {
        let shown = |fields: &[(&str, &'static str)]| of(fields).expect_err("wrong").to_string();
        let round = shown(&[("mount", "first"), ("iteration", "2")]);
        assert!(
            round.starts_with("line 3, mount: \"first\" is not"),
            "{round}"
        );
        for wrong in ["big", "=4", "size=4KiB", "size=-1"] {
            let point = shown(&[("sweep", "write"), ("point", wrong)]);
            assert!(point.starts_with("line 3, point: "), "{point}");
        }
    }
}
