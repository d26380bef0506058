//! One line of the CSV of bonnie++: format 1.03 with 27 fields, 1.9x with 48, 1.98 with 50.
//!
//! `+++++` is a phase of less than half a second, whose rate bonnie++ does not give; an empty field
//! is a phase that was not run.

use fslab_model::definitions::{CPU_SHARE, LATENCY_MAX};
use fslab_model::{Facts, Headline, Parameters, PhaseKind, PhaseOutcome, PhaseRecord};

use super::bonnie_format::{
    COLUMNS_19X, COLUMNS_103, COLUMNS_191, COLUMNS_198, COLUMNS_198_VERSION, Columns, DATA_PHASES,
    LINKS, VERSION_191, is_191_of_files, is_figure, is_size, is_version, size_bytes,
};
use crate::error::Fault;
use crate::reading::{Draft, Measured, number};

const KIB: f64 = 1024.0;
/// A phase of bonnie++: its name in studies, kind and headline.
type Phase = (&'static str, PhaseKind, Headline);

/// In the order of the columns.
const PHASES: [Phase; 12] = [
    ("per-char-write", PhaseKind::Write, Headline::Throughput),
    ("block-write", PhaseKind::Write, Headline::Throughput),
    ("rewrite", PhaseKind::Mixed, Headline::Throughput),
    ("per-char-read", PhaseKind::Read, Headline::Throughput),
    ("block-read", PhaseKind::Read, Headline::Throughput),
    ("seeks", PhaseKind::Mixed, Headline::OperationRate),
    ("create-seq", PhaseKind::Metadata, Headline::OperationRate),
    ("read-seq", PhaseKind::Metadata, Headline::OperationRate),
    ("delete-seq", PhaseKind::Metadata, Headline::OperationRate),
    ("create-rand", PhaseKind::Metadata, Headline::OperationRate),
    ("read-rand", PhaseKind::Metadata, Headline::OperationRate),
    ("delete-rand", PhaseKind::Metadata, Headline::OperationRate),
];
/// The names of its phases.
pub(crate) fn phase_names() -> impl Iterator<Item = &'static str> {
    PHASES.iter().map(|(name, ..)| *name)
}

/// One line of CSV.
pub(super) struct Line<'t> {
    number: usize,
    /// The machine's name, the only field that may contain commas.
    name: String,
    fields: Vec<&'t str>,
    columns: &'static Columns,
    /// True if the fields stand in tables, not in a line.
    is_of_table: bool,
}

impl<'t> Line<'t> {
    /// The fields of tables, of which the last are in line `number`.
    pub(super) fn of_table(number: usize, fields: &'t [String]) -> Self {
        Self {
            number,
            name: fields[COLUMNS_19X.name].clone(),
            fields: fields.iter().map(String::as_str).collect(),
            columns: &COLUMNS_19X,
            is_of_table: true,
        }
    }

    pub(super) fn split(line: &'t str, number: usize) -> Result<Self, Fault> {
        let mut fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let columns = match is_version(fields[0]) {
            _ if is_191_of_files(&fields) => &COLUMNS_191,
            true if fields[0] >= COLUMNS_198_VERSION => &COLUMNS_198,
            true if fields[0].starts_with(VERSION_191) => &COLUMNS_191,
            true => &COLUMNS_19X,
            false => &COLUMNS_103,
        };
        if fields.len() + 1 == columns.fields {
            columns.put_back_lost_comma(&mut fields);
        }
        let wanted = || match columns.fields {
            27 => "the 27 of format 1.03".to_owned(),
            fields => format!("the {fields} of its format"),
        };
        let Some(commas) = fields.len().checked_sub(columns.fields) else {
            let fault = Fault::fields(format!("line {number}"), fields.len(), wanted());
            return Err(fault.hint("the line is cut off"));
        };
        let name = fields[columns.name..=columns.name + commas].join(",");
        let mut line = Self {
            number,
            name,
            fields,
            columns,
            is_of_table: false,
        };
        line.fields.drain(columns.name + 1..=columns.name + commas);
        if commas > 0 && !line.is_complete() {
            let found = columns.fields + commas;
            let hint = "two lines may have been joined, or the machine's name may contain a comma";
            return Err(Fault::fields(format!("line {number}"), found, wanted()).hint(hint));
        }
        Ok(line)
    }

    /// True if every field after the name has a valid form.
    fn is_complete(&self) -> bool {
        let columns = self.columns;
        let end = columns.latencies.unwrap_or(columns.fields);
        let files = end - 2 * (PHASES.len() - DATA_PHASES)..end;
        let mut rates = (columns.data..columns.data + 2 * DATA_PHASES).chain(files);
        let mut latencies = columns
            .latencies
            .into_iter()
            .flat_map(|first| first..first + 12);
        let is_latency = |text: &str| text.is_empty() || text.ends_with('s') || text.contains('+');
        is_size(self.fields[columns.size])
            && rates.all(|field| is_figure(self.fields[field]))
            && latencies.all(|field| is_latency(self.fields[field]))
    }

