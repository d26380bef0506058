//! The output of Iozone: its reports (`-R`), else its table, or its throughput mode (`-t`, `-l`).
//!
//! A rate is in KiB a second unless the lines before the figures state another unit: `-O`
//! operations a second, `-N` microseconds an operation. Several outputs in a file are repeats.
//!
//! Its reports (`-R`) have a title, the record sizes, and a row for each file size.

use fslab_model::{Bytes, PhaseKind, PhaseOutcome, PhaseRecord, PointValue, Swept};

use super::iozone_test::{Preamble, Spot, TESTS, Test, put_share};
use super::{iozone_table, iozone_throughput};
use crate::error::Fault;
use crate::reading::{Measured, Reading, number, plain_name};

const BANNER: &str = "Iozone: Performance Test of File I/O";
/// Lines that announce reports, and processor shares after them (`-+u`).
const SHARES: [&str; 2] = [
    "Excel chart generation enabled",
    "CPU utilization Excel chart enabled",
];
/// The line that announces verification of every byte (`-+d`).
const INVALID: &str = "Performance measurements are invalid in this mode.";

/// True for a line that only Iozone writes.
pub(crate) fn is_mark(line: &str) -> bool {
    line == BANNER
        || line == "Excel output is below:"
        || report_title(line).is_some()
        || share_title(line).is_some()
        || line.starts_with("Children see throughput for")
        || line.starts_with("\"Throughput report Y-axis")
        || iozone_table::is_head(line)
}

/// Reads every output in `text`.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading {
        engine: Some("iozone".to_owned()),
        ..Reading::default()
    };
    let lines: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
    let starts: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, (_, line))| line.trim() == BANNER || subject_of(line).is_some())
        .map(|(index, _)| index)
        .collect();
    let mut bounds = vec![0];
    bounds.extend(starts.into_iter().skip_while(|start| *start == 0));
    bounds.push(lines.len());
    for bound in bounds.windows(2) {
        let part = &lines[bound[0]..bound[1]];
        let has_mark = part.iter().any(|(_, line)| is_mark(line.trim()));
        if has_mark {
            output(part, &mut reading)?;
        }
    }
    Ok(reading)
}

/// The subject of a report written by fslab; Iozone's own has none.
fn subject_of(line: &str) -> Option<&str> {
    line.trim().strip_prefix("Subject:").map(str::trim)
}

fn output(lines: &[(usize, &str)], reading: &mut Reading) -> Result<(), Fault> {
    let preamble = Preamble::of(lines);
    let is_throughput = lines
        .iter()
        .any(|(_, line)| iozone_throughput::is_mark(line.trim()));
    let has = |mark: &str| lines.iter().any(|(_, line)| line.trim() == mark);
    if has(BANNER) && !has("iozone test complete.") {
        let missing = "the line 'iozone test complete.' is not there";
        return Err(Fault::truncated("", missing));
    }
    let mut phases = if is_throughput {
        iozone_throughput::phases(lines, &preamble)?
    } else {
        let spots = spots(lines)?;
        let zeros = spots.iter().filter(|spot| spot.value == 0.0).count();
        if zeros > 0 {
            let note = format!("{zeros} points that Iozone gives as 0 were not measured");
            reading.notes.push(note);
        }
        let shares = reports(lines, share_title)?;
        if SHARES.into_iter().all(has) {
            ensure_shares(&spots, &shares)?;
        }
        matrix(&spots, &shares, &preamble)
    };
    if has(INVALID) {
        let note = "Iozone says itself that figures of its mode of diagnosis (-+d) are invalid";
        reading.notes.push(note.to_owned());
    }
    if phases.is_empty() {
        return Err(Fault::no_figure(
            "Iozone printed neither a report nor a row of its table",
        ));
    }
    for phase in &mut phases {
        if phase.figures.is_empty() && phase.outcome == PhaseOutcome::Done {
            phase.outcome = PhaseOutcome::Skipped {
                reason: "Iozone printed no figure of it".to_owned(),
            };
        }
    }
    let tool = preamble.tool();
    let mut facts = preamble.facts;
    facts.insert("iozone".into(), tool.clone());
    if !reading.tool.is_empty() && reading.tool != tool {
        reading.notes.push(format!(
            "outputs of {} and {tool} are in one file",
            reading.tool
        ));
    }
    reading.tool = tool;
    let subject = lines.iter().find_map(|(_, line)| subject_of(line));
    reading.trials.push(Measured {
        subject: subject.map(str::to_owned),
        phases,
        facts,
        stamp: preamble.began,
        ..Measured::default()
    });
    Ok(())
}

