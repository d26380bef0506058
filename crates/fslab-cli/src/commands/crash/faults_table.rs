//! The tables and lines of `fslab faults`.

use std::path::PathBuf;
use std::time::Duration;

use fslab_crash::faults::{
    CaseClaims, CaseVerdict, DiskFaultKind, JudgedCase, Matrix, MatrixCell, matrix,
};
use fslab_report::{Column, Table, TableCell, Tone};
use schemars::JsonSchema;
use serde::Serialize;

use crate::terminal::screen;

/// Failing cases of a log that are listed if not all are asked for.
const LISTED_MAX: usize = 8;

/// The matrix of a log: a row for each kind of block, a column for each kind of fault.
pub(crate) fn matrix_of(result: &FaultsResult) -> Table {
    let found: Matrix = matrix(&result.cases);
    let is_there = |fault: &DiskFaultKind| found.values().any(|row| row.contains_key(fault));
    let faults: Vec<DiskFaultKind> = DiskFaultKind::ALL
        .iter()
        .copied()
        .filter(is_there)
        .collect();
    let mut columns = vec![Column::left("Block")];
    let names = faults.iter().map(|it| it.as_str().replace('-', " "));
    columns.extend(names.map(|name| Column::left(&name)));
    let rows = found.iter().map(|((_, row), cells)| {
        let cells = faults.iter().map(|fault| cell(cells.get(fault)));
        [TableCell::new(*row)].into_iter().chain(cells).collect()
    });
    let reached = result.cases.iter().filter(|it| it.hits > 0).count();
    let failing = result.cases.iter().filter(|it| it.is_failing()).count();
    Table {
        caption: format!("{} on a failing disk", result.subject),
        columns,
        rows: rows.collect(),
        notes: vec![format!(
            "{}, of which {} reached the fault and {} failed; {:.0} s. A cell shows its worst \
             case; in brackets, how many of its cases ended like it.",
            screen::counted(result.cases.len(), "case"),
            reached,
            failing,
            result.elapsed.as_secs_f64(),
        )],
    }
}

fn cell(cell: Option<&MatrixCell>) -> TableCell {
    let Some(cell) = cell else {
        return TableCell::nothing();
    };
    let words = match cell.alike == cell.cases {
        true => cell.words.clone(),
        false => format!("{} ({}/{})", cell.words, cell.alike, cell.cases),
    };
    match cell.is_failing {
        true => TableCell::new(words).tone(Tone::Bad),
        false => TableCell::new(words),
    }
}

/// Which claims of a publication hold, for each log that they are about.
pub(crate) fn claims_of(claims: &CaseClaims, results: &[FaultsResult]) -> Table {
    let mut rows = Vec::new();
    for result in results {
        for (claim, verdict) in claims.judge(&result.subject, &result.cases) {
            let verdict = match verdict {
                CaseVerdict::Holds(cases) => {
                    let cases = screen::counted(cases, "case");
                    TableCell::new(format!("holds in {cases}")).tone(Tone::Strong)
                }
                CaseVerdict::Fails(met, all, case) => {
                    let text = format!("holds in {met} of {all}; not in {case}");
                    TableCell::new(text).tone(Tone::Bad)
                }
                CaseVerdict::NotMeasured => TableCell::new("not measured"),
            };
            rows.push(vec![
                TableCell::new(&result.subject),
                TableCell::new(&claim.text),
                verdict,
            ]);
        }
    }
    Table {
        caption: "Published claims, and what these cases show".to_owned(),
        columns: vec![
            Column::left("Subject"),
            Column::left("Claim"),
            Column::left("Verdict"),
        ],
        rows,
        notes: Vec::new(),
    }
}

/// A line for each failing case that does it again, and what happened.
pub(crate) fn lines(results: &[FaultsResult], all: bool) -> String {
    let mut text = String::new();
    for result in results {
        let mut cases: Vec<&JudgedCase> = result.cases.iter().collect();
        cases.retain(|it| all || it.is_failing());
        if !all {
            cases.sort_by_key(|it| std::cmp::Reverse(it.badness()));
        }
        let shown = if all { cases.len() } else { LISTED_MAX };
        for case in cases.iter().take(shown) {
            text += &format!(
                "fslab faults {} --phase {} --case {}\n  {} ({}): {}\n",
                result.log.display(),
                case.phase,
                case.case.fault,
                case.case.row,
                case.case.detail,
                case.words()
            );
            if all || results.iter().map(|it| it.cases.len()).sum::<usize>() == 1 {
                text += &details(case);
            }
        }
        if cases.len() > shown {
            let more = cases.len() - shown;
            text += &format!("and {more} more of {}; --list shows all\n", result.subject);
        }
    }
    text
}

fn details(case: &JudgedCase) -> String {
    let mut text = String::new();
    let mut add = |what: &str, lines: &[String]| {
        for line in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            text += &format!("    {what}: {}\n", screen::plain(&words.join(" ")));
        }
    };
    add("application", &case.errors);
    add("kernel", &case.kernel);
    add("lost", &case.lost_names);
    add("mount", &case.mount_errors);
    text
}

/// The cases of a log.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FaultsResult {
    /// The log's file.
    pub(crate) log: PathBuf,
    /// The subject.
    pub(crate) subject: String,
    /// Its cases.
    pub(crate) cases: Vec<JudgedCase>,
    #[serde(skip)]
    pub(crate) elapsed: Duration,
}