    /// bonnie++ with its version, which format 1.03 lacks.
    pub(super) fn tool(&self) -> String {
        match self.columns.fields {
            27 => "bonnie++ 1.03".to_owned(),
            _ if self.fields[1].contains(' ') => self.fields[1].to_owned(),
            _ => format!("bonnie++ {}", self.fields[1]),
        }
    }

    fn place(&self, field: usize, name: &str) -> String {
        if self.is_of_table {
            return format!("tables to line {}, {name}", self.number);
        }
        format!("line {}, field {} ({name})", self.number, field + 1)
    }

    pub(super) fn measured(&self) -> Result<Measured, Fault> {
        let mut measured = Measured {
            subject: (!self.name.is_empty()).then(|| self.name.clone()),
            facts: self.facts(),
            stamp: self.seed().filter(|seed| self.is_time(seed)),
            ..Measured::default()
        };
        let (data, files) = (self.data_parameters()?, self.file_parameters()?);
        for (place, phase) in PHASES.iter().enumerate() {
            let parameters = match place {
                5 => self.seek_parameters(&data)?,
                0..DATA_PHASES => data.clone(),
                _ => files.clone(),
            };
            measured.phases.push(self.phase(place, *phase, parameters)?);
        }
        Ok(measured)
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        facts.insert("bonnie++".into(), self.tool());
        if self.columns.fields > 27 {
            facts.insert("bonnie++ format".into(), self.fields[0].to_owned());
        }
        let seed = self.seed().map(|seed| ("bonnie++ seed".into(), seed));
        facts.extend(seed);
        facts.retain(|_, value| !value.is_empty());
        facts
    }

    /// True if a seed is the time in seconds since 1970, which it is unless the user has set it.
    /// Lines of an export of fslab have the seed of their run.
    fn is_time(&self, seed: &str) -> bool {
        const DATES: std::ops::Range<u64> = 1_000_000_000..4_000_000_000;
        is_version(self.fields[1]) && seed.parse().is_ok_and(|seed| DATES.contains(&seed))
    }

    fn seed(&self) -> Option<String> {
        let (_, seed) = self.columns.run()?;
        let seed = self.fields[seed];
        (!seed.is_empty()).then(|| seed.to_owned())
    }

    /// A count or a size; `None` if the field is empty.
    fn size(&self, field: usize, name: &str, unit: u64) -> Result<Option<u64>, Fault> {
        let text = self.fields[field];
        if text.is_empty() {
            return Ok(None);
        }
        let wrong = || Fault::value(self.place(field, name), text, "a count or a size");
        size_bytes(text, unit).map(Some).ok_or_else(wrong)
    }

    fn data_parameters(&self) -> Result<Parameters, Fault> {
        let mut parameters = Parameters::new();
        let (size, chunk) = match self.fields[self.columns.size].split_once(':') {
            Some((size, chunk)) => (size, Some(chunk)),
            None => (self.fields[self.columns.size], None),
        };
        let place = || self.place(self.columns.size, "file size");
        if !size.is_empty() {
            let wrong = || Fault::value(place(), size, "a size in MiB, or with a unit");
            let bytes = size_bytes(size, 1 << 20).ok_or_else(wrong)?;
            parameters.insert("file_size".into(), bytes.into());
        }
        if let Some(chunk) = chunk {
            let wrong = || Fault::value(place(), chunk, "the size of a chunk");
            let bytes = size_bytes(chunk, 1).ok_or_else(wrong)?;
            parameters.insert("record".into(), bytes.into());
        }
        if self.columns.fields > 27 {
            if let Some((concurrency, _)) = self.columns.run()
                && let Some(count) = self.size(concurrency, "concurrency", 1)?
            {
                parameters.insert("concurrency".into(), count.into());
            }
            if let Some(bytes) = self.size(self.columns.size + 1, "chunk size", 1)? {
                parameters.insert("record".into(), bytes.into());
            }
        }
        Ok(parameters)
    }

    fn seek_parameters(&self, data: &Parameters) -> Result<Parameters, Fault> {
        let mut parameters = data.clone();
        if let Some(first) = self.columns.seeks {
            if let Some(count) = self.size(first, "seeks", 1)? {
                parameters.insert("seeks".into(), count.into());
            }
            if let Some(count) = self.size(first + 1, "processes of seeks", 1)? {
                parameters.insert("seekers".into(), count.into());
            }
        }
        Ok(parameters)
    }

