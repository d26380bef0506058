//! Failures that several parts of this crate meet.

use std::io;
use std::path::Path;

use fslab_model::{Failure, FailureKind};

/// The failure of an operation on a file of the user.
pub(crate) fn of_file(operation: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::of_file(FailureKind::BadInput, operation, path, error)
}

/// The failure for a line of strace's output that is not as this crate knows it.
pub(crate) fn of_line(number: usize, text: &str) -> Failure {
    let text: String = text.chars().take(200).collect();
    Failure::bad_input(format!(
        "cannot parse line {number} of strace's output: {text}"
    ))
}

/// The failure for a directory below which nothing can be recorded.
pub(crate) fn of_root(root: &Path, problem: impl std::fmt::Display) -> Failure {
    let text = format!("cannot record below {}: {problem}", root.display());
    Failure::bad_input(text).hint("give the directory that the command works in with --root")
}
