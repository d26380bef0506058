//! elbencho's text (`--resfile`, or its standard output): a block of lines for each phase, with two
//! columns, of which the second is of the entire phase.

use serde_json::Value;

use super::elbencho::{HINT, MIB, Phase, Side};
use super::unit_bytes::unit_bytes;
use crate::error::Fault;
use crate::reading::number;

/// The words of the head.
const HEAD: [&str; 7] = [
    "OPERATION",
    "RESULT",
    "TYPE",
    "FIRST",
    "DONE",
    "LAST",
    "DONE",
];
/// Options of the command line with a number or a size, by their parameters.
const VALUES: [([&str; 2], &str); 7] = [
    (["-t", "--threads"], "threads"),
    (["-n", "--dirs"], "directories"),
    (["-N", "--files"], "files"),
    (["-s", "--size"], "file_size"),
    (["-b", "--block"], "block_size"),
    (["--iodepth", "--iodepth"], "io_depth"),
    (["--rwmixpct", "--rwmixpct"], "read_percent"),
];
const FLAGS: [(&str, &str); 2] = [("--direct", "direct"), ("--rand", "random")];

/// True for the head of the table.
pub(super) fn is_head(line: &str) -> bool {
    line.starts_with(HEAD[0]) && line.split_whitespace().eq(HEAD)
}

/// The phases of every execution.
pub(super) fn phases(text: &str) -> Result<Vec<Phase>, Fault> {
    let mut phases: Vec<Phase> = Vec::new();
    let (mut command, mut date) = ("", "");
    let mut open: Option<Phase> = None;
    let mut is_table = false;
    for (at, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        if let Some(words) = line.strip_prefix("COMMAND LINE: ") {
            command = words;
        } else if let Some(begun) = line.strip_prefix("ISO DATE: ") {
            date = begun;
        } else if is_head(line) {
            is_table = true;
        } else if line == "---" {
            phases.extend(open.take());
        } else if let Some((left, right)) = line.split_once(" : ").filter(|_| is_table) {
            let is_first = !line.starts_with(' ');
            if is_first {
                ensure_finished(open.as_ref())?;
                let (operation, _) = left.split_once(' ').unwrap_or((left, ""));
                open = Some(Phase {
                    place: format!("line {at}"),
                    operation: operation.to_owned(),
                    stamp: (!date.is_empty()).then(|| format!("{date}, line {at}")),
                    parameters: settings(command),
                    ..Phase::default()
                });
            }
            if let Some(phase) = &mut open {
                let label = match is_first {
                    true => left.split_once(' ').map_or("", |(_, label)| label),
                    false => left,
                };
                figure(phase, at, label.trim(), right)?;
            }
        }
    }
    ensure_finished(open.as_ref())?;
    Ok(phases)
}

fn ensure_finished(open: Option<&Phase>) -> Result<(), Fault> {
    match open {
        None => Ok(()),
        Some(phase) => {
            let missing = "there is no line '---' after the phase";
            Err(Fault::truncated(&*phase.place, missing).hint(HINT))
        }
    }
}

/// Stores the figures of one line.
fn figure(phase: &mut Phase, at: usize, label: &str, right: &str) -> Result<(), Fault> {
    let place = format!("line {at}, {label}");
    let words: Vec<&str> = right.split_whitespace().collect();
    let wrong = |wanted: &str| Fault::value(&*place, right.trim(), wanted).hint(HINT);
    let last = || -> Result<f64, Fault> {
        let [_, last] = &*words else {
            return Err(wrong("two figures"));
        };
        number(last).ok_or_else(|| wrong("two figures"))
    };
    if label == "Elapsed time" {
        let [first, last] = &*words else {
            return Err(wrong("two times"));
        };
        let both = milliseconds(first).zip(milliseconds(last));
        (phase.first_ms, phase.last_ms) = both.ok_or_else(|| wrong("two times"))?;
        return Ok(());
    }
    if let Some(of) = label.strip_suffix(" latency") {
        let spread = spread(right).ok_or_else(|| wrong("'[ min=... avg=... max=... ]'"))?;
        let is_of_reads = of.ends_with(" rd");
        let side = &mut phase.sides[usize::from(is_of_reads)];
        match of.starts_with("IO") {
            true => side.operation_us = Some(spread),
            false => side.entry_us = Some(spread),
        }
        return Ok(());
    }
    let (plain, side) = match label.rsplit_once(' ') {
        Some((plain, "read")) => (plain, 1),
        Some((plain, "write" | "total")) => (plain, 0),
        _ => (label, 0),
    };
    // The sums of a mixed phase are those of its directions.
    if label.ends_with("/s total") || label == "IOPS total" {
        return Ok(());
    }
    let side: &mut Side = &mut phase.sides[side];
    match plain {
        "Files/s" | "Dirs/s" | "Entries/s" => side.entries_per_s = last()?,
        "Files" | "Dirs" | "Entries" => side.entries = last()?,
        "IOPS" => side.operations_per_s = last()?,
        "MiB/s" | "Throughput MiB/s" => {
            side.bytes_per_s = last()? * MIB;
            side.is_whole_mib = true;
        }
        _ => {}
    }
    Ok(())
}

