//! fio's logs: a line for each operation or for each window of time, without a head.
//!
//! A log does not name what it logs: its file's name does, as fio gives it (`NAME_bw.1.log`). A
//! block size in its lines marks a log of each operation, not of means of windows (`log_avg_msec`).
//! Each direction is a phase, with its course over time; time is from the start of fio's job.

use std::iter::once;

use fslab_model::definitions::{ELAPSED, OPERATION_RATE, THROUGHPUT};
use fslab_model::{
    Headline, LatencyCounts, LatencyHistogram, OperationLatency, Parameters, PhaseKind,
    PhaseRecord, TimeSeries,
};
use memchr::memchr_iter;

use super::fio_log_line::{Bins, DIRECTION_MAX, Entry, Shape};
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, plain_name, put};

const DIRECTIONS: [(&str, PhaseKind); DIRECTION_MAX as usize + 1] = [
    ("read", PhaseKind::Read),
    ("write", PhaseKind::Write),
    ("trim", PhaseKind::Mixed),
];
const HINT: &str = "keep the name that fio gave to the file, for example NAME_bw.1.log, or import \
                    the JSON of the same execution (fio --output-format=json+)";
const NS_PER_MS: u64 = 1_000_000;
/// Width of the first intervals of a log of each operation, in milliseconds.
const INTERVAL_MS: u64 = 100;
/// Most intervals; of more, two become one.
const INTERVALS_MAX: usize = 2000;

/// True if every line is an entry of a log.
pub(crate) fn is_log(text: &str) -> bool {
    let Some(shape) = shape(text) else {
        return false;
    };
    lines(text).all(|(_, line)| shape.has(line))
}

/// True if the first line is an entry of a log: no other output of fio begins with one.
pub(crate) fn begins_as_log(text: &str) -> bool {
    shape(text).is_some()
}

fn shape(text: &str) -> Option<Shape> {
    Shape::of(lines(text).next()?.1)
}

/// The lines that are not empty, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let ends = memchr_iter(b'\n', text.as_bytes()).chain(once(text.len()));
    let mut begin = 0;
    let lines = (1..).zip(ends).map(move |(number, end)| {
        let line = &text[begin..end];
        begin = end + 1;
        (number, line)
    });
    lines.filter(|(_, line)| !line.bytes().all(|byte| byte.is_ascii_whitespace()))
}

/// What a log has in its second field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bandwidth,
    Rate,
    /// `lat` or `clat`.
    Latency(&'static str),
    Histogram,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Bandwidth => "bw",
            Self::Rate => "iops",
            Self::Latency(span) => span,
            Self::Histogram => "hist",
        }
    }
}

/// The job, the process and the kind in a file's name: `out/job_clat_hist.1.log`.
fn of_name(file: &str) -> Result<(String, Kind), Fault> {
    let unknown = || {
        let text = "it is a log of fio, and the name of the file does not say which";
        Fault::new("", text).hint(HINT)
    };
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.strip_suffix(".log").ok_or_else(unknown)?;
    let (stem, process) = match stem.rsplit_once('.') {
        Some((stem, process)) if process.parse::<u32>().is_ok() => (stem, process),
        _ => (stem, ""),
    };
    let (job, kind) = stem.rsplit_once('_').ok_or_else(unknown)?;
    let (job, kind) = match kind {
        "bw" => (job, Kind::Bandwidth),
        "iops" => (job, Kind::Rate),
        "lat" => (job, Kind::Latency("lat")),
        "clat" => (job, Kind::Latency("clat")),
        "hist" => (job.trim_end_matches("_clat"), Kind::Histogram),
        "slat" => {
            let text = "it is a log of submission latencies of fio, which are no part of a phase";
            let hint = "import the log of completion latencies, NAME_clat.N.log";
            return Err(Fault::new("", text).hint(hint));
        }
        _ => return Err(unknown()),
    };
    Ok((plain_name(&format!("{job} {process}")), kind))
}

/// Reads the log in the file `file`.
pub(crate) fn read(file: &str, text: &str) -> Result<Reading, Fault> {
    let (job, kind) = of_name(file)?;
    let mut log = Log {
        kind,
        directions: Default::default(),
        is_each: None,
        bins: None,
    };
    for (number, line) in lines(text) {
        log.line(number, line)?;
    }
    let phases = log.phases(&job)?;
    Ok(Reading {
        tool: "fio".to_owned(),
        trials: vec![Measured {
            phases,
            ..Measured::default()
        }],
        ..Reading::default()
    })
}

struct Log {
    kind: Kind,
    directions: [Option<Course>; DIRECTIONS.len()],
    /// Whether lines are operations or means.
    is_each: Option<bool>,
    bins: Option<Bins>,
}

