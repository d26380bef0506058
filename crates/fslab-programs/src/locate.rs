//! Locates programs.

use std::path::PathBuf;

/// The program `name` in the system's directories of programs.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let mut folders = std::env::split_paths(fslab_sys::PLAIN_PATH);
    folders.find_map(|folder| fslab_sys::os::program_in(&folder, name))
}

/// A message on missing ones of `programs`, each a name and its package of Debian; `None` if all
/// are installed.
pub(crate) fn missing(programs: &[(&str, &str)]) -> Option<String> {
    let missing: Vec<_> = programs
        .iter()
        .filter(|(name, _)| program(name).is_none())
        .map(|(name, package)| format!("{name} (package {package})"))
        .collect();
    (!missing.is_empty()).then(|| format!("not installed: {}", missing.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_is_found_and_missing_programs_are_named_with_their_package() {
        assert!(program("sh").is_some());
        assert_eq!(missing(&[("sh", "dash")]), None);
        let text = missing(&[("sh", "dash"), ("no-such-cc", "gcc")]).expect("is missing");
        assert_eq!(text, "not installed: no-such-cc (package gcc)");
    }
}
