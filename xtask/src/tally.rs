//! The sum of what many test binaries say of themselves.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// How many tests passed, failed and were left out, and which failed.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
    failures: Vec<String>,
}

impl Tally {
    /// Runs the tests, shows what they print, and counts.
    ///
    /// Fails where the command fails, and where it ran no test.
    pub(crate) fn run(&mut self, mut command: Command) -> Result<(), String> {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start cargo: {error}"))?;
        for line in child
            .stdout
            .take()
            .map(BufReader::new)
            .into_iter()
            .flat_map(BufRead::lines)
        {
            let line = line.map_err(|error| format!("cannot read the tests' output: {error}"))?;
            println!("{line}");
            self.take(&line);
        }
        match child.wait() {
            Ok(status) if !status.success() => Err(status.to_string()),
            Ok(_) if self.passed == 0 => Err("no test ran".to_owned()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The names of the tests that failed, in their order.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Takes a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; ...`, or
    /// `test a_name ... FAILED`.
    fn take(&mut self, line: &str) {
        let test = line.strip_prefix("test ");
        if let Some(name) = test.and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.failures.push(name.to_owned());
        }
        let Some(counts) = line.strip_prefix("test result: ") else {
            return;
        };
        let words: Vec<_> = counts
            .split([' ', ';', '.'])
            .filter(|word| !word.is_empty())
            .collect();
        for pair in words.windows(2) {
            let Ok(count) = pair[0].parse::<u64>() else {
                continue;
            };
            match pair[1] {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.skipped += count,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_results_of_several_binaries_are_summed() {
        let mut tally = Tally::default();
        for line in [
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
            "test a ... ok",
            "test of::b ... FAILED",
            "test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 9 filtered out",
        ] {
            tally.take(line);
        }
        assert_eq!(tally.to_string(), "5 passed, 4 failed, 1 skipped");
        assert_eq!(tally.failures(), ["of::b"]);
    }

    #[test]
    fn a_command_without_tests_is_no_success() {
        let mut echo = Command::new("true");
        echo.stdout(Stdio::piped());
        assert_eq!(Tally::default().run(echo), Err("no test ran".to_owned()));
    }
}
