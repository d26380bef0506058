//! The formats of bonnie++'s CSV: recognition of its lines, and positions of fields.

use std::ops::Range;

use super::bonnie_table;

/// The first phases use one file, the others many.
pub(super) const DATA_PHASES: usize = 6;
/// Longest machine's name.
pub(super) const NAME_LENGTH_MAX: usize = 200;

/// Words for the size of files that are links; the longer words first.
pub(super) const LINKS: [&str; 3] = ["symlink", "hlink", "link"];
/// The last field in which the size of a line of 1.03 is looked for: a machine's name may contain
/// commas.
const NAMED: usize = 4;

/// The positions of the fields of one format.
pub(super) struct Columns {
    pub(super) fields: usize,
    pub(super) name: usize,
    pub(super) size: usize,
    pub(super) data: usize,
    pub(super) files: usize,
    pub(super) latencies: Option<usize>,
    /// Number and processes of seeks.
    pub(super) seeks: Option<usize>,
}

impl Columns {
    /// Positions of concurrency and seed, if present.
    pub(super) fn run(&self) -> Option<(usize, usize)> {
        (self.size == COLUMNS_19X.size).then_some((3, 4))
    }

    /// Up to 1.96 bonnie++ prints a comma too few for data tests that are left out (`-s 0`), 1.91
    /// for file tests (`-n 0`), so all later fields are one column early. The comma is restored
    /// only if a truncated line could not look the same: the tests left out must have neither rates
    /// nor latencies.
    pub(super) fn put_back_lost_comma(&self, fields: &mut Vec<&str>) {
        let Some(latencies) = self.latencies else {
            return;
        };
        let data = (self.size..self.files, latencies..latencies + DATA_PHASES);
        let files = (self.files..latencies, data.1.end..self.fields);
        for ((left_out, its_latencies), done) in [(data, self.files), (files, self.size)] {
            let mut whole = fields.clone();
            whole.insert(left_out.start, "");
            let is_empty = |range: Range<usize>| whole[range].iter().all(|it| it.is_empty());
            if is_empty(left_out) && is_empty(its_latencies) && !whole[done].is_empty() {
                *fields = whole;
                return;
            }
        }
    }
}

pub(super) const COLUMNS_103: Columns = Columns {
    fields: 27,
    name: 0,
    size: 1,
    data: 2,
    files: 14,
    latencies: None,
    seeks: None,
};
/// Without concurrency and seed.
pub(super) const COLUMNS_191: Columns = Columns {
    fields: 46,
    name: 2,
    size: 3,
    data: 5,
    files: 17,
    latencies: Some(34),
    seeks: None,
};
pub(super) const COLUMNS_19X: Columns = Columns {
    fields: 48,
    name: 2,
    size: 5,
    data: 7,
    files: 19,
    latencies: Some(36),
    seeks: None,
};
/// The beginning of a line of bonnie++ 1.90, which is not supported.
pub(crate) const CSV_190: &str = "2,1.90";
pub(crate) const HINT_190: &str =
    "this is the CSV of bonnie++ 1.90; fslab reads the CSV of 1.00 to 1.04 and of 1.91 to 2.00";
/// The format of 46 fields.
pub(super) const VERSION_191: &str = "1.91";
/// With file tests only, 1.91 writes the format number of 1.90.
pub(super) const FORMAT_191: &str = "2";
/// The first format of 50 fields; those before have 48.
pub(super) const COLUMNS_198_VERSION: &str = "1.98";
pub(super) const COLUMNS_198: Columns = Columns {
    fields: 50,
    name: 2,
    size: 5,
    data: 9,
    files: 21,
    latencies: Some(38),
    seeks: Some(7),
};

/// True for a line that only bonnie++ writes.
pub(crate) fn is_mark(line: &str) -> bool {
    bonnie_table::is_head(line) || is_header(line) || is_data(line)
}

/// The header that `-x` prints; up to 1.03 without versions.
pub(super) fn is_header(line: &str) -> bool {
    line.starts_with("format_version,bonnie_version,") || line.starts_with("name,file_size,putc,")
}

/// True for a line of CSV, complete or not: it has a version, or a machine and a size with a unit.
/// Numbers alone are no mark, whatever their count.
pub(super) fn is_data(line: &str) -> bool {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    if fields.len() < 8 || fields.iter().any(|field| field.len() > NAME_LENGTH_MAX) {
        return false;
    }
    is_191_of_files(&fields) || is_versioned(&fields) || is_103(&fields)
}