/// `9ms`, `1.234s`, `1m2.345s` or `1h2m3s`.
fn milliseconds(text: &str) -> Option<f64> {
    if let Some(ms) = text.strip_suffix("ms") {
        return number(ms);
    }
    let mut rest = text.strip_suffix('s')?;
    let mut seconds = 0.0;
    for (unit, each) in [('h', 3600.0), ('m', 60.0)] {
        if let Some((count, after)) = rest.split_once(unit) {
            seconds += number(count)? * each;
            rest = after;
        }
    }
    Some((seconds + number(rest)?) * 1e3)
}

/// The microseconds in `[ min=37us avg=4.15ms max=1.20s ]`.
fn spread(text: &str) -> Option<[f64; 3]> {
    let of = |name: &str| {
        let word = text
            .split_whitespace()
            .find_map(|it| it.strip_prefix(name))?;
        match (word.strip_suffix("us"), word.strip_suffix("ms")) {
            (Some(us), _) => number(us),
            (_, Some(ms)) => Some(number(ms)? * 1e3),
            _ => Some(number(word.strip_suffix('s')?)? * 1e6),
        }
    };
    Some([of("min=")?, of("avg=")?, of("max=")?])
}

/// The options of `"elbencho" "-t" "2" "-s" "16k" "dir"`.
fn settings(command: &str) -> fslab_model::Parameters {
    let words: Vec<&str> = command
        .split("\" \"")
        .map(|word| word.trim_matches(['"', ' ']))
        .collect();
    let mut parameters = fslab_model::Parameters::new();
    for (options, name) in VALUES {
        let place = words.iter().rposition(|word| options.contains(word));
        let Some(value) = place.and_then(|place| words.get(place + 1)) else {
            continue;
        };
        let value = bytes(value).map_or_else(|| Value::from(*value), Value::from);
        parameters.insert(name.to_owned(), value);
    }
    for (option, name) in FLAGS {
        if words.contains(&option) {
            parameters.insert(name.to_owned(), true.into());
        }
    }
    parameters
}

/// `50`, `16k` or `1G`; `None` for lists and ranges.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_lowercase();
    unit_bytes(digits, &unit, ["", "k", "m", "g", "t"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_elbencho_chooses() {
        for (text, ms) in [
            ("9ms", 9.0),
            ("1.234s", 1234.0),
            ("1m2.345s", 62_345.0),
            ("1h2m3s", 3_723_000.0),
        ] {
            let read = milliseconds(text).expect(text);
            assert!((read - ms).abs() < 1e-6, "{text}: {read}");
        }
        assert_eq!(milliseconds("9"), None);
        assert_eq!(
            spread(" [ min=37us avg=4.15ms max=1.20s ]"),
            Some([37.0, 4150.0, 1_200_000.0])
        );
    }

    #[test]
    fn options_of_the_command_line_are_settings() {
        let line = "\"elbencho\" \"--rand\" \"-t\" \"2\" \"-s\" \"16k\" \"-b\" \"4k,8k\" \"d\" ";
        let settings = settings(line);
        assert_eq!(settings["threads"], 2);
        assert_eq!(settings["file_size"], 16_384);
        assert_eq!(settings["block_size"], "4k,8k");
        assert_eq!(settings["random"], true);
    }
}