/// What a direction did over time.
#[derive(Default)]
struct Course {
    last_ms: u64,
    operations: u64,
    bytes: u64,
    /// Latencies of single operations.
    latencies: LatencyCounts,
    /// Latencies of bins.
    histogram: LatencyHistogram,
    /// The sum of rates by their milliseconds.
    rate_ms: f64,
    interval_ms: u64,
    counts: Vec<u64>,
    moved: Vec<u64>,
}

impl Log {
    fn line(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        let wrong = || {
            let wanted = "a line of a log: integers, of which the third is 0 to 2";
            Fault::value(format!("line {number}"), line, wanted).hint(HINT)
        };
        if self.kind == Kind::Histogram {
            let bins = match &self.bins {
                Some(bins) => bins,
                None => self.bins.insert(Bins::of(line).ok_or_else(wrong)?),
            };
            let entry = Entry::of_bins(line).ok_or_else(wrong)?;
            let course = course(&mut self.directions, entry.direction);
            let mut count: u64 = 0;
            let is_read = bins.each(line, |ns, times| {
                course.histogram.record_many(ns, times);
                count = count.saturating_add(times);
            });
            is_read.ok_or_else(wrong)?;
            course.operations = course.operations.saturating_add(count);
            course.window(entry.at_ms, count, 0);
            return Ok(());
        }
        let entry = Entry::of(line).ok_or_else(wrong)?;
        let is_each = entry.block_bytes > 0;
        if *self.is_each.get_or_insert(is_each) != is_each {
            let wanted = "a line with a block size, as before, or without one, as before";
            return Err(Fault::value(format!("line {number}"), line, wanted).hint(HINT));
        }
        if let Kind::Latency(_) = self.kind {
            ensure_latency(number, line, &entry)?;
        }
        let course = course(&mut self.directions, entry.direction);
        match (is_each, self.kind) {
            (true, kind) => course.operation(&entry, matches!(kind, Kind::Latency(_))),
            (false, Kind::Bandwidth) => course.mean(&entry, 1024, true),
            (false, _) => course.mean(&entry, 1, false),
        }
        Ok(())
    }

    fn phases(self, job: &str) -> Result<Vec<PhaseRecord>, Fault> {
        let is_each = self.is_each == Some(true);
        let courses: Vec<_> = DIRECTIONS.iter().zip(self.directions).collect();
        let count = courses
            .iter()
            .filter(|(_, course)| course.is_some())
            .count();
        if count == 0 {
            return Err(Fault::no_figure("it has no line").hint(HINT));
        }
        let mut phases = Vec::new();
        for ((direction, kind), course) in courses {
            let Some(course) = course else { continue };
            let word = self.kind.word();
            let name = match count {
                1 => format!("{job}-{word}"),
                _ => format!("{job}-{word}-{direction}"),
            };
            let mut parameters = Parameters::new();
            parameters.insert("log".to_owned(), word.into());
            parameters.insert("direction".to_owned(), (*direction).into());
            let mut record = Draft {
                name,
                workload: "fio".to_owned(),
                kind: *kind,
                headline: match self.kind {
                    Kind::Bandwidth => Headline::Throughput,
                    _ => Headline::OperationRate,
                },
                parameters,
                swept: None,
            }
            .record();
            let has_counts = is_each || self.kind == Kind::Histogram;
            course.put(&mut record, direction, self.kind, has_counts);
            if let Some(note) = self.bins.as_ref().and_then(Bins::note) {
                record.notes.push(note);
            }
            phases.push(record);
        }
        Ok(phases)
    }
}

fn course(directions: &mut [Option<Course>], direction: u64) -> &mut Course {
    // Lines with other directions are no entries.
    let place = usize::try_from(direction).unwrap_or_default();
    directions[place].get_or_insert_with(Course::default)
}

/// Checks that the unit of a latency is known, and that it is of one operation.
fn ensure_latency(number: usize, line: &str, entry: &Entry) -> Result<(), Fault> {
    let place = || format!("line {number}");
    if entry.block_bytes == 0 {
        let text = "it has the means of windows (log_avg_msec), which make no percentiles";
        return Err(Fault::new(place(), text).hint(
            "log without log_avg_msec, or with write_hist_log, or import the JSON of the same \
             execution (fio --output-format=json+)",
        ));
    }
    if !entry.is_of_fio_3 {
        let wanted = "a line of which the unit is known: fio 2 logs microseconds, fio 3 \
                      nanoseconds, and lines with an offset or without a priority can be of either";
        return Err(Fault::value(place(), line, wanted).hint(
            "log with fio 3.21 or later, or import the JSON of the same execution (fio \
             --output-format=json+)",
        ));
    }
    Ok(())
}

impl Course {
    /// An operation that was completed.
    fn operation(&mut self, entry: &Entry, has_latency: bool) {
        self.last_ms = self.last_ms.max(entry.at_ms);
        self.operations += 1;
        self.bytes = self.bytes.saturating_add(entry.block_bytes);
        if has_latency {
            self.latencies.record(entry.value);
        }
        self.add(INTERVAL_MS, entry.at_ms, 1, entry.block_bytes);
    }

