//! mdtest, of IOR; a table for people. One process for each figure.

use std::path::PathBuf;

use super::contender::{Contender, Invocation, Task, ask_version};
use crate::error::BenchError;
use crate::work::{Figure, SMALL_FILE_BYTES, Work};

/// The contender `mdtest`.
pub(crate) struct Mdtest {
    pub(crate) program: PathBuf,
}

/// Heads the table of rates, the only one unless another is asked for.
const RATES: &str = "SUMMARY";
/// The column of the mean, behind the largest and the smallest.
const MEAN_COLUMN: usize = 2;

impl Mdtest {
    /// The operation `option` of every file, whose line in the table begins with `label`.
    fn operation(
        &self,
        task: &Task<'_>,
        figure: Figure,
        options: &[&str],
        label: &'static str,
    ) -> Invocation {
        let mut arguments = vec![
            "-F".to_owned(),
            "-n".to_owned(),
            task.operations().to_string(),
            "-d".to_owned(),
            task.files().display().to_string(),
        ];
        arguments.extend(options.iter().map(|&option| option.to_owned()));
        Invocation::of_figure(&self.program, arguments, figure, move |text| {
            rate(text, label)
        })
    }
}

impl Contender for Mdtest {
    fn name(&self) -> &'static str {
        "mdtest"
    }

    fn version(&self) -> Result<String, String> {
        ask_version(&self.program, &["--help"])
    }

    fn invocations(&self, task: &Task<'_>) -> Vec<Invocation> {
        let bytes = SMALL_FILE_BYTES.to_string();
        let (write, read) = (["-C", "-w", &bytes], ["-E", "-e", &bytes]);
        let verify = ["-E", "-e", &bytes, "-X"];
        match task.work {
            Work::Names => vec![
                self.operation(task, Figure::Create, &["-C"], "File creation"),
                self.operation(task, Figure::Stat, &["-T"], "File stat"),
                self.operation(task, Figure::Unlink, &["-r"], "File removal"),
            ],
            Work::Files => vec![
                self.operation(task, Figure::FilesWrite, &write, "File creation"),
                self.operation(task, Figure::FilesRead, &read, "File read"),
                self.operation(task, Figure::FilesVerified, &verify, "File read"),
            ],
            _ => Vec::new(),
        }
    }

    fn remark(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Names | Work::Files => {
                Some("mdtest makes its files two directories deeper, by full paths")
            }
            _ => None,
        }
    }

    fn setting(&self, _work: Work) -> Option<&'static str> {
        None
    }
}

/// Operations per second of the line `label`, which a colon ends up to 3.x.
fn rate(text: &str, label: &str) -> Result<f64, BenchError> {
    text.lines()
        .skip_while(|line| !line.trim_start().starts_with(RATES))
        .find_map(|line| line.trim_start().strip_prefix(label))
        .and_then(|rest| {
            let rest = rest.trim_start().trim_start_matches(':');
            rest.split_whitespace().nth(MEAN_COLUMN)?.parse().ok()
        })
        .filter(|rate| *rate > 0.0)
        .ok_or_else(|| BenchError::output("mdtest", format!("no rate of '{label}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! output {
        ($name:literal) => {
            include_str!(concat!("../../../tests/fixtures/exchange/", $name))
        };
    }

    #[test]
    fn the_mean_of_a_line_is_the_rate_in_every_version() {
        let rates = [
            (output!("mdtest-1.9.3.txt"), "File stat", 5_698.574),
            (output!("mdtest-3.3.0.txt"), "File creation", 29_151.246),
            (output!("mdtest-4.0.0-files.txt"), "File stat", 340_170.641),
            (output!("mdtest-4.1.0.txt"), "File removal", 323_391.283),
        ];
        for (text, label, expected) in rates {
            let found = rate(text, label).expect("a rate");
            assert!((found - expected).abs() < 1e-6, "{label}: {found}");
        }
    }

    #[test]
    fn what_was_not_run_has_no_rate() {
        assert!(rate(output!("mdtest-4.0.0-files.txt"), "File removal").is_err());
        assert!(rate("mdtest: error", "File stat").is_err());
    }
}
