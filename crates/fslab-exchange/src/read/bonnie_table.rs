//! The tables of bonnie++, where its line of CSV was not kept.
//!
//! Each cell has ten characters, blank if the test was not run; longer figures move those behind
//! them. The tables of 2.x have units, and, instead of rates of files, the number of files.
//!
//! ```text
//!     Machine        Size K/sec %CP K/sec %CP ...
//!     box              4G   700  97 90000  12 ...
//!     Latency             12000us     900ms ...
//! ```

use super::bonnie_format::{COLUMNS_19X, DATA_PHASES, has_unit, is_size};
use crate::error::Fault;

/// The characters before the first cell, and those of a cell.
const BEFORE: usize = 19;
const CELL: usize = 10;
/// The column behind the first latency.
const LATENCY_END: usize = 27;
/// Heads of tables.
const DATA: &str = "------Sequential Output------";
const FILES: &str = "------Sequential Create------";

/// True for the head of a table.
pub(super) fn is_head(line: &str) -> bool {
    line.contains(DATA) || line.contains(FILES)
}

/// The tables of one execution, as the fields of format 1.9x.
pub(super) struct Row {
    /// The line of its last figures.
    pub(super) line: usize,
    pub(super) fields: Vec<String>,
    /// True if the rates of files are left out, because the table has none.
    pub(super) has_no_file_rates: bool,
}

/// What a line is expected to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Head,
    Data,
    Files,
    Other,
}

#[derive(Default)]
struct Reader {
    rows: Vec<Row>,
    version: String,
    /// The spaces before the tables.
    indent: usize,
    of_files: bool,
    has_data: bool,
    has_files: bool,
}

/// Reads every table.
pub(super) fn rows(text: &str) -> Result<Vec<Row>, Fault> {
    let mut reader = Reader::default();
    let mut next = Next::Other;
    let mut last = 0;
    for (number, line) in (1..).zip(text.lines()) {
        if is_head(line) {
            reader.head(number, line);
            (next, last) = (Next::Head, number);
            continue;
        }
        let blanks = line.len() - line.trim_start().len();
        let line = &line[blanks.min(reader.indent)..];
        if line.trim().is_empty() {
            continue;
        }
        next = match next {
            Next::Head => reader.second_head(line),
            Next::Data => reader.data(number, line)?,
            Next::Files => reader.files(number, line)?,
            Next::Other if line.trim_start().starts_with("Latency") => {
                reader.latencies(number, line)?;
                Next::Other
            }
            Next::Other => Next::Other,
        };
    }
    match next {
        Next::Other => Ok(reader.rows),
        _ => Err(Fault::truncated(
            format!("line {last}"),
            "the table has no row",
        )),
    }
}

impl Reader {
    /// `Version  1.97       ------Sequential Output------ ...`.
    fn head(&mut self, number: usize, line: &str) {
        self.of_files = line.contains(FILES);
        let mut words = line.split_whitespace();
        if words.next() == Some("Version") {
            self.indent = line.len() - line.trim_start().len();
            words
                .next()
                .unwrap_or_default()
                .clone_into(&mut self.version);
        }
        let is_new = match self.of_files {
            true => self.rows.is_empty() || self.has_files,
            false => true,
        };
        if is_new {
            let mut fields = vec![String::new(); COLUMNS_19X.fields];
            fields[1].clone_from(&self.version);
            self.rows.push(Row {
                line: number,
                fields,
                has_no_file_rates: false,
            });
            (self.has_data, self.has_files) = (false, false);
        }
    }

    fn set(&mut self, number: usize, field: usize, text: &str) {
        if let Some(row) = self.rows.last_mut() {
            row.line = number;
            text.clone_into(&mut row.fields[field]);
        }
    }

    /// The lines below the head; the last of them is followed by the figures.
    fn second_head(&mut self, line: &str) -> Next {
        if line.contains("%CP") {
            return if self.of_files {
                Next::Files
            } else {
                Next::Data
            };
        }
        let mut words = line.split_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        let number = self.rows.last().map_or(0, |row| row.line);
        if first == "Concurrency" {
            self.set(number, 3, second.unwrap_or_default());
        } else if self.of_files && !first.starts_with('-') && !self.has_data {
            self.set(number, COLUMNS_19X.name, first);
        }
        Next::Head
    }

    fn data(&mut self, number: usize, line: &str) -> Result<Next, Fault> {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        let size = words.next().unwrap_or_default();
        // Without a name the size comes first.
        let is_size =
            |word: &str| is_size(word) && has_unit(word.split(':').next().unwrap_or(word));
        let (name, size) = match is_size(first) && !is_size(size) {
            true => ("", first),
            false => (first, size),
        };
        if !is_size(size) {
            let wanted = "a machine with the size of its file";
            return Err(Fault::value(format!("line {number}"), line.trim(), wanted));
        }
        self.set(number, COLUMNS_19X.name, name);
        let mut sizes = size.split(':');
        self.set(number, COLUMNS_19X.size, sizes.next().unwrap_or_default());
        self.set(
            number,
            COLUMNS_19X.size + 1,
            sizes.next().unwrap_or_default(),
        );
        let end = line.find(size).unwrap_or_default() + size.len();
        let cells = cells(number, line, end)?;
        for (phase, (rate, share)) in cells.into_iter().enumerate() {
            let is_seeks = phase + 1 == DATA_PHASES;
            let rate = match rate.chars().next_back() {
                Some('k' | 'm' | 'g') if !is_seeks => kib(&rate),
                _ => Some(rate.clone()),
            };
            let place = || format!("line {number}, cell {}", phase + 1);
            let rate = rate.ok_or_else(|| Fault::value(place(), line.trim(), "rates"))?;
            let field = COLUMNS_19X.data + 2 * phase;
            self.set(number, field, &rate);
            self.set(number, field + 1, &share);
        }
        self.has_data = true;
        Ok(Next::Other)
    }

