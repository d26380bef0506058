//! Where things are kept unless the user says otherwise: the XDG base directories.

use std::path::{Path, PathBuf};

use fslab_model::{Failure, FailureKind};
use fslab_venue::Leases;

/// Where images are made: a place for large temporary files that outlives a boot on most systems.
pub(crate) const IMAGE_FOLDER: &str = "/var/tmp";

/// The user's store.
pub(crate) fn store() -> Result<PathBuf, Failure> {
    Ok(base("XDG_DATA_HOME", ".local/share")?.join("fslab/fslab.db"))
}

/// The user's leases.
pub(crate) fn leases() -> Result<Leases, Failure> {
    Ok(Leases::below(
        &base("XDG_STATE_HOME", ".local/state")?.join("fslab"),
    ))
}

fn base(variable: &str, below_home: &str) -> Result<PathBuf, Failure> {
    if let Some(folder) = absolute(variable) {
        return Ok(folder);
    }
    absolute("HOME")
        .map(|home| home.join(below_home))
        .ok_or_else(|| {
            Failure::new(
                FailureKind::BadInput,
                "cannot tell where your files are kept",
            )
            .hint(format!("set HOME or {variable}"))
        })
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// `path`, absolute: a trial's process has another working directory.
pub(crate) fn absolute_path(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| {
        Failure::new(
            FailureKind::BadInput,
            format!("cannot use the path '{}'", path.display()),
        )
        .because(&error)
    })
}
