//! Runs and times external commands with a clean environment; keeps their output.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use fslab_fs::{CommandLine, SearchPath, Tool};
use fslab_model::{Failure, FailureKind, StepRecord};
use fslab_sys::os::ExitStatusExt;

use crate::own_formatter;

/// Bytes kept from the end of a command's output.
const OUTPUT_KEPT_BYTES: usize = 4096;

/// Result of a command.
pub(crate) struct Ran {
    pub(crate) record: StepRecord,
    /// Its complete output; the record keeps the end.
    pub(crate) output: String,
}

/// Variables that a command needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Environment<'a>(pub(crate) &'a [(&'a str, &'a str)]);

/// Runs `line` until it ends. The caller interprets the exit status.
pub(crate) fn run(step: &str, line: &CommandLine) -> Result<Ran, Failure> {
    run_in(Environment::default(), step, line)
}

fn run_in(environment: Environment<'_>, step: &str, line: &CommandLine) -> Result<Ran, Failure> {
    if line.tool == Tool::FSLAB {
        return format_here(step, line);
    }
    let mut command = plain(line)?;
    command.envs(environment.0.iter().copied());
    let began = Instant::now();
    let output = command
        .output()
        .map_err(|error| cannot_start(line, &error))?;
    let elapsed_ns = elapsed_ns(began);
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let Some(exit_code) = output.status.code() else {
        return Err(killed(line, output.status));
    };
    let record = StepRecord {
        step: step.to_owned(),
        command: line.words(),
        elapsed_ns,
        exit_code: Some(exit_code),
        output: tail(text.trim_end(), OUTPUT_KEPT_BYTES).to_owned(),
    };
    Ok(Ran {
        record,
        output: text,
    })
}

/// The failure of a program that a signal ended. No program sends itself SIGKILL: another one has
/// done it, or the kernel for lack of memory.
fn killed(line: &CommandLine, status: ExitStatus) -> Failure {
    let text = format!("{} ended with {status}", line.tool.program);
    let signal = status.signal().map(fslab_sys::signal_name);
    if signal.as_deref() != Some("SIGKILL") {
        return Failure::new(FailureKind::Crash, text);
    }
    Failure::new(FailureKind::Host, text).hint(
        "another program killed it, or the kernel because memory ran out; see the kernel's log",
    )
}

/// As [`run`] for fslab's own formatters, in this process.
fn format_here(step: &str, line: &CommandLine) -> Result<Ran, Failure> {
    let began = Instant::now();
    let output = own_formatter::run(line)?;
    let record = StepRecord {
        step: step.to_owned(),
        command: line.words(),
        elapsed_ns: elapsed_ns(began),
        exit_code: Some(0),
        output: output.trim_end().to_owned(),
    };
    Ok(Ran { record, output })
}

/// As [`run`]; an exit status other than 0 is a failure of `kind` with the text `cannot CANNOT`.
pub(crate) fn run_well(
    step: &str,
    line: &CommandLine,
    kind: FailureKind,
    cannot: &str,
) -> Result<StepRecord, Failure> {
    run_well_in(Environment::default(), step, line, kind, cannot)
}

/// As [`run_well`], with variables.
pub(crate) fn run_well_in(
    environment: Environment<'_>,
    step: &str,
    line: &CommandLine,
    kind: FailureKind,
    cannot: &str,
) -> Result<StepRecord, Failure> {
    let Ran { record, output } = run_in(environment, step, line)?;
    match record.exit_code {
        Some(0) => Ok(record),
        code => Err(Failure::new(
            kind,
            format!(
                "cannot {cannot}: `{}` ended with status {}: {}",
                record.command.join(" "),
                code.unwrap_or(-1),
                last_lines(&output)
            ),
        )),
    }
}

/// The command with a clean environment, in `/`, without standard input.
pub(crate) fn plain(line: &CommandLine) -> Result<Command, Failure> {
    let program = line.tool.locate(&SearchPath::from_environment())?;
    let mut command = Command::new(program);
    command
        .args(&line.arguments)
        .env_clear()
        .env("PATH", fslab_sys::PLAIN_PATH)
        .env("LC_ALL", "C")
        .envs(fslab_sys::inherited_loading())
        .current_dir(Path::new("/"))
        .stdin(Stdio::null());
    Ok(command)
}

pub(crate) fn cannot_start(line: &CommandLine, error: &std::io::Error) -> Failure {
    let text = format!("cannot start {}", line.tool.program);
    Failure::new(FailureKind::MissingTool, text).because(error)
}

/// The last three lines of a command's output, on one line; those before a text on usage, if there
/// is one, as in mkfs.xfs.
pub(crate) fn last_lines(output: &str) -> String {
    let lines: Vec<_> = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let is_usage = |line: &&str| line.to_ascii_lowercase().starts_with("usage:");
    let end = match lines.iter().position(is_usage) {
        None | Some(0) => lines.len(),
        Some(usage) => usage,
    };
    lines[end.saturating_sub(3)..end].join("; ")
}

/// Nanoseconds since `began`.
pub(crate) fn elapsed_ns(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The last `bytes` of `text`, cut at a character boundary.
fn tail(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use fslab_fs::{CommandLine, Tool};
    use fslab_model::FailureKind;
    use fslab_sys::os::ExitStatusExt;

    use super::{ExitStatus, killed, last_lines, tail};

    #[cfg(unix)]
    #[test]
    fn a_program_that_was_killed_from_outside_is_no_failure_of_what_it_made() {
        let line = CommandLine {
            tool: Tool::FSLAB,
            arguments: Vec::new(),
        };
        let kind = |signal| killed(&line, ExitStatus::from_raw(signal)).kind;
        assert_eq!(kind(9), FailureKind::Host);
        assert_eq!(kind(11), FailureKind::Crash);
    }

    #[test]
    fn the_last_three_nonempty_lines_are_kept() {
        assert_eq!(last_lines("a\n\nb\n c \n\nd\n"), "b; c; d");
        assert_eq!(last_lines(""), "");
        let usage = "Invalid value 3000 for -b size option.\nUsage: mkfs.xfs\n\t[-b size=num]\n";
        assert_eq!(last_lines(usage), "Invalid value 3000 for -b size option.");
        assert_eq!(
            last_lines("usage: mkfs\nno device"),
            "usage: mkfs; no device"
        );
    }

    #[test]
    fn the_tail_is_cut_between_characters() {
        assert_eq!(tail("abc", 8), "abc");
        assert_eq!(tail("aéb", 2), "b");
    }
}