    fn files(&mut self, number: usize, line: &str) -> Result<Next, Fault> {
        let files = line.split_whitespace().next().unwrap_or_default();
        self.set(number, COLUMNS_19X.files, files);
        let end = line.find(files).unwrap_or_default() + files.len();
        // Up to 1.9x a table has rates.
        let has_rates = self.version.starts_with("1.");
        for (phase, (rate, share)) in cells(number, line, end)?.into_iter().enumerate() {
            let is_rate = has_rates || rate.starts_with('+');
            let field = COLUMNS_19X.files + 5 + 2 * phase;
            self.set(number, field, if is_rate { &rate } else { "" });
            self.set(number, field + 1, &share);
            if let Some(row) = self
                .rows
                .last_mut()
                .filter(|_| !is_rate && !rate.is_empty())
            {
                row.has_no_file_rates = true;
            }
        }
        self.has_files = true;
        Ok(Next::Other)
    }

    fn latencies(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        let first = COLUMNS_19X.latencies.unwrap_or_default();
        let first = first + if self.of_files { DATA_PHASES } else { 0 };
        let begin = line.len() - line.trim_start().len();
        let mut end = begin + "Latency".len();
        for word in line[end..].split_whitespace() {
            end += line[end..].find(word).unwrap_or_default() + word.len();
            let place = (end + CELL / 2).saturating_sub(LATENCY_END) / CELL;
            if place >= DATA_PHASES {
                let wanted = "the latencies of six tests";
                return Err(Fault::value(format!("line {number}"), line.trim(), wanted));
            }
            self.set(number, first + place, word);
        }
        Ok(())
    }
}

/// The rate and the share of each of six tests, empty if it was not run.
fn cells(number: usize, line: &str, end: usize) -> Result<Vec<(String, String)>, Fault> {
    let wrong = || {
        let wanted = "a row of a rate and a share for each of six tests";
        Fault::value(format!("line {number}"), line.trim(), wanted)
    };
    let mut rest = line
        .get(end.max(BEFORE).min(line.len())..)
        .ok_or_else(wrong)?;
    let mut cells = Vec::new();
    while !rest.trim().is_empty() {
        let cell = rest.get(..CELL).filter(|cell| cell.trim().is_empty());
        if cell.is_some() {
            cells.push((String::new(), String::new()));
            rest = &rest[CELL..];
            continue;
        }
        let mut word = || -> Option<&str> {
            let from = rest.trim_start();
            let end = from.find(char::is_whitespace).unwrap_or(from.len());
            let word = &from[..end];
            rest = &from[end..];
            (!word.is_empty()).then_some(word)
        };
        let (rate, share) = word().zip(word()).ok_or_else(wrong)?;
        cells.push((rate.to_owned(), share.to_owned()));
    }
    // The last test of a row is part of every execution that has the row.
    match cells.len() == DATA_PHASES {
        true => Ok(cells),
        false => Err(wrong()),
    }
}

/// The KiB of `568k`, `387m` or `1.4g`.
fn kib(rate: &str) -> Option<String> {
    let (digits, unit) = rate.split_at(rate.len() - 1);
    let number: f64 = digits.parse().ok()?;
    let unit = match unit {
        "k" => 1.0,
        "m" => 1024.0,
        _ => 1_048_576.0,
    };
    Some((number * unit).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_cell_is_a_test_that_was_not_run() {
        let line =
            "box            600M           237729  12 375699  13           530944   9 1530.6   0";
        let cells = cells(1, line, 19).expect("cells");
        let rates: Vec<&str> = cells.iter().map(|(rate, _)| rate.as_str()).collect();
        assert_eq!(rates, ["", "237729", "375699", "", "530944", "1530.6"]);
        for short in [
            &line[..line.len() - 11],
            &line[..line.len() - 3],
            &line[..27],
        ] {
            let fault = super::cells(1, short, 19).expect_err(short);
            assert!(fault.to_string().contains("each of six tests"), "{fault}");
        }
    }

    #[test]
    fn rates_with_a_unit_are_in_kib() {
        assert_eq!(kib("568k").as_deref(), Some("568"));
        assert_eq!(kib("387m").as_deref(), Some("396288"));
        assert_eq!(kib("1.5g").as_deref(), Some("1572864"));
        assert_eq!(kib("k"), None);
    }
}
