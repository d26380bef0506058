//! The tests of the Python package, in a separate environment below `target/`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// What the tests need, for pip.
const REQUIREMENTS: &str = "python/tests/requirements.txt";
/// The environment, from the root.
const ENVIRONMENT: &str = "target/python";
/// In the environment: the requirements that it has.
const INSTALLED: &str = "requirements.txt";

/// Runs `cargo xtask python WORDS`: the tests, or with `--ready` only what they need.
pub(crate) fn run(root: &Path, words: &[&str]) -> ExitCode {
    let python = match prepare(root) {
        Ok(python) => python,
        Err(why) => {
            eprintln!("python: {why}");
            return ExitCode::FAILURE;
        }
    };
    if words == ["--ready"] {
        return ExitCode::SUCCESS;
    }
    match tests(root, &python, words).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("python: cannot start {}: {why}", python.display());
            ExitCode::FAILURE
        }
    }
}

/// pytest with `words`, of the program in FSLAB or of the one that the gate built.
fn tests(root: &Path, python: &Path, words: &[&str]) -> Command {
    let program = std::env::var_os("FSLAB").map(PathBuf::from);
    let program = program.unwrap_or_else(|| root.join("target/debug/fslab"));
    let mut tests = Command::new(python);
    tests
        .args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"])
        .args(words)
        .current_dir(root.join("python"))
        .env("FSLAB", program)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    tests
}

/// The environment's Python, with everything that the requirements name; an error says what is
/// missing on this machine.
fn prepare(root: &Path) -> Result<PathBuf, String> {
    let environment = root.join(ENVIRONMENT);
    let python = environment.join("bin/python");
    let installed = environment.join(INSTALLED);
    let wanted = std::fs::read_to_string(root.join(REQUIREMENTS))
        .map_err(|error| format!("cannot read {REQUIREMENTS}: {error}"))?;
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        return Ok(python);
    }
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "--clear"]).arg(&environment);
    succeed(make, "python3 or its module venv is missing")?;
    let mut install = Command::new(&python);
    install
        .args(["-m", "pip", "install", "--quiet", "--requirement"])
        .arg(root.join(REQUIREMENTS));
    succeed(install, "pip cannot install the packages of the tests")?;
    std::fs::write(&installed, wanted)
        .map_err(|error| format!("cannot write {}: {error}", installed.display()))?;
    Ok(python)
}

/// Runs a command whose output only matters if it fails.
fn succeed(mut command: Command, otherwise: &str) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{otherwise}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!(
        "{otherwise}:\n{}",
        String::from_utf8_lossy(&said).trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_is_reported_with_what_it_printed() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        assert_eq!(succeed(shell("echo done"), "it failed"), Ok(()));
        let failed = succeed(shell("echo no network >&2; exit 1"), "it failed");
        assert_eq!(failed, Err("it failed:\nno network".to_owned()));
        let missing = succeed(Command::new("no-such-program"), "it failed");
        assert!(missing.is_err_and(|why| why.starts_with("it failed: ")));
    }
}
