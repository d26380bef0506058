//! Runs one external command, timed, with a clean environment and its output kept.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use fslab_fs::{CommandLine, SearchPath};
use fslab_model::{Failure, FailureKind, StepRecord};

/// How much of a command's output is kept: its end says what went wrong.
const OUTPUT_KEPT_BYTES: usize = 4096;

/// Runs `line` to its end. What its exit status means, the caller decides.
///
/// # Errors
/// Where the program is missing or cannot be started, or died of a signal.
pub(crate) fn run(step: &str, line: &CommandLine) -> Result<StepRecord, Failure> {
    let search = SearchPath::from_environment();
    let program = line.tool.locate(&search).map_err(Failure::from)?;
    let began = Instant::now();
    let output = Command::new(&program)
        .args(&line.arguments)
        .env_clear()
        .env("PATH", fslab_sys::PLAIN_PATH)
        .env("LC_ALL", "C")
        .current_dir(Path::new("/"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            Failure::new(
                FailureKind::MissingTool,
                format!("cannot start {}", program.display()),
            )
            .because(&error)
        })?;
    let elapsed_ns = elapsed_ns(began);
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let Some(exit_code) = output.status.code() else {
        let failure = Failure::new(
            FailureKind::Crash,
            format!("{} ended with {}", line.tool.program, output.status),
        );
        return Err(failure);
    };
    Ok(StepRecord {
        step: step.to_owned(),
        command: line.words(),
        elapsed_ns,
        exit_code: Some(exit_code),
        output: tail(text.trim_end(), OUTPUT_KEPT_BYTES).to_owned(),
    })
}

/// Nanoseconds since `began`.
pub(crate) fn elapsed_ns(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The last `bytes` of `text`, cut at a character.
fn tail(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::tail;

    #[test]
    fn the_tail_is_cut_between_characters() {
        assert_eq!(tail("abc", 8), "abc");
        assert_eq!(tail("aéb", 2), "b");
    }
}
