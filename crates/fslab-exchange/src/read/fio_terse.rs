//! fio's terse output (`--minimal`), versions 2 to 5: a line of fields for each job, as a document
//! of its JSON.
//!
//! It has no options of the jobs, no number of operations and no time. Lines of one job are its
//! processes or its repeats, and nothing says which: they are refused. Version 2 does not have the
//! version of fio.

use serde_json::{Map, Value, json};

use super::json_documents::Document;
use crate::error::Fault;

/// Positions in a direction.
const CLAT: usize = 8;
const PERCENTILES: std::ops::Range<usize> = 12..32;
const LAT: usize = 32;
/// The fields from the processor's times on, without those of disks, errors and the description.
const BEHIND_DIRECTIONS: usize = 34;
/// User and system time, the first fields after the directions.
const CPU: [&str; 2] = ["usr_cpu", "sys_cpu"];

/// Where a version has its fields.
#[derive(Debug, PartialEq, Eq)]
struct Layout {
    version: &'static str,
    /// Fields before the directions.
    first: usize,
    /// Fields of a direction.
    width: usize,
    directions: &'static [&'static str],
}

const LAYOUTS: [Layout; 4] = [
    Layout {
        version: "2",
        first: 4,
        width: 41,
        directions: &["read", "write", "trim"],
    },
    Layout {
        version: "3",
        first: 5,
        width: 41,
        directions: &["read", "write"],
    },
    Layout {
        version: "4",
        first: 5,
        width: 41,
        directions: &["read", "write", "trim"],
    },
    // With the samples of the bandwidth, and the operation rates.
    Layout {
        version: "5",
        first: 5,
        width: 47,
        directions: &["read", "write", "trim"],
    },
];

impl Layout {
    /// The layout of a job's line.
    fn of(line: &str) -> Option<&'static Self> {
        let (version, rest) = line.split_once(';')?;
        let layout = LAYOUTS.iter().find(|it| it.version == version)?;
        let is_job = match layout.first {
            5 => rest.starts_with("fio-"),
            // Its name can be anything, its percentiles cannot.
            first => {
                let mut fields = line.split(';').skip(first + PERCENTILES.start);
                fields
                    .by_ref()
                    .take(PERCENTILES.len())
                    .all(|it| it.contains("%="))
                    && fields.count() >= layout.fields() - first - PERCENTILES.end
            }
        };
        is_job.then_some(layout)
    }

    /// The position of the processor's times.
    fn cpu(&self) -> usize {
        self.first + self.directions.len() * self.width
    }

    /// The least fields of a line.
    fn fields(&self) -> usize {
        self.cpu() + BEHIND_DIRECTIONS
    }
}

/// True for a line of a job.
pub(super) fn is_mark(line: &str) -> bool {
    Layout::of(line).is_some()
}

/// The jobs of `text` as one execution; `None` if it has none.
pub(super) fn document(text: &str) -> Result<Option<Document>, Fault> {
    let mut first: Option<(usize, &str)> = None;
    let mut jobs: Vec<Value> = Vec::new();
    let mut known: Vec<(&str, &str)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let Some(layout) = Layout::of(line) else {
            continue;
        };
        let fields: Vec<&str> = line.split(';').collect();
        let place = format!("line {number}");
        let least = layout.fields();
        if fields.len() < least {
            let wanted = format!("at least {least}");
            return Err(Fault::fields(place, fields.len(), wanted).hint("the line is cut off"));
        }
        // Version 2 has no other.
        let here = if layout.first == 5 { fields[1] } else { "" };
        let version = first.get_or_insert((number, here)).1;
        if version != here {
            return Err(Fault::value(place, here, format!("{version}, as before"))
                .hint("import the outputs of each version separately"));
        }
        let job = (fields[layout.first - 3], fields[layout.first - 2]);
        if known.contains(&job) {
            let wanted = "a job of one line: its processes and its repeats look the same";
            return Err(Fault::value(place, job.0, wanted).hint(
                "run fio with --group_reporting, one file for each execution, or with \
                 --output-format=json+",
            ));
        }
        known.push(job);
        let line = Line {
            number,
            fields,
            layout,
        };
        jobs.push(line.job()?);
    }
    Ok(first.map(|(line, version)| Document {
        line,
        value: json!({ "fio version": version, "jobs": jobs }),
    }))
}