    /// The number of files is in units of 1024, and in format 1.03 may include the sizes:
    /// `16:1000:10/4`.
    fn file_parameters(&self) -> Result<Parameters, Fault> {
        let mut parameters = Parameters::new();
        let first = self.columns.files;
        let (count, rest) = match self.fields[first].split_once(':') {
            Some((count, rest)) => (count, Some(rest)),
            None => (self.fields[first], None),
        };
        if !count.is_empty() {
            let wrong = || Fault::value(self.place(first, "files"), count, "a number of files");
            let count = number(count).ok_or_else(wrong)?;
            parameters.insert("files".into(), ((count * KIB).round() as u64).into());
        }
        let sizes = rest.into_iter().flat_map(|rest| rest.split([':', '/']));
        let names = match LINKS.iter().any(|link| self.fields[first].contains(link)) {
            true => &["max_size", "directories"][..],
            false => &["max_size", "min_size", "directories"],
        };
        for (name, text) in names.iter().copied().zip(sizes) {
            let wrong = || Fault::value(self.place(first, "files"), text, "a size or a count");
            let value = match LINKS.contains(&text) {
                true => text.into(),
                false => size_bytes(text, 1).ok_or_else(wrong)?.into(),
            };
            parameters.insert(name.into(), value);
        }
        if self.columns.fields > 27 {
            let names = ["max_size", "min_size", "directories", "file_chunk"];
            for (name, field) in names.into_iter().zip(first + 1..) {
                if LINKS.contains(&self.fields[field]) {
                    parameters.insert(name.into(), self.fields[field].into());
                } else if let Some(value) = self.size(field, name, 1)? {
                    parameters.insert(name.into(), value.into());
                }
            }
        }
        Ok(parameters)
    }

    fn phase(
        &self,
        place: usize,
        (name, kind, headline): Phase,
        parameters: Parameters,
    ) -> Result<PhaseRecord, Fault> {
        let draft = Draft {
            name: name.to_owned(),
            workload: "bonnie++".to_owned(),
            kind,
            headline,
            parameters,
            swept: None,
        };
        let mut record = draft.record();
        let first = match place {
            0..DATA_PHASES => self.columns.data + 2 * place,
            // Since 1.9x, four fields on sizes follow the number of files.
            _ => {
                let skipped = if self.columns.fields > 27 { 5 } else { 1 };
                self.columns.files + skipped + 2 * (place - DATA_PHASES)
            }
        };
        let rate = self.figure(first, name)?;
        let share = self.figure(first + 1, &format!("{name}, %CP"))?;
        let latency = match self.columns.latencies {
            Some(latencies) => self.latency(latencies + place, &format!("{name}, latency"))?,
            None => None,
        };
        let unit = if headline == Headline::Throughput {
            KIB
        } else {
            1.0
        };
        match rate {
            Figure::NotRun if latency.is_none() => {
                record.outcome = PhaseOutcome::Skipped {
                    reason: "bonnie++ did not run it".to_owned(),
                };
                return Ok(record);
            }
            Figure::NotRun => record
                .notes
                .push("bonnie++ gives no rate of it.".to_owned()),
            Figure::TooShort => record.notes.push(
                "It took less than half a second, and bonnie++ gives no rate of that.".to_owned(),
            ),
            Figure::Is(rate) => {
                let name = headline.metric().name.to_owned();
                record.figures.insert(name, rate * unit);
            }
        }
        if let Figure::Is(percent) = share {
            let name = CPU_SHARE.name.to_owned();
            record.figures.insert(name, percent / 100.0);
        }
        if let Some(ns) = latency {
            record.figures.insert(LATENCY_MAX.name.to_owned(), ns);
        }
        Ok(record)
    }

    fn figure(&self, field: usize, name: &str) -> Result<Figure, Fault> {
        let text = self.fields[field];
        if text.is_empty() {
            return Ok(Figure::NotRun);
        }
        if text.chars().all(|c| c == '+') {
            return Ok(Figure::TooShort);
        }
        let wrong = || Fault::value(self.place(field, name), text, "a rate, +++++ or nothing");
        number(text).map(Figure::Is).ok_or_else(wrong)
    }

    /// `4126us`, `116ms`, `3s`, in nanoseconds.
    fn latency(&self, field: usize, name: &str) -> Result<Option<f64>, Fault> {
        let text = self.fields[field];
        if text.is_empty() || text.chars().all(|c| c == '+') {
            return Ok(None);
        }
        let end = text
            .find(|c: char| c.is_ascii_alphabetic())
            .unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let factor = match unit {
            "us" => Some(1e3),
            "ms" => Some(1e6),
            "s" => Some(1e9),
            "ns" => Some(1.0),
            _ => None,
        };
        let wanted = "a latency, for example 4126us, 116ms or 3s";
        let wrong = || Fault::value(self.place(field, name), text, wanted);
        let ns = number(digits)
            .zip(factor)
            .map(|(number, factor)| number * factor);
        ns.map(Some).ok_or_else(wrong)
    }
}

/// The content of a rate's field.
enum Figure {
    /// The phase was not run.
    NotRun,
    /// It was too short for a rate.
    TooShort,
    /// The rate.
    Is(f64),
}
