//! The figures that an original printed: the rows of a `published.csv`.

use fslab_model::definitions as d;
use serde::Serialize;

use crate::{OriginalError, Score, Timed};

/// The columns, in their order.
const COLUMNS: [&str; 8] = [
    "place",
    "subject",
    "phase",
    "parameter",
    "value",
    "metric",
    "unit",
    "note",
];

/// Metrics whose values are names rather than numbers.
const NAMES: [&str; 2] = ["version", "year"];

/// The units that originals print, with their factor to fslab's base units: bytes or operations per
/// second, nanoseconds, percent. A unit without a factor is of something that fslab does not
/// measure.
const UNITS: [(&str, Option<f64>); 21] = [
    ("", Some(1.0)),
    ("K/sec", Some(1024.0)),
    ("/sec", Some(1.0)),
    ("%", Some(1.0)),
    ("us", Some(1e3)),
    ("ms", Some(1e6)),
    ("s", Some(1e9)),
    ("min", Some(60e9)),
    ("mm:ss", Some(1.0)),
    ("years", None),
    ("MHz", None),
    ("rpm", None),
    ("krpm", None),
    ("blocks", None),
    ("x1024", None),
    ("kB", None),
    ("KB", None),
    ("MB", None),
    ("GB", None),
    ("Gb", None),
    ("B", None),
];

/// A value as an original printed it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedValue {
    /// No value: a failure, or a chart that is lost.
    Missing,
    /// A number, in the row's unit; a time of the form `mm:ss.hh` is in nanoseconds.
    Number(f64),
    /// A name: a version, a decade.
    Text(String),
}

/// One printed number, with its position in the original.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedRow {
    /// Page, table or figure of the original.
    pub place: String,
    /// The subject, by its name in the claims; `None` if the value is of none.
    pub subject: Option<String>,
    /// The phase; `setup` and `background` are not phases of the study.
    pub phase: String,
    /// `key=value` pairs: `file_size=2000M`.
    pub parameters: Vec<(String, String)>,
    /// The part of the phase: `run`, `unmount`, `total`.
    pub part: Option<String>,
    pub value: PublishedValue,
    /// The value as printed.
    pub printed: String,
    /// The metric; `None` for a picture.
    pub metric: Option<String>,
    /// The printed unit; `None` where it has none.
    pub unit: Option<String>,
    /// A remark.
    pub note: String,
}

/// All figures of an original.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Published {
    /// The rows, in the order of the file.
    pub rows: Vec<PublishedRow>,
}

impl Published {
    /// Reads a `published.csv`; `file` is its name in errors.
    pub fn from_csv(text: &str, file: &str) -> Result<Self, OriginalError> {
        let unreadable = |source| OriginalError::Csv {
            file: file.to_owned(),
            source,
        };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns = reader.headers().map_err(unreadable)?;
        if columns != COLUMNS[..] {
            return Err(OriginalError::Columns {
                file: file.to_owned(),
                found: columns.iter().collect::<Vec<_>>().join(","),
                wanted: COLUMNS.join(","),
            });
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(unreadable)?;
            let line = record.position().map_or(0, csv::Position::line);
            let row = read_row(&record).map_err(|(column, problem)| OriginalError::Row {
                file: file.to_owned(),
                line,
                column,
                problem,
            })?;
            rows.push(row);
        }
        Ok(Self { rows })
    }

    /// The number of rows that have a value.
    pub fn values(&self) -> usize {
        let is_value = |row: &&PublishedRow| row.value != PublishedValue::Missing;
        self.rows.iter().filter(is_value).count()
    }

    /// The rows of a subject's phase and metric.
    pub fn of<'a>(
        &'a self,
        subject: &'a str,
        phase: &'a str,
        metric: &'a str,
    ) -> impl Iterator<Item = &'a PublishedRow> {
        self.rows.iter().filter(move |row| {
            row.subject.as_deref() == Some(subject)
                && row.phase == phase
                && row.metric.as_deref() == Some(metric)
        })
    }
}

impl PublishedRow {
    /// The value in fslab's base units: bytes or operations per second, nanoseconds, percent.
    ///
    /// `None` if there is no number, or its unit has no factor.
    pub fn in_base_unit(&self) -> Option<f64> {
        let PublishedValue::Number(number) = self.value else {
            return None;
        };
        let unit = self.unit.as_deref().unwrap_or_default();
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        factor.map(|factor| number * factor)
    }
}

/// fslab's figure for an original's; `None` if fslab does not measure it.
pub(crate) fn score_of(metric: &str, part: Option<&str>) -> Option<Score> {
    let timed = match part {
        Some("run") => Some(Timed::Run),
        Some("unmount") => Some(Timed::Unmount),
        Some("total") => Some(Timed::Total),
        _ => None,
    };
    match (metric, timed) {
        ("rate", None) => Some(Score::Metric(&d::THROUGHPUT)),
        ("operations", None) => Some(Score::Metric(&d::OPERATION_RATE)),
        ("elapsed", None) => Some(Score::Metric(&d::ELAPSED)),
        ("latency", None) => Some(Score::Metric(&d::LATENCY_MAX)),
        ("cpu-percent", None) => Some(Score::CpuPercent),
        ("mean", Some(timed)) => Some(Score::Clean(timed)),
        ("sd", Some(timed)) => Some(Score::Deviation(timed)),
        _ => None,
    }
}

