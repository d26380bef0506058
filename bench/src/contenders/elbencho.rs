//! elbencho; a table for people. One process for each figure.

use std::path::PathBuf;

use super::contender::{Contender, Invocation, Task, ask_version};
use crate::error::BenchError;
use crate::work::{Figure, SMALL_FILE_BYTES, Work};

/// The contender `elbencho`.
pub(crate) struct Elbencho {
    pub(crate) program: PathBuf,
}

/// Begins the line of the rate.
const RATE: &str = "Files/s";

impl Elbencho {
    /// The phase `options` of every file.
    fn phase(&self, task: &Task<'_>, figure: Figure, options: &[&str]) -> Invocation {
        let bytes = match task.work {
            Work::Files => SMALL_FILE_BYTES,
            _ => 0,
        };
        let mut arguments = vec![
            // Without directories: all files in the one that is named.
            "--dirs=0".to_owned(),
            "--threads=1".to_owned(),
            "--nolive".to_owned(),
            format!("--files={}", task.operations()),
            format!("--size={bytes}"),
            format!("--block={}", bytes.max(1)),
        ];
        arguments.extend(options.iter().map(|&option| option.to_owned()));
        arguments.push(task.files().display().to_string());
        Invocation::of_figure(&self.program, arguments, figure, rate)
    }
}

impl Contender for Elbencho {
    fn name(&self) -> &'static str {
        "elbencho"
    }

    fn version(&self) -> Result<String, String> {
        ask_version(&self.program, &["--version"])
    }

    fn invocations(&self, task: &Task<'_>) -> Vec<Invocation> {
        match task.work {
            Work::Names => vec![
                self.phase(task, Figure::Create, &["--write"]),
                self.phase(task, Figure::Stat, &["--stat"]),
                self.phase(task, Figure::Unlink, &["--delfiles"]),
            ],
            Work::Files => vec![
                self.phase(task, Figure::FilesWrite, &["--write", "--verify=1"]),
                self.phase(task, Figure::FilesRead, &["--read"]),
                self.phase(task, Figure::FilesVerified, &["--read", "--verify=1"]),
            ],
            _ => Vec::new(),
        }
    }

    fn remark(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Files => Some("elbencho writes and verifies numbers that follow from the offset"),
            _ => None,
        }
    }

    fn setting(&self, work: Work) -> Option<&'static str> {
        work.makes_files().then_some("nolive")
    }
}

/// Files per second when the last thread was done, the last column.
fn rate(text: &str) -> Result<f64, BenchError> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(label, _)| label.trim_end().ends_with(RATE))
        .and_then(|(_, rates)| rates.split_whitespace().last()?.parse().ok())
        .filter(|rate| *rate > 0.0)
        .ok_or_else(|| BenchError::output("elbencho", format!("no line of {RATE}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_at_the_end_of_the_last_thread() {
        let text = "\
OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
WRITE       Elapsed time     :        78ms        80ms
            Files/s          :       25641       25000
            Files total      :        2000        2000
---
";
        let found = rate(text).expect("a rate");
        assert!((found - 25_000.0).abs() < 1e-6, "{found}");
        assert!(rate("ERROR: no such path").is_err());
    }
}
