//! The output of bonnie++: its lines of CSV, else its tables.
//!
//! bonnie++ prints its tables before the line of CSV, and several lines with `-x`; each line is a
//! trial, and the machine's name its subject.

use super::bonnie_format::{CSV_190, HINT_190, is_data, is_figure, is_header, is_size};
use super::bonnie_line::Line;
use super::bonnie_table;
use crate::error::Fault;
use crate::reading::{Reading, push_new};

/// Reads every line of CSV; other lines are bonnie++'s tables, or comments.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading::default();
    let (mut tools, mut others) = (Vec::<String>::new(), 0);
    for (line_number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || is_header(line) {
            continue;
        }
        if !is_data(line) {
            others += usize::from(!is_table(line));
            continue;
        }
        let line = Line::split(line, line_number)?;
        let tool = line.tool();
        push_new(&mut tools, tool);
        reading.trials.push(line.measured()?);
    }
    if reading.trials.is_empty() && text.lines().any(bonnie_table::is_head) {
        return read_tables(text);
    }
    if reading.trials.is_empty() {
        let is_old = text.lines().any(|line| line.starts_with(CSV_190));
        let hint = match is_old {
            true => HINT_190,
            false => "bonnie++ writes its CSV to standard output, after its tables",
        };
        return Err(Fault::no_figure("it contains no known line of CSV").hint(hint));
    }
    if others > 0 {
        reading.notes.push(format!(
            "{others} lines that are neither CSV nor tables of bonnie++ were left out"
        ));
    }
    reading.tool = tools.join(", ");
    reading.engine = Some("bonnie++".to_owned());
    Ok(reading)
}

/// Reads tables without a line of CSV.
fn read_tables(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading {
        engine: Some("bonnie++".to_owned()),
        ..Reading::default()
    };
    let mut tools = Vec::<String>::new();
    let (mut is_rounded, mut has_no_file_rates) = (false, false);
    for row in bonnie_table::rows(text)? {
        let line = Line::of_table(row.line, &row.fields);
        let tool = line.tool();
        push_new(&mut tools, tool);
        is_rounded |= !row.fields[1].starts_with("1.");
        has_no_file_rates |= row.has_no_file_rates;
        reading.trials.push(line.measured()?);
    }
    reading.tool = tools.join(", ");
    let mut note = |text: &str| reading.notes.push(text.to_owned());
    note("only the tables of bonnie++ are there, whose figures have fewer digits than its CSV");
    if is_rounded {
        note("the tables of bonnie++ 2 round rates to two or three digits");
    }
    if has_no_file_rates {
        note(
            "the tables of bonnie++ 2 have the number of files instead of rates of files: they are \
             left out; its CSV has them",
        );
    }
    Ok(reading)
}

/// True for a line of bonnie++'s tables.
fn is_table(line: &str) -> bool {
    const BEGINNINGS: [&str; 14] = [
        "Version",
        "Concurrency",
        "Machine",
        "Latency",
        "files",
        "Writing",
        "Rewriting",
        "Reading",
        "start",
        "Create",
        "Stat",
        "Delete",
        "Using",
        "Seek",
    ];
    let done = [
        "done",
        "Can",
        "Warning",
        "-Per",
        "-Create",
        "Sequential Create",
    ];
    BEGINNINGS.iter().any(|word| line.starts_with(word))
        || done.iter().any(|word| line.contains(word))
        || is_table_row(line)
        || line.contains("%CP")
}

