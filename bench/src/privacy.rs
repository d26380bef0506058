//! A mount namespace of the bench's own: what it mounts ends with it, even if it is killed.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Set for the bench that runs in its own namespace.
const MARK: &str = "FSLAB_BENCH_PRIVATE";

/// Starts this program again in its own mount namespace, unless it is in one. Returns only
/// where that is not needed, or with why it is not possible.
pub(crate) fn enter() -> Option<std::io::Error> {
    if std::env::var_os(MARK).is_some() {
        return None;
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return Some(error),
    };
    let error = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "--"])
        .arg(program)
        .args(std::env::args_os().skip(1))
        .env(MARK, "1")
        .exec();
    Some(error)
}