type Problem = (&'static str, String);

/// A key and its value.
type Pair = (String, String);

fn read_row(record: &csv::StringRecord) -> Result<PublishedRow, Problem> {
    let field = |column: usize| record.get(column).unwrap_or_default().trim();
    let optional = |column: usize| Some(field(column).to_owned()).filter(|text| !text.is_empty());
    let (metric, unit) = (optional(5), optional(6));
    for (column, name) in [(0, "place"), (2, "phase")] {
        if field(column).is_empty() {
            return Err((name, "is empty".into()));
        }
    }
    if !UNITS.iter().any(|(name, _)| *name == field(6)) {
        return Err(("unit", format!("has the unknown unit '{}'", field(6))));
    }
    let value = read_value(field(4), field(5), field(6)).map_err(|problem| ("value", problem))?;
    if metric.is_none() && value != PublishedValue::Missing {
        return Err(("metric", "is empty, and there is a value".into()));
    }
    let (parameters, part) = read_parameters(field(3))?;
    Ok(PublishedRow {
        place: field(0).to_owned(),
        subject: optional(1),
        phase: field(2).to_owned(),
        parameters,
        part,
        value,
        printed: field(4).to_owned(),
        metric,
        unit,
        note: field(7).to_owned(),
    })
}

/// `key=value` pairs, and at most one word that is a part of the phase.
fn read_parameters(text: &str) -> Result<(Vec<Pair>, Option<String>), Problem> {
    let (mut parameters, mut part) = (Vec::new(), None);
    for word in text.split_whitespace() {
        match word.split_once('=') {
            Some((key, value)) => parameters.push((key.to_owned(), value.to_owned())),
            None if part.is_none() => part = Some(word.to_owned()),
            None => return Err(("parameter", format!("has two parts: '{text}'"))),
        }
    }
    Ok((parameters, part))
}

fn read_value(text: &str, metric: &str, unit: &str) -> Result<PublishedValue, String> {
    if text.is_empty() {
        return Ok(PublishedValue::Missing);
    }
    let number = if unit == "mm:ss" {
        minutes_ns(text)
    } else {
        plain_number(text)
    };
    match number {
        _ if metric == "version" => Ok(PublishedValue::Text(text.to_owned())),
        Some(number) => Ok(PublishedValue::Number(number)),
        None if NAMES.contains(&metric) => Ok(PublishedValue::Text(text.to_owned())),
        None if unit == "mm:ss" => Err(format!("has '{text}', which is not of the form mm:ss.hh")),
        None => Err(format!("has '{text}', which is not a number")),
    }
}

/// Digits with at most one point: `inf` and `1e5`, which f64 also parses, are refused.
fn plain_number(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    text.chars().all(plain).then(|| text.parse().ok())?
}

/// `04:34.83`: minutes, seconds and hundredths.
fn minutes_ns(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.split_once(':')?;
    let minutes: u32 = minutes.parse().ok()?;
    let seconds = plain_number(seconds).filter(|seconds| *seconds < 60.0)?;
    // A sum of hundredths is exact.
    let hundredths = f64::from(minutes) * 6000.0 + (seconds * 100.0).round();
    Some(hundredths * 1e7)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "place,subject,phase,parameter,value,metric,unit,note\n";

    fn read(rows: &str) -> Result<Published, OriginalError> {
        Published::from_csv(&format!("{HEADER}{rows}"), "published.csv")
    }

    #[test]
    fn values_are_read_in_the_units_that_originals_print() {
        let text = "t,ext4,w,run,04:34.83,mean,mm:ss,\n\
                    t,ext4,w,file_size=2000M,6014,rate,K/sec,\n\
                    t,ext4,w,,115.2,operations,/sec,\n\
                    t,ext4,w,,260,latency,ms,\n\
                    t,ext4,w,,171.5,elapsed,min,\n\
                    t,,setup,,8.0,version,,\n\
                    t,FAT,background,,80s,year,,\n\
                    t,affs,c,,,operations,/sec,failed\n";
        let published = read(text).expect("rows");
        let base: Vec<_> = published
            .rows
            .iter()
            .map(PublishedRow::in_base_unit)
            .collect();
        assert_eq!(
            base,
            [
                Some(274.83e9),
                Some(6014.0 * 1024.0),
                Some(115.2),
                Some(260e6),
                Some(171.5 * 60e9),
                None,
                None,
                None
            ]
        );
        assert_eq!(published.values(), 7);
        assert_eq!(published.rows[0].part.as_deref(), Some("run"));
        let size = ("file_size".to_owned(), "2000M".to_owned());
        assert_eq!(published.rows[1].parameters, [size]);
        assert_eq!(published.rows[5].value, PublishedValue::Text("8.0".into()));
        assert_eq!(published.of("ext4", "w", "latency").count(), 1);
    }

    #[test]
    fn an_error_names_line_and_column() {
        for (row, expected) in [
            (
                "t,a,w,,x,rate,K/sec,\n",
                "line 2: the column 'value' has 'x'",
            ),
            ("t,a,w,,1e5,rate,K/sec,\n", "'value' has '1e5'"),
            ("t,a,w,,4:70.00,mean,mm:ss,\n", "not of the form mm:ss.hh"),
            (
                "t,a,w,,4,rate,furlongs,\n",
                "'unit' has the unknown unit 'furlongs'",
            ),
            ("t,a,w,,4,,,\n", "'metric' is empty"),
            ("t,a,,,4,rate,,\n", "'phase' is empty"),
            ("t,a,w,run total,4,rate,,\n", "'parameter' has two parts"),
        ] {
            let error = read(row).expect_err(row).to_string();
            assert!(error.contains(expected), "{error}");
        }
        let short = read("t,a,w\n").expect_err("too few fields");
        assert!(matches!(short, OriginalError::Csv { .. }));
        let columns = Published::from_csv("place,value\n", "p.csv").expect_err("columns");
        assert!(
            columns
                .to_string()
                .starts_with("p.csv, line 1: the columns are place,value")
        );
    }
}
