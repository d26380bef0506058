//! Where programs are.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The program of that name among those of the system; `None` where there is none.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let mut folders = fslab_sys::PLAIN_PATH.split(':');
    folders.find_map(|folder| {
        let path = Path::new(folder).join(name);
        let metadata = path.metadata().ok()?;
        let may_execute = metadata.permissions().mode() & 0o111 != 0;
        (metadata.is_file() && may_execute).then_some(path)
    })
}

/// A sentence on what of `programs` is missing, with the packages that have them; `None` where
/// nothing is. Each is a name and the package of Debian that has it.
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
    fn the_shell_is_found_and_what_is_missing_is_named_with_its_package() {
        assert!(program("sh").is_some());
        assert_eq!(missing(&[("sh", "dash")]), None);
        let told = missing(&[("sh", "dash"), ("no-such-cc", "gcc")]).expect("is missing");
        assert_eq!(told, "not installed: no-such-cc (package gcc)");
    }
}
