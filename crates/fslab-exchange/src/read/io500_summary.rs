//! `result_summary.txt` of IO500, and what it prints: a line for each phase, then the score.
//!
//! The scripts of 2018 to 2020 print such lines, too. Their "GB/s" is GiB/s: `get_ior_bw` of
//! `io500_fixed.sh` divides the MiB/s of IOR by 1024. The marks of what is invalid were
//! `[RESULT-invalid]` and `[SCORE-invalid]` up to 2020, and `[SCORE INVALID]` in between.
//!
//! ```text
//!     [RESULT]       ior-easy-write        0.141945 GiB/s : time 0.891 seconds [INVALID]
//!     [SCORE ] Bandwidth 0.272421 GiB/s : IOPS 23.974553 kiops : TOTAL 2.555614 [INVALID]
//! ```

use fslab_model::Parameters;
use fslab_model::definitions::ELAPSED;

use super::io500_result::{Execution, HINT, Scored, TIMESTAMP, is_of_data, origin};
use crate::error::Fault;
use crate::reading::number;

/// The beginning of a line that says why a run is invalid.
const REASON: &str = "ERROR INVALID ";
/// Phases whose times tell one execution from another.
const STAMPED_MIN: usize = 3;

pub(super) fn is_mark(line: &str) -> bool {
    let is_row = line.starts_with('[') && line.contains(" : time ") && line.contains(" seconds");
    is_row || is_score(line)
}

fn is_score(line: &str) -> bool {
    line.starts_with("[SCORE") && line.contains(" Bandwidth ") && line.contains(" : TOTAL ")
}

/// Every execution in the text.
pub(super) fn executions(text: &str) -> Result<Vec<Execution>, Fault> {
    let mut done: Vec<Execution> = Vec::new();
    let mut open = Execution::default();
    // An extended run has a second score behind the first.
    let mut has_score = false;
    let mut last = 1;
    for (at, line) in (1_usize..).zip(text.lines()) {
        let line = line.trim();
        let place = format!("line {at}");
        let version = line.strip_prefix("IO500 version ");
        if version.is_some() || has_score && line.starts_with("[RESULT") {
            if !has_score && !open.measured.phases.is_empty() {
                return Err(without_score(last));
            }
            if has_score {
                done.push(std::mem::take(&mut open));
            }
            has_score = false;
            open.version = version.and_then(first_word);
        }
        if let Some(subject) = origin(line, at)? {
            open.measured.subject = Some(subject);
        } else if is_score(line) {
            score(&mut open, line, &place)?;
            has_score = true;
        } else if is_mark(line) {
            last = at;
            add(&mut open, line, &place)?;
        } else if let Some(reason) = line.strip_prefix(REASON) {
            open.invalid.push(reason.trim().to_owned());
        }
    }
    match has_score {
        true => done.push(open),
        false => return Err(without_score(last)),
    }
    for execution in &mut done {
        execution.measured.stamp = stamp(execution);
    }
    Ok(done)
}

/// Adds the phase of a line. A script prints each line twice: when the phase ends, and at the end.
fn add(open: &mut Execution, line: &str, place: &str) -> Result<(), Fault> {
    let Some(record) = phase(line, place)? else {
        return Ok(());
    };
    let phases = &mut open.measured.phases;
    match phases.iter().find(|known| known.name == record.name) {
        None => phases.push(record),
        Some(known) if *known == record => {}
        Some(_) => {
            let wanted = "a phase that has one result";
            return Err(Fault::value(place, record.name, wanted)
                .hint("import the lines of one execution, or give each execution its own file"));
        }
    }
    Ok(())
}

/// The times of the phases, in milliseconds. Exports of fslab may have equal ones.
fn stamp(execution: &Execution) -> Option<String> {
    let phases = execution.measured.phases.iter();
    let times = phases.filter_map(|phase| phase.figures.get(ELAPSED.name));
    let times: Vec<String> = times.map(f64::to_string).collect();
    let is_stamp = times.len() >= STAMPED_MIN && execution.measured.subject.is_none();
    is_stamp.then(|| times.join(" "))
}

/// True if a line marks its phase or the score as invalid.
fn is_invalid(line: &str) -> bool {
    let tag = line.split_once(']').map_or(line, |(tag, _)| tag);
    tag.to_ascii_lowercase().contains("invalid") || line.ends_with("[INVALID]")
}

fn first_word(text: &str) -> Option<String> {
    text.split_whitespace().next().map(str::to_owned)
}

fn without_score(last: usize) -> Fault {
    Fault::truncated(format!("line {last}"), "no line [SCORE ] follows").hint(HINT)
}

