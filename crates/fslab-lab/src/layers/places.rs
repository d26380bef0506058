//! Maps paths of this machine to paths in a guest.

use std::path::{Component, Path, PathBuf};

use crate::LabError;
use crate::root::WRITABLE;

/// Directories of the root that are links into /usr in a lab; on this machine they may be separate.
const MERGED: [&str; 6] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];
/// Directories that a guest mounts over, as it does [`WRITABLE`]; a layer's files there are hidden.
const HIDDEN: [&str; 4] = ["/dev", "/proc", "/sys", "/fslab"];
/// Directories whose files no measured program reads: documentation, translations, and
/// configuration of system services.
const LEFT_OUT: [&str; 17] = [
    "/boot",
    "/etc/cron.d",
    "/etc/cron.daily",
    "/etc/cron.weekly",
    "/etc/init.d",
    "/etc/logrotate.d",
    "/usr/lib/systemd",
    "/usr/share/bug",
    "/usr/share/doc",
    "/usr/share/doc-base",
    "/usr/share/info",
    "/usr/share/lintian",
    "/usr/share/locale",
    "/usr/share/man",
    "/usr/share/menu",
    "/usr/share/pixmaps",
    "/var",
];

/// The guest path of an absolute path of this machine.
pub(super) fn guest_path(path: &Path) -> PathBuf {
    let mut parts = path.components().skip(1);
    let first = parts.clone().next();
    let is_merged = matches!(first, Some(Component::Normal(name))
        if MERGED.iter().any(|merged| name == *merged));
    let mut guest = PathBuf::from(if is_merged { "/usr" } else { "/" });
    guest.extend(&mut parts);
    guest
}

/// True if a package's file at this guest path is left out.
pub(super) fn is_left_out(guest: &Path) -> bool {
    LEFT_OUT
        .iter()
        .chain(hidden())
        .any(|it| guest.starts_with(it))
}

fn hidden() -> impl Iterator<Item = &'static &'static str> {
    HIDDEN.iter().chain(&WRITABLE)
}

/// The hint for a file at a path that a guest uses itself.
pub(super) const ELSEWHERE: &str = "put it into another directory, for example /srv";

/// Checks that a guest can see a file at the user's `path`.
pub(super) fn ensure_visible(path: &Path) -> Result<(), LabError> {
    let is_plain = path
        .components()
        .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if !path.is_absolute() || !is_plain {
        let reason = "it is not an absolute path without '..'";
        return Err(LabError::bad_input(path, reason).into());
    }
    match hidden().find(|hidden| path.starts_with(hidden)) {
        None => Ok(()),
        Some(hidden) => {
            let reason = format!("the guest has its own directory at {hidden}");
            Err(LabError::bad_input(path, reason).hint(ELSEWHERE).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_outside_usr_are_in_usr_in_a_guest() {
        for (here, there) in [
            ("/bin/sh", "/usr/bin/sh"),
            (
                "/lib/x86_64-linux-gnu/libc.so.6",
                "/usr/lib/x86_64-linux-gnu/libc.so.6",
            ),
            ("/lib64/ld.so", "/usr/lib64/ld.so"),
            ("/usr/bin/cc", "/usr/bin/cc"),
            ("/etc/lib/x", "/etc/lib/x"),
            ("/library/x", "/library/x"),
        ] {
            assert_eq!(guest_path(Path::new(here)), Path::new(there));
        }
    }

    #[test]
    fn a_file_must_have_a_path_that_a_guest_sees() {
        ensure_visible(Path::new("/srv/x")).expect("is seen");
        for bad in ["/tmp/x", "/run/a/x", "/srv/../run/x", "x", "/dev/zero"] {
            assert!(ensure_visible(Path::new(bad)).is_err(), "{bad}");
        }
        assert!(is_left_out(Path::new("/usr/share/doc/gcc/copyright")));
        assert!(!is_left_out(Path::new("/usr/share/documents")));
    }
}
