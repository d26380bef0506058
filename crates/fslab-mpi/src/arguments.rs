//! The arguments of a load.

use std::ffi::OsString;
use std::path::Path;

/// Whether these arguments ask for one load from all ranks.
pub(crate) fn ask_for_load(arguments: &[OsString]) -> bool {
    arguments.iter().any(|word| {
        let word = word.to_string_lossy();
        word == "--dir" || word.starts_with("--dir=")
    })
}

/// The arguments that fslab gets besides those of the user.
pub(crate) fn of_load(socket: &Path, ranks: i32) -> Vec<OsString> {
    let ranks = ranks.to_string();
    vec![
        "--workers".into(),
        socket.into(),
        "--jobs".into(),
        "1".into(),
        "--ranks".into(),
        ranks.into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_ask_for_load_by_a_directory() {
        let words =
            |all: &[&str]| ask_for_load(&all.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(words(&["run", "ior", "--dir", "/x"]));
        assert!(words(&["run", "ior", "--dir=/x"]));
        assert!(!words(&["run", "ior", "--venue", "sim"]));
    }
}