/// True for a row of a table: its first words are a machine's name.
fn is_table_row(line: &str) -> bool {
    const FIGURES_MIN: usize = 3;
    let words = line.split_whitespace().rev();
    let figures = words.take_while(|word| is_size(word) || is_figure(word));
    figures.count() >= FIGURES_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(fields: usize, set: &[(usize, &str)]) -> String {
        let mut line = vec!["100"; fields];
        for (field, text) in set {
            line[*field] = text;
        }
        line.join(",")
    }

    fn line_19x(set: &[(usize, &str)]) -> String {
        let mut all = vec![(0, "1.96"), (1, "1.96"), (2, "box"), (5, "2G")];
        let latencies: Vec<_> = (36..48).map(|field| (field, "5ms")).collect();
        all.extend(latencies);
        all.extend(set);
        line(48, &all)
    }

    fn fault(text: &str) -> Fault {
        read(text).expect_err(text)
    }

    #[test]
    fn a_rate_that_is_none_is_named_by_line_and_field() {
        for wrong in ["-5", "NaN", "12x", "1e999"] {
            let text = format!("# comment\n{}\n", line_19x(&[(9, wrong)]));
            let fault = fault(&text).to_string();
            let expected = format!("line 2, field 10 (block-write): {wrong:?} is not a rate");
            assert!(fault.starts_with(&expected), "{fault}");
        }
        let latency = fault(&line_19x(&[(40, "5 parsecs")])).to_string();
        assert!(
            latency.contains("field 41 (block-read, latency)"),
            "{latency}"
        );
    }

    #[test]
    fn a_line_with_fields_too_few_or_too_many_is_refused_by_their_number() {
        let short = line_19x(&[]).rsplit_once(',').expect("fields").0.to_owned();
        let shown = fault(&short).to_string();
        assert!(
            shown.starts_with("line 1: 47 fields instead of the 48"),
            "{shown}"
        );
        let old = line(26, &[(0, "box"), (1, "300M")]);
        let shown = fault(&old).to_string();
        assert!(shown.contains("26 fields instead of the 27"), "{shown}");
    }

    /// A comma in the name shifted every figure by a column, or hid the line.
    #[test]
    fn a_machines_name_may_hold_commas() {
        let old = line(28, &[(0, "rack 3"), (1, "box b"), (2, "300M"), (5, "7")]);
        let new = line_19x(&[(2, "rack 3,box b"), (9, "7")]);
        for text in [old, new] {
            let reading = read(&text).expect(&text);
            let trial = &reading.trials[0];
            assert_eq!(trial.subject.as_deref(), Some("rack 3,box b"));
            assert_eq!(trial.phases[1].figures["throughput"], 7.0 * 1024.0);
        }
        let long = line_19x(&[]) + ",5ms";
        assert!(fault(&long).to_string().contains(" fields instead of "));
    }

    #[test]
    fn files_that_are_links_have_no_size() {
        let old = line(27, &[(0, "box"), (1, "1G"), (14, "1:link/4")]);
        let new = line_19x(&[(20, "hlink"), (23, "4")]);
        for (text, size) in [(old, "link"), (new, "hlink")] {
            let reading = read(&text).expect(&text);
            let parameters = &reading.trials[0].phases[6].parameters;
            assert_eq!(parameters["max_size"], size);
            assert_eq!(
                parameters["directories"],
                if size == "link" { 4 } else { 100 }
            );
        }
    }

    #[test]
    fn a_head_without_a_row_is_cut_off() {
        let table = "Version 1.97  ------Sequential Output------ --Sequential Input-\n";
        let shown = fault(table).to_string();
        assert_eq!(shown, "line 1: it is cut off: the table has no row");
    }

    #[test]
    fn the_size_of_version_103_may_bear_the_chunk_and_that_of_files_more() {
        let text = line(27, &[(0, "box"), (1, "1G:64k"), (14, "16:1000:10/4")]);
        let reading = read(&text).expect("a line");
        let phases = &reading.trials[0].phases;
        assert_eq!(phases[1].parameters["file_size"], 1_u64 << 30);
        assert_eq!(phases[1].parameters["record"], 65_536);
        assert_eq!(phases[6].parameters["files"], 16_384);
        assert_eq!(phases[6].parameters["directories"], 4);
        assert_eq!(phases[1].figures["throughput"], 102_400.0);
    }
}
