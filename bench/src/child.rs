//! Runs a command to its end: what it printed, and what it used.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::contenders::{Invocation, Programs};
use crate::error::BenchError;

/// What a process used from its start to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// Time in user mode.
    pub(crate) user_ns: u64,
    /// Peak resident memory.
    pub(crate) resident_kib: u64,
}

/// Runs `invocation` in `directory` below `prefix`, a command that takes a command as its last
/// arguments; gives its standard output.
pub(crate) fn run(
    invocation: &Invocation,
    directory: &Path,
    prefix: &[String],
) -> Result<String, BenchError> {
    let program = invocation.program.to_string_lossy().into_owned();
    let mut words = prefix
        .iter()
        .cloned()
        .chain([program])
        .chain(invocation.arguments.iter().cloned());
    let first = words.next().unwrap_or_default();
    let failed = |source| BenchError::Io {
        operation: "run",
        object: first.clone(),
        source,
    };
    let mut child = Command::new(&first)
        .args(words)
        .current_dir(directory)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // A specification is shorter than a pipe, and a program that reads none may have ended.
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), &invocation.input) {
        match pipe.write_all(input.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(failed(error)),
            _ => {}
        }
    }
    let output = child.wait_with_output().map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(BenchError::Command {
        command: invocation.command_line(),
        status: output.status.to_string(),
        output: text + &String::from_utf8_lossy(&output.stderr),
    })
}

/// The same, and what the command used, by the reference program `account`.
pub(crate) fn run_accounted(
    invocation: &Invocation,
    directory: &Path,
    programs: &Programs,
    scratch: &Path,
) -> Result<(String, Used), BenchError> {
    let account = programs.path("account").display().to_string();
    let book = scratch.join("used");
    let text = run(
        invocation,
        directory,
        &[account, book.display().to_string()],
    )?;
    let line = std::fs::read_to_string(&book).map_err(|e| BenchError::io("read", &book, e))?;
    let value = |key| {
        crate::contenders::value_of(&line, key)
            .ok_or_else(|| BenchError::output("account", format!("no {key} in {line}")))
    };
    let used = Used {
        user_ns: value("user_ns")?,
        resident_kib: value("resident_kib")?,
    };
    Ok((text, used))
}
