//! Default paths, in the XDG base directories, and the normalisation of paths.

use std::path::{Path, PathBuf};

use fslab_lab::Cache;
use fslab_model::{Failure, FailureKind};
use fslab_venue::Leases;

/// Directory for images: for large temporary files, and preserved across reboots on most systems.
pub(crate) const IMAGE_FOLDER: &str = "/var/tmp";

/// The user's store.
pub(crate) fn store() -> Result<PathBuf, Failure> {
    Ok(base("XDG_DATA_HOME", ".local/share")?.join("fslab/fslab.db"))
}

/// The user's leases.
pub(crate) fn leases() -> Result<Leases, Failure> {
    Ok(Leases::below(&state()?))
}

/// The directory of leases and run locks.
pub(crate) fn state() -> Result<PathBuf, Failure> {
    Ok(base("XDG_STATE_HOME", ".local/state")?.join("fslab"))
}

/// The user's labs.
pub(crate) fn cache() -> Result<Cache, Failure> {
    Ok(Cache::below(
        &base("XDG_CACHE_HOME", ".cache")?.join("fslab"),
    ))
}

/// The user's configuration file, if it is there or not; `None` without a home directory.
pub(crate) fn configuration() -> Option<PathBuf> {
    let folder = base("XDG_CONFIG_HOME", ".config").ok()?;
    Some(folder.join("fslab/config.toml"))
}

fn base(variable: &str, below_home: &str) -> Result<PathBuf, Failure> {
    if let Some(folder) = absolute(variable) {
        return Ok(folder);
    }
    fslab_sys::user_folder(below_home).ok_or_else(|| {
        let home = fslab_sys::USER_FOLDER_VARIABLE;
        Failure::new(FailureKind::BadInput, "cannot find your home directory")
            .hint(format!("set {home} or {variable}"))
    })
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// `path`, absolute and, if it exists, without symbolic links: a trial's process has another
/// working directory, the kernel lists mounts by their canonical paths, and equal plans need equal
/// paths.
///
/// A path that is not UTF-8 cannot be stored in a plan and is bad input.
pub(crate) fn canonical_path(path: &Path) -> Result<PathBuf, Failure> {
    std::fs::canonicalize(path).map_or_else(|_| absolute_path(path), in_unicode)
}

/// `path`, absolute and otherwise as given. For devices: a name like /dev/disk/by-id/... is stable
/// across reboots, its target is not.
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
        .hint("use a UTF-8 path; a plan is stored as text"))
}