    /// A mean over the window that ended at its time.
    fn mean(&mut self, entry: &Entry, unit: u64, is_bytes: bool) {
        let length_ms = entry.at_ms.saturating_sub(self.last_ms);
        let rate = entry.value.saturating_mul(unit) as f64;
        self.rate_ms += rate * length_ms as f64;
        let amount = (rate * length_ms as f64 / 1e3).round() as u64;
        match is_bytes {
            true => self.window(entry.at_ms, 0, amount),
            false => self.window(entry.at_ms, amount, 0),
        }
    }

    /// The amounts of the window that ended at `at_ms`.
    fn window(&mut self, at_ms: u64, count: u64, bytes: u64) {
        let length_ms = at_ms.saturating_sub(self.last_ms);
        // Ends of windows are late by a millisecond or so, their middles are in their intervals.
        let middle_ms = self.last_ms + length_ms / 2;
        self.last_ms = self.last_ms.max(at_ms);
        self.add(length_ms.max(1), middle_ms, count, bytes);
    }

    fn add(&mut self, interval_ms: u64, at_ms: u64, count: u64, bytes: u64) {
        if self.interval_ms == 0 {
            self.interval_ms = interval_ms;
        }
        while at_ms / self.interval_ms >= INTERVALS_MAX as u64 {
            self.interval_ms = self.interval_ms.saturating_mul(2);
            for list in [&mut self.counts, &mut self.moved] {
                let halves = list
                    .chunks(2)
                    .map(|pair| pair.iter().copied().fold(0, u64::saturating_add));
                *list = halves.collect();
            }
        }
        let place = (at_ms / self.interval_ms) as usize;
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
            self.moved.resize(place + 1, 0);
        }
        self.counts[place] = self.counts[place].saturating_add(count);
        self.moved[place] = self.moved[place].saturating_add(bytes);
    }

    fn put(mut self, record: &mut PhaseRecord, direction: &str, kind: Kind, has_counts: bool) {
        let elapsed_ns = self.last_ms.saturating_mul(NS_PER_MS);
        if has_counts {
            record.elapsed_ns = Some(elapsed_ns).filter(|ns| *ns > 0 && i64::try_from(*ns).is_ok());
            record.operations = Some(self.operations).filter(|it| i64::try_from(*it).is_ok());
            record.bytes =
                Some(self.bytes).filter(|bytes| *bytes > 0 && i64::try_from(*bytes).is_ok());
        } else {
            put(record, &ELAPSED, elapsed_ns as f64);
            let metric = match kind {
                Kind::Bandwidth => &THROUGHPUT,
                _ => &OPERATION_RATE,
            };
            put(record, metric, self.rate_ms / self.last_ms.max(1) as f64);
        }
        self.histogram.merge(&self.latencies.histogram());
        if self.histogram.count() > 0 {
            record.latencies.push(OperationLatency {
                operation: direction.to_owned(),
                histogram: self.histogram,
            });
        }
        record.notes.push(
            match kind {
                Kind::Histogram => "fio's log of histograms ends with its last complete window.",
                _ if has_counts => "Its time is from the start of fio's job to its last operation.",
                _ => {
                    "It has the mean of each window; fio's log ends with its last complete window."
                }
            }
            .to_owned(),
        );
        let all = |list: Vec<u64>| match list.iter().any(|it| *it > 0) {
            true => list,
            false => Vec::new(),
        };
        let interval_ns = self.interval_ms.saturating_mul(NS_PER_MS);
        if i64::try_from(interval_ns).is_ok() {
            record.series = Some(TimeSeries {
                interval_ns,
                operations: all(self.counts),
                bytes: all(self.moved),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_log_says_what_it_is() {
        for (file, job, kind) in [
            ("out/j_bw.1.log", "j-1", Kind::Bandwidth),
            ("my_job_iops.log", "my_job", Kind::Rate),
            ("j_clat.12.log", "j-12", Kind::Latency("clat")),
            ("j_clat_hist.1.log", "j-1", Kind::Histogram),
        ] {
            assert_eq!(of_name(file), Ok((job.to_owned(), kind)), "{file}");
        }
        for file in ["j.log", "j_bw.txt", "standard input", "j_slat.1.log"] {
            assert!(of_name(file).is_err(), "{file}");
        }
    }

    /// Untrusted times fill no memory.
    #[test]
    fn a_course_has_at_most_so_many_intervals() {
        let mut course = Course::default();
        for at_ms in [0, 1, 5_000_000, u64::MAX / 2] {
            course.add(1, at_ms, 1, 4096);
        }
        assert!(course.counts.len() <= INTERVALS_MAX);
        assert_eq!(course.counts.iter().sum::<u64>(), 4);
    }
}