/// Since 1.91 a line begins with the versions of its format and of bonnie++; an export of fslab has
/// the tool that measured as the second.
fn is_versioned(fields: &[&str]) -> bool {
    let is_tool = fields[1].starts_with(|c: char| c.is_ascii_alphabetic());
    is_version(fields[0])
        && (is_tool || is_version(fields[1]) && fields[3..].iter().any(|field| has_unit(field)))
}

/// `300M`, `4126us`, `+++++`.
pub(super) fn has_unit(field: &str) -> bool {
    let digits = field.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_number = digits.ends_with(|c: char| c.is_ascii_digit());
    is_number && digits.len() < field.len() || is_too_short(field)
}

/// True for the marks of a phase that was too short for a rate.
fn is_too_short(field: &str) -> bool {
    field.len() >= 3 && field.chars().all(|c| c == '+')
}

/// `box,300M:16k,...`: the machine, whose name may contain commas, and the size with its unit, then
/// rates with shares of the processor. Without tests of data the size is empty, and files follow.
fn is_103(fields: &[&str]) -> bool {
    let is_size_with_unit = |field: &str| {
        let size = field.split_once(':').map_or(field, |(size, _)| size);
        has_unit(size) && size_bytes(size, 1).is_some()
    };
    let follows = |size: usize| fields[size + 1..].iter().all(|field| is_figure(field));
    let named = 1..=NAMED.min(fields.len() - 2);
    if named.clone().any(|size| {
        is_size_with_unit(fields[size]) && follows(size) && are_pairs(&fields[size + 1..])
    }) {
        return true;
    }
    let is_name = fields[0].contains(|c: char| c.is_ascii_alphabetic());
    let files = COLUMNS_103.files;
    is_name
        && fields.len() == COLUMNS_103.fields
        && fields[1..files].iter().all(|field| field.is_empty())
        && follows(1)
        && are_pairs(&fields[2..])
        && fields[files..].iter().all(|field| !field.is_empty())
}

/// True if of each rate and its share of the processor both are there or none.
fn are_pairs(figures: &[&str]) -> bool {
    let data = 2 * DATA_PHASES;
    let whole = |figures: &[&str]| {
        let mut pairs = figures.chunks_exact(2);
        pairs.all(|pair| pair[0].is_empty() == pair[1].is_empty())
    };
    match figures.split_at_checked(data) {
        Some((data, [_, files @ ..])) => whole(data) && whole(files),
        _ => whole(figures),
    }
}

/// `1.96`, `1.93c`, `1.98`, `2.00a`: versions of the formats that begin with one, and of bonnie++.
pub(super) fn is_version(field: &str) -> bool {
    const MINORS: [&str; 2] = ["1.9", "2.0"];
    let digits = field.strip_suffix(|c: char| c.is_ascii_lowercase());
    let digits = digits.unwrap_or(field);
    let last = MINORS.iter().find_map(|minor| digits.strip_prefix(minor));
    last.is_some_and(|last| last.len() == 1 && last.chars().all(|c| c.is_ascii_digit()))
}

pub(super) fn is_191_of_files(fields: &[&str]) -> bool {
    fields[0] == FORMAT_191 && fields[1].starts_with(VERSION_191)
}

pub(super) fn is_size(field: &str) -> bool {
    let size = field.split_once(':').map_or(field, |(size, _)| size);
    size_bytes(size, 1 << 20).is_some() || field.is_empty()
}

/// A valid field after the size in a line of 1.03: rate, count, or empty.
pub(super) fn is_figure(field: &str) -> bool {
    let plain = |c: char| c.is_ascii_digit() || "+-.:/".contains(c);
    let sizes = LINKS.iter().find_map(|link| field.split_once(*link));
    if let Some((count, directories)) = sizes {
        return [count, directories]
            .iter()
            .all(|part| part.chars().all(plain));
    }
    field.chars().all(plain) || matches!(field, "nan" | "-nan" | "inf" | "NaN")
}

/// `300M`, `16G`, `8k`, or a number of `unit`.
pub(super) fn size_bytes(text: &str, unit: u64) -> Option<u64> {
    let end = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let unit = match suffix {
        "" => unit,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        "t" | "T" => 1 << 40,
        _ => return None,
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(unit)
}
