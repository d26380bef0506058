//! Iozone's reports (`-R`): a title, the record sizes, and a row for each file size.

use fslab_model::PhaseKind;

use super::iozone::{Spot, TESTS, Test};
use crate::error::Fault;
use crate::reading::{number, plain_name};

/// The test of a line such as `"Writer report"`; `Some(None)` for a report of an unknown test.
pub(super) fn report_title(line: &str) -> Option<Option<&'static Test>> {
    let title = line.strip_prefix('"')?.strip_suffix(" report\"")?;
    let is_title = title
        .chars()
        .all(|c| c.is_ascii_alphabetic() || " -".contains(c));
    let known = TESTS
        .iter()
        .find(|test| test.report.eq_ignore_ascii_case(title));
    (known.is_some() || is_title).then_some(known)
}

/// The test of a line such as `"Writer CPU utilization report (Zero values should be ignored)"`;
/// result as of [`report_title`].
pub(super) fn share_title(line: &str) -> Option<Option<&'static Test>> {
    let (title, _) = line.split_once(" CPU utilization report")?;
    report_title(&format!("{title} report\""))
}

/// Recognises the title of a report, and gives its test.
type Title = fn(&str) -> Option<Option<&'static Test>>;

/// The figures of all reports of one kind: `"Writer report"`, a row of record sizes, then a row per
/// file size.
pub(super) fn reports(lines: &[(usize, &str)], title_of: Title) -> Result<Vec<Spot>, Fault> {
    let mut spots = Vec::new();
    let mut lines = lines
        .iter()
        .map(|(number, line)| (*number, line.trim()))
        .peekable();
    while let Some((number, line)) = lines.next() {
        let Some(test) = title_of(line) else {
            continue;
        };
        let title = line.trim_matches('"');
        let (phase, kind) = match test {
            Some(test) => (test.phase.to_owned(), test.kind),
            None => {
                let name = title.trim_end_matches("report");
                let kind = if name.to_ascii_lowercase().contains("writ") {
                    PhaseKind::Write
                } else {
                    PhaseKind::Read
                };
                (plain_name(name), kind)
            }
        };
        let is_row = |line: &str| {
            line.starts_with('"') && report_title(line).or(share_title(line)).is_none()
        };
        let head = lines.next_if(|(_, line)| is_row(line));
        let Some((head_number, head)) = head else {
            let missing = format!("no record sizes follow the title {title:?}");
            return Err(Fault::truncated(format!("line {number}"), missing));
        };
        let records = sizes(head, head_number)?;
        let mut rows = 0;
        while let Some((number, row)) = lines.next_if(|(_, line)| is_row(line)) {
            report_row(row, number, &records, (&phase, kind), &mut spots)?;
            rows += 1;
        }
        if rows == 0 {
            let missing = format!("no row follows the record sizes of {title:?}");
            return Err(Fault::truncated(format!("line {head_number}"), missing));
        }
    }
    Ok(spots)
}

/// `"4"  "8"  "16"`: sizes in KiB.
fn sizes(line: &str, number: usize) -> Result<Vec<u64>, Fault> {
    let words = line.split_whitespace().enumerate();
    let size = |(index, word): (usize, &str)| {
        let digits = word
            .strip_prefix('"')
            .and_then(|word| word.strip_suffix('"'));
        let size = digits
            .and_then(|digits| digits.parse().ok())
            .filter(|size| *size > 0);
        let place = format!("line {number}, column {}", index + 1);
        size.ok_or_else(|| Fault::value(place, word, "a record size in quotes"))
    };
    words.map(size).collect()
}

/// `"256"   1607865  2000242`. A record larger than the file has no cell, or an empty one; leading
/// cells of a row may be left out (without `-z`), so fewer cells than records are the first ones.
fn report_row(
    row: &str,
    number: usize,
    records: &[u64],
    (phase, kind): (&str, PhaseKind),
    spots: &mut Vec<Spot>,
) -> Result<(), Fault> {
    let mut words = row.split_whitespace();
    let first = words.next().unwrap_or_default();
    let file = sizes(first, number)
        .ok()
        .and_then(|sizes| sizes.first().copied())
        .ok_or_else(|| Fault::value(format!("line {number}"), first, "a file size in quotes"))?;
    let cells: Vec<&str> = words.collect();
    if cells.len() > records.len() {
        let place = format!("line {number}");
        let found = format!("{} rates", cells.len());
        let wanted = format!("a row of {} record sizes", records.len());
        return Err(Fault::value(place, found, wanted));
    }
    let fitting = records.iter().filter(|record| **record <= file).count();
    if cells.len() < fitting.min(records.len()) {
        let missing = format!("{} rates for {fitting} record sizes", cells.len());
        return Err(Fault::truncated(
            format!("line {number} ({phase})"),
            missing,
        ));
    }
    for (index, (cell, record)) in cells.iter().zip(records).enumerate() {
        if *cell == "\"\"" {
            continue;
        }
        let place = || {
            format!(
                "line {number}, column {} ({phase}, {record} KiB)",
                index + 2
            )
        };
        let value = number_of(cell).ok_or_else(|| Fault::value(place(), *cell, "a rate"))?;
        spots.push(Spot {
            phase: phase.to_owned(),
            kind,
            place: (file, *record),
            value,
        });
    }
    Ok(())
}

fn number_of(cell: &str) -> Option<f64> {
    number(cell.trim_matches('"'))
}
