//! Locates programs.

use fslab_sys::os::PermissionsExt;
use std::path::{Path, PathBuf};

/// The program `name` in the system's folders of programs.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let mut folders = fslab_sys::PLAIN_PATH.split(':');
    folders.find_map(|folder| {
        let path = Path::new(folder).join(name);
        let metadata = path.metadata().ok()?;
        let may_execute = metadata.permissions().mode() & 0o111 != 0;
        (metadata.is_file() && may_execute).then_some(path)
    })
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
