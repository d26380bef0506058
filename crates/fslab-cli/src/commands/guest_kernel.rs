//! The guest kernel that a run is to use, and how a plan names it.

use std::path::PathBuf;

use fslab_fs::GuestKernel;
use fslab_lab::Kernel;
use fslab_model::{Failure, FailureKind};

use crate::defaults;

/// The kernel that is meant where none is named.
const DEFAULT: &str = "default";

/// The kernel with this name, or the default.
pub(crate) fn find(name: Option<&str>) -> Result<Kernel, Failure> {
    Ok(defaults::cache()?.find(name.unwrap_or(DEFAULT))?)
}

/// The kernel with this name, or the default, which must have the driver of simulated disks.
pub(crate) fn find_with_simdisk(name: Option<&str>) -> Result<Kernel, Failure> {
    let kernel = find(name)?;
    if kernel.facts.simdisk {
        return Ok(kernel);
    }
    let name = &kernel.name;
    let text = format!("the guest kernel '{name}' is of an earlier fslab and simulates no disks");
    Err(Failure::new(FailureKind::Unsupported, text)
        .hint("fslab lab build makes it anew; of a tree of yours, with --source and --name"))
}

/// What names a kernel in a plan: its release for the reader, its key for good.
pub(crate) fn identity(kernel: &Kernel) -> String {
    format!("{}@{}", kernel.facts.release, kernel.facts.key)
}

/// The program of the kernel that a plan names.
pub(crate) fn binary_of(identity: &str) -> Result<PathBuf, Failure> {
    let key = identity.rsplit_once('@').map_or(identity, |(_, key)| key);
    Ok(defaults::cache()?.find(key)?.binary)
}

/// What the catalogue needs to know of a kernel; `None` where its configuration is not to be read.
pub(crate) fn for_probe(kernel: &Kernel) -> Option<GuestKernel> {
    let config = std::fs::read_to_string(kernel.config()).ok()?;
    let release = kernel.facts.release.clone();
    Some(GuestKernel::new(kernel.name.clone(), release, &config))
}
