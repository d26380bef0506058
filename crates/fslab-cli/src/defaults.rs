//! Where things are kept unless the user says otherwise: the XDG base directories.

use std::path::{Path, PathBuf};

use fslab_lab::Cache;
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
    Ok(Leases::below(&state()?))
}

/// Where leases and the locks of runs are kept.
pub(crate) fn state() -> Result<PathBuf, Failure> {
    Ok(base("XDG_STATE_HOME", ".local/state")?.join("fslab"))
}

/// The user's guest kernels.
pub(crate) fn cache() -> Result<Cache, Failure> {
    Ok(Cache::below(
        &base("XDG_CACHE_HOME", ".cache")?.join("fslab"),
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

/// `path`, absolute and without symbolic links where it exists: a trial's process has another
/// working directory, the kernel lists mounts by their true paths, and a plan is the same plan by
/// whatever way it was reached.
///
/// A path that is not UTF-8 cannot stand in a plan, and is bad input.
pub(crate) fn true_path(path: &Path) -> Result<PathBuf, Failure> {
    std::fs::canonicalize(path).map_or_else(|_| absolute_path(path), in_unicode)
}

/// `path`, absolute and otherwise as named. For devices: a name like /dev/disk/by-id/... stays true
/// after a restart, what it points to does not.
pub(crate) fn absolute_path(path: &Path) -> Result<PathBuf, Failure> {
    let absolute = std::path::absolute(path).map_err(|error| {
        Failure::new(
            FailureKind::BadInput,
            format!("cannot use the path '{}'", path.display()),
        )
        .because(&error)
    })?;
    in_unicode(absolute)
}

fn in_unicode(path: PathBuf) -> Result<PathBuf, Failure> {
    if path.to_str().is_some() {
        return Ok(path);
    }
    let text = format!("cannot use the path '{}': it is not UTF-8", path.display());
    Err(Failure::new(FailureKind::BadInput, text)
        .hint("name one that is; a plan is stored as text"))
}
