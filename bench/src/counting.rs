//! What one operation costs a program, counted and not timed: user-space instructions by callgrind,
//! system calls by strace. Each is the slope between two numbers of operations, so that what a
//! program does once drops out.

use std::path::Path;

use crate::child;
use crate::contenders::{Contender, Task};
use crate::error::BenchError;
use crate::place::Place;
use crate::work::{Amounts, Figure, Work};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    /// User-space instructions.
    Instructions,
    SystemCalls,
}

/// A count per operation of one figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Count {
    /// Who did the work.
    pub(crate) contender: &'static str,
    /// The row.
    pub(crate) work: Work,
    pub(crate) figure: Figure,
    /// What was counted.
    pub(crate) counter: Counter,
    pub(crate) per_operation: f64,
}

impl Counter {
    /// The program that counts.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Instructions => "valgrind",
            Self::SystemCalls => "strace",
        }
    }

    /// The two numbers of operations: the longer an operation takes, the fewer.
    pub(crate) fn operations(self, work: Work, quick: bool) -> [u64; 2] {
        match (self, work) {
            _ if quick => [50, 150],
            (_, Work::Stream) => [50, 150],
            (_, Work::Files) => [200, 1_200],
            (Self::Instructions, _) => [2_000, 22_000],
            (Self::SystemCalls, _) => [1_000, 9_000],
        }
    }

    fn prefix(self, book: &Path) -> Vec<String> {
        let book = book.display();
        match self {
            Self::Instructions => vec![
                "valgrind".to_owned(),
                "--quiet".to_owned(),
                "--tool=callgrind".to_owned(),
                format!("--callgrind-out-file={book}"),
            ],
            Self::SystemCalls => vec![
                "strace".to_owned(),
                "-c".to_owned(),
                "-f".to_owned(),
                "-o".to_owned(),
                book.to_string(),
            ],
        }
    }

    fn read(self, text: &str) -> Result<u64, BenchError> {
        match self {
            Self::Instructions => instructions(text),
            Self::SystemCalls => system_calls(text),
        }
    }
}

/// Counts what `contender` needs for an operation of each figure of `work`.
pub(crate) fn count(
    contender: &dyn Contender,
    work: Work,
    place: &Place,
    counter: Counter,
    quick: bool,
) -> Result<Vec<Count>, BenchError> {
    let [few, many] = counter.operations(work, quick);
    let totals = |operations| totals(contender, work, place, counter, operations);
    let (least, most) = (totals(few)?, totals(many)?);
    Ok(least
        .into_iter()
        .zip(most)
        .map(|((figure, least), (_, most))| Count {
            contender: contender.name(),
            work,
            figure,
            counter,
            per_operation: (most as f64 - least as f64) / (many - few) as f64,
        })
        .collect())
}

fn totals(
    contender: &dyn Contender,
    work: Work,
    place: &Place,
    counter: Counter,
    operations: u64,
) -> Result<Vec<(Figure, u64)>, BenchError> {
    let room = place.room(work)?;
    let task = Task {
        work,
        amounts: Amounts {
            data_bytes: place.data_bytes(),
            ..Amounts::QUICK.with_operations(operations)
        },
        directory: room.path(),
    };
    let book = place.scratch().join("count");
    let mut totals = Vec::new();
    for invocation in contender.invocations(&task) {
        match invocation.figure {
            None => {
                child::run(&invocation, &task.start(), &[])?;
            }
            Some(figure) => {
                child::run(&invocation, &task.start(), &counter.prefix(&book))?;
                let text =
                    std::fs::read_to_string(&book).map_err(|e| BenchError::io("read", &book, e))?;
                totals.push((figure, counter.read(&text)?));
            }
        }
    }
    room.clear()?;
    Ok(totals)
}

/// The sum of callgrind's file.
fn instructions(text: &str) -> Result<u64, BenchError> {
    text.lines()
        .filter_map(|line| line.strip_prefix("totals: "))
        .find_map(|total| total.trim().parse().ok())
        .ok_or_else(|| BenchError::output("callgrind", "no totals"))
}

/// The calls in the last line of strace's table.
fn system_calls(text: &str) -> Result<u64, BenchError> {
    text.lines()
        .rfind(|line| line.ends_with(" total"))
        .and_then(|line| line.split_whitespace().nth(3)?.parse().ok())
        .ok_or_else(|| BenchError::output("strace", "no total"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrinds_totals_are_read() {
        let text = include_str!("../fixtures/callgrind.out");
        assert_eq!(instructions(text).expect("reads"), 207_971);
        assert!(instructions("events: Ir").is_err());
    }

    #[test]
    fn straces_total_is_the_number_of_calls() {
        let text = include_str!("../fixtures/strace-summary.txt");
        assert_eq!(system_calls(text).expect("reads"), 1_035);
        assert!(system_calls("").is_err());
    }
}
