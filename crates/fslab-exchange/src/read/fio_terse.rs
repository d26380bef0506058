//! fio's terse output (`--minimal`), version 3: a line of fields for each job, as a document of its
//! JSON.
//!
//! It has no options of the jobs, no number of operations and no time. Lines of one job are its
//! processes or its repeats, and nothing says which: they are refused.

use serde_json::{Map, Value, json};

use super::json_documents::Document;
use crate::error::Fault;

/// The fields before those of disks, errors and the description.
const FIELDS_MIN: usize = 121;
/// The first field of each direction.
const DIRECTIONS: [(&str, usize); 2] = [("read", 5), ("write", 46)];
/// Positions in a direction.
const CLAT: usize = 8;
const PERCENTILES: std::ops::Range<usize> = 12..32;
const LAT: usize = 32;
/// User and system time.
const CPU: [(&str, usize); 2] = [("usr_cpu", 87), ("sys_cpu", 88)];

/// True for a line of a job.
pub(super) fn is_mark(line: &str) -> bool {
    line.starts_with("3;fio-")
}

/// The jobs of `text` as one execution; `None` if it has none.
pub(super) fn document(text: &str) -> Result<Option<Document>, Fault> {
    let mut first: Option<(usize, &str)> = None;
    let mut jobs: Vec<Value> = Vec::new();
    let mut known: Vec<(&str, &str)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if !is_mark(line) {
            continue;
        }
        let fields: Vec<&str> = line.split(';').collect();
        let place = format!("line {number}");
        if fields.len() < FIELDS_MIN {
            let wanted = format!("at least {FIELDS_MIN}");
            return Err(Fault::fields(place, fields.len(), wanted).hint("the line is cut off"));
        }
        let version = first.get_or_insert((number, fields[1])).1;
        if version != fields[1] {
            return Err(
                Fault::value(place, fields[1], format!("{version}, as before"))
                    .hint("import the outputs of each version separately"),
            );
        }
        let job = (fields[2], fields[3]);
        if known.contains(&job) {
            let wanted = "a job of one line: its processes and its repeats look the same";
            return Err(Fault::value(place, fields[2], wanted).hint(
                "run fio with --group_reporting, one file for each execution, or with \
                 --output-format=json+",
            ));
        }
        known.push(job);
        jobs.push(Line { number, fields }.job()?);
    }
    Ok(first.map(|(line, version)| Document {
        line,
        value: json!({ "fio version": version, "jobs": jobs }),
    }))
}

struct Line<'t> {
    number: usize,
    fields: Vec<&'t str>,
}

impl Line<'_> {
    fn job(&self) -> Result<Value, Fault> {
        let mut job = Map::new();
        job.insert("jobname".into(), self.fields[2].into());
        job.insert("groupid".into(), self.count(3)?);
        job.insert("error".into(), self.count(4)?);
        for (name, first) in DIRECTIONS {
            job.insert(name.into(), self.direction(first)?);
        }
        for (name, field) in CPU {
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
        let (unit, suffix) = match self.fields[1].starts_with("fio-2.") {
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
