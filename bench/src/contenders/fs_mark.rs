//! fs_mark; a table for people. It measures how fast files are made, and nothing else.

use std::path::PathBuf;

use super::contender::{Contender, Invocation, Task, ask_version};
use crate::error::BenchError;
use crate::work::{Figure, SMALL_FILE_BYTES, Work};

/// The contender `fs_mark`.
pub(crate) struct FsMark {
    pub(crate) program: PathBuf,
}

/// First word of the table's head, and the column of the rate in the line below it.
const HEAD: &str = "FSUse%";
const RATE_COLUMN: usize = 3;

impl FsMark {
    fn files(&self, task: &Task<'_>, figure: Figure, bytes: u64) -> Invocation {
        let arguments = [
            // It is started in the directory of the files: it takes no path of 40 bytes or more.
            "-d".to_owned(),
            ".".to_owned(),
            "-n".to_owned(),
            task.operations().to_string(),
            "-s".to_owned(),
            bytes.to_string(),
            "-w".to_owned(),
            bytes.max(1).to_string(),
            // No sync, and the files stay.
            "-S".to_owned(),
            "0".to_owned(),
            "-k".to_owned(),
            "-l".to_owned(),
            "../fs_mark.log".to_owned(),
        ];
        Invocation::of_figure(&self.program, arguments.into(), figure, file_rate)
    }
}

impl Contender for FsMark {
    fn name(&self) -> &'static str {
        "fs_mark"
    }

    fn version(&self) -> Result<String, String> {
        ask_version(&self.program, &["-h"]).map(|_| "a version it does not print".to_owned())
    }

    fn invocations(&self, task: &Task<'_>) -> Vec<Invocation> {
        match task.work {
            Work::Names => vec![self.files(task, Figure::Create, 0)],
            Work::Files => vec![self.files(task, Figure::FilesWrite, SMALL_FILE_BYTES)],
            _ => Vec::new(),
        }
    }

    fn remark(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Names | Work::Files => Some(
                "fs_mark makes files only, with names of 40 bytes in random order, and writes zeros",
            ),
            _ => None,
        }
    }

    fn setting(&self, work: Work) -> Option<&'static str> {
        work.makes_files().then_some("-S 0: no sync")
    }
}

/// Files per second: the first line below the table's head.
fn file_rate(text: &str) -> Result<f64, BenchError> {
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| line.starts_with(HEAD))
        .and_then(|_| lines.find(|line| !line.is_empty()))
        .and_then(|line| line.split_whitespace().nth(RATE_COLUMN)?.parse().ok())
        .filter(|rate| *rate > 0.0)
        .ok_or_else(|| BenchError::output("fs_mark", "no rate below its head"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_stands_below_the_head() {
        let found = file_rate(include_str!("../../fixtures/fs_mark.txt")).expect("a rate");
        assert!((found - 13_440.2).abs() < 1e-6, "{found}");
        assert!(file_rate("fs_mark: mkdir failed").is_err());
    }
}
