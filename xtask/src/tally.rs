//! The totals of all test binaries of one `cargo test`.
//!
//! libtest counts a test that returns early as passed. By convention such a test prints a line
//! `skipped: REASON`; libtest prints the output of passed tests after the tests of a binary where
//! `--show-output` is given. That output is read here and not shown.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// The begin of the line that a test prints when it cannot run.
const SKIP_MARK: &str = "skipped: ";

/// How many tests passed, failed and were skipped, and which.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
    failures: Vec<String>,
    skips: Vec<Skip>,
    /// Within the output of passed tests: the test whose output follows, once it is known.
    passed_output: Option<Option<String>>,
    /// Skipped tests of the binary that is being read.
    skipped_in_binary: u64,
}

/// A test that could not run, and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Skip {
    pub(crate) test: String,
    pub(crate) reason: String,
}

impl Tally {
    /// Runs the tests with `--show-output`, writes what they print to `out`, and counts.
    ///
    /// Fails where the command fails, and where it ran no test.
    pub(crate) fn run(&mut self, mut command: Command, out: &mut impl Write) -> Result<(), String> {
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
            if let Some(shown) = self.take(&line) {
                let _ = writeln!(out, "{shown}");
            }
        }
        match child.wait() {
            Ok(status) if !status.success() => Err(status.to_string()),
            Ok(_) if self.passed + self.skipped == 0 => Err("no test ran".to_owned()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The names of the tests that failed, in their order.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// The tests that could not run, in their order.
    pub(crate) fn skips(&self) -> &[Skip] {
        &self.skips
    }

    /// Counts one line of output; returns what is to be shown of it.
    fn take(&mut self, line: &str) -> Option<String> {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed_output = None;
            return Some(self.take_result(counts));
        }
        match line {
            "successes:" => self.passed_output = Some(None),
            "failures:" => self.passed_output = None,
            _ => {}
        }
        if self.passed_output.is_some() {
            return self.take_passed_output(line);
        }
        let test = line.strip_prefix("test ");
        if let Some(name) = test.and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.failures.push(name.to_owned());
        }
        Some(line.to_owned())
    }

    /// Takes a line of the output of passed tests, such as `---- a_test stdout ----`.
    fn take_passed_output(&mut self, line: &str) -> Option<String> {
        let heading = line.strip_prefix("---- ");
        if let Some(test) = heading.and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.passed_output = Some(Some(test.to_owned()));
            return None;
        }
        let reason = line.strip_prefix(SKIP_MARK)?.to_owned();
        // A test counts once, by its first reason.
        let test = self.passed_output.as_mut()?.take()?;
        let shown = format!("test {test} ... skipped: {reason}");
        self.skips.push(Skip { test, reason });
        self.skipped_in_binary += 1;
        Some(shown)
    }

    /// Takes the counts of a binary: `ok. 3 passed; 0 failed; 1 ignored; ...`.
    fn take_result(&mut self, counts: &str) -> String {
        let count = |word: &str| {
            let before = counts.split(word).next().unwrap_or_default();
            let number = before.trim_end().rsplit(' ').next().unwrap_or_default();
            number.parse::<u64>().unwrap_or(0)
        };
        let skipped = std::mem::take(&mut self.skipped_in_binary);
        let passed = count("passed").saturating_sub(skipped);
        let failed = count("failed");
        let skipped = skipped + count("ignored");
        self.passed += passed;
        self.failed += failed;
        self.skipped += skipped;
        let verdict = counts.split(' ').next().unwrap_or_default();
        format!("test result: {verdict} {passed} passed; {failed} failed; {skipped} skipped")
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
            ..
        } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set where `a_test_that_skips_when_asked` is to skip.
    const ASK: &str = "FSLAB_TALLY_SKIP";

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
    fn zero_skipped_tests_are_counted_as_such() {
        let mut tally = Tally::default();
        tally.take("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured");
        assert_eq!(tally.to_string(), "3 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn the_output_of_passed_tests_is_not_shown_and_that_of_failed_ones_is() {
        let output = "test a ... ok\n\
            test b ... FAILED\n\
            successes:\n\
            ---- a stdout ----\n\
            much text\n\
            skipped: it needs root\n\
            skipped: and a disk\n\
            successes:\n    a\n\
            failures:\n\
            ---- b stdout ----\n\
            skipped: is not a skip\n\
            test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured";
        let mut tally = Tally::default();
        let shown: Vec<String> = output.lines().filter_map(|line| tally.take(line)).collect();
        assert_eq!(
            shown,
            [
                "test a ... ok",
                "test b ... FAILED",
                "test a ... skipped: it needs root",
                "failures:",
                "---- b stdout ----",
                "skipped: is not a skip",
                "test result: FAILED. 0 passed; 1 failed; 1 skipped",
            ]
        );
        assert_eq!(tally.to_string(), "0 passed, 1 failed, 1 skipped");
        assert_eq!(tally.skips().len(), 1, "a test counts once");
    }

    #[test]
    fn a_test_that_skips_when_asked() {
        if std::env::var_os(ASK).is_some() {
            println!("skipped: it was asked to");
        }
    }

    /// Tests that returned early were counted as passed.
    #[test]
    fn a_skipped_test_of_a_real_binary_is_not_counted_as_passed() {
        let test = "tally::tests::a_test_that_skips_when_asked";
        let binary = std::env::current_exe().expect("this test");
        let mut command = Command::new(&binary);
        command
            .args(["--exact", test, "--show-output"])
            .env(ASK, "1");
        let mut tally = Tally::default();
        let mut out = Vec::new();
        assert_eq!(tally.run(command, &mut out), Ok(()));
        assert_eq!(tally.to_string(), "0 passed, 0 failed, 1 skipped");
        let expected = Skip {
            test: test.to_owned(),
            reason: "it was asked to".to_owned(),
        };
        assert_eq!(tally.skips(), [expected]);
        let shown = String::from_utf8(out).expect("text");
        assert!(shown.contains("... skipped: it was asked to"), "{shown}");
    }

    #[test]
    fn a_command_without_tests_is_no_success() {
        let mut out = Vec::new();
        let result = Tally::default().run(Command::new("true"), &mut out);
        assert_eq!(result, Err("no test ran".to_owned()));
    }
}
