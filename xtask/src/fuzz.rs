//! The search for inputs that fail, in a build in which libFuzzer sees what code an input reaches.

use std::path::Path;
use std::process::{Command, ExitCode};

/// SanitizerCoverage, as `cargo fuzz` has it; without a sanitizer, which needs another compiler.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// The search of the workspace in `root`; its words are still to come.
pub(crate) fn command(root: &Path) -> Command {
    let mut command = crate::gate::cargo(root);
    command
        .env("RUSTFLAGS", COVERAGE)
        .args(["run", "--quiet", "--locked", "--package", "fslab-fuzz"])
        .args(["--profile", "fuzz", "--target"])
        // With a target, build scripts and macros do without the flags.
        .arg(format!("{}-unknown-linux-gnu", std::env::consts::ARCH))
        .arg("--");
    command
}

/// Runs `cargo xtask fuzz WORDS`.
pub(crate) fn run(root: &Path, words: &[&str]) -> ExitCode {
    match command(root).args(words).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("fuzz: cannot start cargo: {why}");
            ExitCode::FAILURE
        }
    }
}