/// The figures of the reports, else of the table. With both, the table shows whether the reports,
/// which follow it, are complete.
fn spots(lines: &[(usize, &str)]) -> Result<Vec<Spot>, Fault> {
    let reports = reports(lines, report_title)?;
    if reports.is_empty() {
        return iozone_table::spots(lines);
    }
    // An ambiguous table proves nothing.
    for spot in iozone_table::spots(lines).unwrap_or_default() {
        let is_there =
            |it: &Spot| (&it.phase, it.place, it.value) == (&spot.phase, spot.place, spot.value);
        if !reports.iter().any(is_there) {
            let (file, record) = spot.place;
            let missing = format!(
                "the reports lack {} of {} for a file of {file} KiB in records of {record} KiB",
                spot.value, spot.phase
            );
            return Err(Fault::truncated("", missing));
        }
    }
    Ok(reports)
}

/// The figures as phases, each at its point of the sweep, with processor shares in percent, of
/// which Iozone gives 0 for unknown ones (`-+u`).
fn matrix(spots: &[Spot], shares: &[Spot], preamble: &Preamble) -> Vec<PhaseRecord> {
    let mut phases: Vec<PhaseRecord> = Vec::new();
    for spot in spots.iter().filter(|spot| spot.value > 0.0) {
        let (file, record) = spot.place;
        let point = [("file_size", file), ("record", record)];
        let swept = Swept {
            phase: spot.phase.clone(),
            point: point
                .map(|(name, kib)| (name.to_owned(), PointValue::Bytes(Bytes::kib(kib).0)))
                .into(),
        };
        let mut phase = preamble.swept(&spot.phase, spot.kind, swept);
        if phases.iter().all(|known| known.name != phase.name) {
            preamble.put(&mut phase, spot.value, Some(record));
            put_share(&mut phase, spot.share(shares));
            phases.push(phase);
        }
    }
    phases
}

/// Checks that there is a share for every figure of these if there is any.
fn ensure_shares(spots: &[Spot], shares: &[Spot]) -> Result<(), Fault> {
    match spots.iter().find(|spot| spot.share(shares).is_none()) {
        None => Ok(()),
        Some(spot) => {
            let (file, record) = spot.place;
            let missing = format!(
                "the share of the processor is not there for {} of a file of {file} KiB in records \
                 of {record} KiB",
                spot.phase
            );
            Err(Fault::truncated("", missing))
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    const REPORTS: &str = "\"Writer report\"\n        \"4\"  \"8\"\n\"4\"   100 \n\
                           \"64\"   200  300 \n\n\
                           \"Pwritex report\"\n        \"4\"\n\"64\"   7 \n";

    #[test]
    fn reports_are_a_sweep_over_file_and_record_size() {
        let reading = read(REPORTS).expect("reports");
        let phases = &reading.trials[0].phases;
        let names: Vec<&str> = phases.iter().map(|phase| &*phase.name).collect();
        assert_eq!(
            names,
            [
                "write 4KiB/4KiB",
                "write 64KiB/4KiB",
                "write 64KiB/8KiB",
                "pwritex 64KiB/4KiB"
            ]
        );
        assert_eq!(phases[2].figures["throughput"], 300.0 * 1024.0);
    }

    #[test]
    fn operations_a_second_and_microseconds_are_not_read_as_rates() {
        let text = |line: &str| format!("{line}\n{REPORTS}");
        let rate = |line: &str| {
            let reading = read(&text(line)).expect("reports");
            reading.trials[0].phases[2].figures.clone()
        };
        let operations = rate("\tOPS Mode. Output is in operations per second.");
        assert_eq!(operations["operation_rate"], 300.0);
        assert_eq!(operations["throughput"], 300.0 * 8192.0);
        let time = rate("\tMicroseconds/op Mode. Output is in microseconds per operation.");
        assert!((time["operation_rate"] - 1e6 / 300.0).abs() < 1e-9);
    }

    #[test]
    fn a_report_that_is_cut_off_or_makes_no_sense_is_refused_by_its_place() {
        let fault = |text: &str| read(text).expect_err(text);
        for cut in [
            "\"Writer report\"\n",
            "\"Writer report\"\n        \"4\"  \"8\"\n",
            "\"Writer report\"\n        \"4\"  \"8\"\n\"64\"   200\n",
        ] {
            let text = fault(cut).to_string();
            assert!(text.contains("it is cut off: "), "{text}");
        }
        let negative = REPORTS.replace("300", "-300");
        let shown = fault(&negative).to_string();
        assert!(
            shown.starts_with("line 4, column 3 (write, 8 KiB): \"-300\""),
            "{shown}"
        );
        let many = REPORTS.replace("300", "300 400");
        assert!(fault(&many).to_string().contains("3 rates"));
    }
}
