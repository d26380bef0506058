//! The program that runs the trials of guests.
//!
//! Its mappings, and with them the memory of a guest, depend on how it is linked. So a release,
//! whose `bin/fslab` is linked statically, has beside it `lib/fslab/fslab`, linked as in a build
//! from source: both give the same records.

use std::path::{Path, PathBuf};

/// The running program, even if its file was replaced.
const OWN: &str = "/proc/self/exe";
/// The other one, from the folder of the running program.
const INSTALLED: &str = "../lib/fslab/fslab";

/// The program to copy into guests.
#[must_use]
pub fn guest_program() -> PathBuf {
    let own = std::fs::read_link(OWN).unwrap_or_default();
    installed_beside(&own).unwrap_or_else(|| OWN.into())
}

fn installed_beside(own: &Path) -> Option<PathBuf> {
    let other = own.parent()?.join(INSTALLED);
    other.is_file().then_some(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_a_program_for_guests_and_a_build_is_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = folder.path().join("bin/fslab");
        assert_eq!(installed_beside(&own), None);
        for name in ["bin", "lib/fslab"] {
            std::fs::create_dir_all(folder.path().join(name)).expect("a folder");
        }
        std::fs::write(folder.path().join("lib/fslab/fslab"), "").expect("a file");
        let found = installed_beside(&own).expect("is there");
        assert!(found.is_file());
        assert_eq!(guest_program(), Path::new(OWN));
    }
}