fn phase(line: &str, place: &str) -> Result<Option<fslab_model::PhaseRecord>, Fault> {
    let fields = || {
        Fault::value(
            place,
            line,
            "[RESULT] NAME SCORE UNIT : time SECONDS seconds",
        )
    };
    let (front, back) = line.split_once(" : time ").ok_or_else(fields)?;
    let mut words = front.split_whitespace().rev();
    let mut word = || words.next().ok_or_else(fields);
    let (unit, score, name) = (word()?, word()?, word()?);
    if name == TIMESTAMP {
        return Ok(None);
    }
    let place = format!("{place}, {name}");
    let units = match is_of_data(name) {
        true => &["GiB/s", "GB/s"][..],
        false => &["kIOPS"],
    };
    if !units.iter().any(|known| known.eq_ignore_ascii_case(unit)) {
        return Err(Fault::value(place, unit, format!("its unit, {}", units[0])));
    }
    let seconds = back.split_whitespace().next().unwrap_or_default();
    let time_s = number(seconds);
    let time_s = time_s.ok_or_else(|| Fault::value(&*place, seconds, "a time in seconds"))?;
    let wrong = || Fault::value(&*place, score, "a score");
    let scored = Scored {
        name,
        score: number(score).ok_or_else(wrong)?,
        time_s: Some(time_s),
        is_of_script: front.contains(" phase "),
        invalid: match is_invalid(line) {
            true => vec!["result.txt says why".to_owned()],
            false => Vec::new(),
        },
        parameters: Parameters::new(),
    };
    Ok(Some(scored.record()))
}

/// Keeps the score as facts, of an extended run beside that of the standard one.
fn score(open: &mut Execution, line: &str, place: &str) -> Result<(), Fault> {
    let is_extended = line.starts_with("[SCOREX");
    let tag = if is_extended {
        "io500 extended"
    } else {
        "io500"
    };
    if open.measured.phases.is_empty() {
        return Err(Fault::missing(place, "[RESULT]").hint(HINT));
    }
    for (before, name) in [
        (" Bandwidth ", "bandwidth in GiB/s"),
        (" IOPS ", "rate in kIOPS"),
        (" TOTAL ", "score"),
    ] {
        let value = line.split_once(before).map(|(_, rest)| rest);
        let value = value.and_then(|rest| rest.split_whitespace().next());
        let value = value.unwrap_or_default();
        if number(value).is_none() {
            return Err(Fault::value(
                format!("{place},{before}").trim_end(),
                value,
                "a score",
            ));
        }
        open.measured
            .facts
            .insert(format!("{tag} {name}"), value.to_owned());
    }
    if is_invalid(line) {
        open.invalid.push(format!(
            "the line {}",
            &line[..line.find(']').map_or(0, |at| at + 1)]
        ));
        open.measured
            .facts
            .insert(format!("{tag} validity"), "invalid".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_model::PhaseOutcome;

    const SCORE: &str = "[SCORE ] Bandwidth 0.5 GiB/s : IOPS 2.0 kiops : TOTAL 1.0";

    fn of(rows: &str) -> Result<Vec<Execution>, Fault> {
        executions(&format!(
            "IO500 version io500-sc25 (standard)\n{rows}\n{SCORE}\n"
        ))
    }

    #[test]
    fn units_become_bytes_and_operations_a_second() {
        let rows = "[RESULT] ior-easy-write 0.5 GiB/s : time 2.000 seconds [INVALID]\n[      ] \
                    timestamp 0.0 kIOPS : time 0.000 seconds\n[RESULT] find 2.5 kIOPS : time 0.001 \
                    seconds\n[RESULT] mdtest-hard-stat 0.000000 kIOPS : time 1.0 seconds";
        let [execution] = of(rows).expect("a run").try_into().expect("one");
        let phases = &execution.measured.phases;
        let names: Vec<&str> = phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names, ["ior-easy-write", "find", "mdtest-hard-stat"]);
        assert_eq!(phases[0].figures["throughput"], 0.5 * 1_073_741_824.0);
        assert_eq!(phases[0].figures["elapsed_ns"], 2e9);
        assert!(phases[0].notes[0].contains("invalid"));
        assert_eq!(phases[1].figures["operation_rate"], 2500.0);
        assert!(matches!(phases[2].outcome, PhaseOutcome::Skipped { .. }));
        assert_eq!(execution.measured.facts["io500 score"], "1.0");
        assert!(execution.invalid.is_empty(), "its score is not marked");
    }

    #[test]
    fn a_row_of_another_unit_or_without_a_number_is_refused_by_its_line() {
        for (row, expected) in [
            (
                "[RESULT] find 2 GiB/s : time 1 seconds",
                "line 2, find: \"GiB/s\"",
            ),
            (
                "[RESULT] find -2 kIOPS : time 1 seconds",
                "line 2, find: \"-2\"",
            ),
            (
                "[RESULT] find 2 kIOPS : time nan seconds",
                "line 2, find: \"nan\"",
            ),
            ("[RESULT] : time 1 seconds", "line 2: \"[RESULT] : time"),
        ] {
            let fault = of(row).expect_err(row).to_string();
            assert!(fault.starts_with(expected), "{fault}");
        }
        let fault = executions("[RESULT] find 2 kIOPS : time 1 seconds\n").expect_err("no score");
        assert_eq!(
            fault.to_string(),
            "line 1: it is cut off: no line [SCORE ] follows"
        );
    }

    #[test]
    fn several_runs_in_one_text_are_several_executions() {
        let row = "[RESULT] find 2 kIOPS : time 1 seconds";
        let text = format!("{row}\n{SCORE}\n{row}\n{SCORE}\n");
        assert_eq!(executions(&text).expect("two").len(), 2);
    }
}