struct Line<'t> {
    number: usize,
    fields: Vec<&'t str>,
    layout: &'static Layout,
}

impl Line<'_> {
    fn job(&self) -> Result<Value, Fault> {
        let mut job = Map::new();
        let Layout { first, width, .. } = *self.layout;
        job.insert("jobname".into(), self.fields[first - 3].into());
        job.insert("groupid".into(), self.count(first - 2)?);
        job.insert("error".into(), self.count(first - 1)?);
        for (place, name) in self.layout.directions.iter().enumerate() {
            let side = self.direction(first + place * width)?;
            job.insert((*name).into(), side);
        }
        for (field, name) in (self.layout.cpu()..).zip(CPU) {
            if !self.fields[field].ends_with('%') {
                let wanted = "a share of the processor: with unified_rw_reporting the line has \
                              other directions, which fio's JSON names";
                return Err(self
                    .wrong(field, wanted)
                    .hint("run fio with --output-format=json+"));
            }
            job.insert(name.into(), self.figure(field)?.into());
        }
        Ok(job.into())
    }

    fn direction(&self, first: usize) -> Result<Value, Fault> {
        let mut direction = Map::new();
        for (name, field) in [("io_bytes", first), ("runtime", first + 3)] {
            direction.insert(name.into(), self.count(field)?);
        }
        for (name, field) in [("bw", first + 1), ("iops", first + 2)] {
            direction.insert(name.into(), self.figure(field)?.into());
        }
        // Since version 3 fio measures in nanoseconds, and its histogram has another end.
        let is_old = self.layout.first == 5 && self.fields[1].starts_with("fio-2.");
        let (unit, suffix) = match is_old {
            true => (1.0, ""),
            false => (1e3, "_ns"),
        };
        for (name, start) in [("clat", first + CLAT), ("lat", first + LAT)] {
            let mut span = Map::new();
            for (name, field) in [("min", start), ("max", start + 1), ("mean", start + 2)] {
                span.insert(name.into(), (self.figure(field)? * unit).into());
            }
            if name == "clat" {
                span.insert("percentile".into(), self.percentiles(first, unit)?);
            }
            direction.insert(format!("{name}{suffix}"), span.into());
        }
        Ok(direction.into())
    }

    /// `99.000000%=962`; those that were not asked for are `0%=0`.
    fn percentiles(&self, first: usize, unit: f64) -> Result<Value, Fault> {
        let mut percentiles = Map::new();
        for field in PERCENTILES.start + first..PERCENTILES.end + first {
            let wrong = || self.wrong(field, "a percentile, for example 99.000000%=962");
            let (percent, value) = self.fields[field].split_once("%=").ok_or_else(wrong)?;
            let value: f64 = value.parse().map_err(|_| wrong())?;
            if percent != "0" {
                percentiles.insert(percent.to_owned(), (value * unit).into());
            }
        }
        Ok(percentiles.into())
    }

    fn count(&self, field: usize) -> Result<Value, Fault> {
        let count: Option<i64> = self.fields[field].parse().ok();
        let wrong = || self.wrong(field, "an integer from 0");
        count
            .filter(|count| *count >= 0)
            .map(Value::from)
            .ok_or_else(wrong)
    }

    fn figure(&self, field: usize) -> Result<f64, Fault> {
        let text = self.fields[field].trim_end_matches('%');
        crate::reading::number(text).ok_or_else(|| self.wrong(field, "a figure from 0"))
    }

    fn wrong(&self, field: usize, wanted: &str) -> Fault {
        let place = format!("line {}, field {}", self.number, field + 1);
        Fault::value(place, self.fields[field], wanted)
    }
}
