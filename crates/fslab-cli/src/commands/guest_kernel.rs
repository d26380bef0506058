//! The guest kernel that a run is to use, and how a plan names it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fslab_fs::GuestKernel;
use fslab_lab::Kernel;
use fslab_model::{Failure, FailureKind};
use fslab_sys::TrustedFolder;

use crate::defaults;

/// The kernel that is meant where none is named.
const DEFAULT: &str = "default";

/// The kernel with this name, or the default.
pub(crate) fn find(name: Option<&str>) -> Result<Kernel, Failure> {
    Ok(defaults::cache()?.find(name.unwrap_or(DEFAULT))?)
}

/// The kernel with this name, or the default, which must be safe to boot.
pub(crate) fn find_bootable(name: Option<&str>) -> Result<Kernel, Failure> {
    bootable(find(name)?)
}

/// `kernel`, where the first process of a guest can give up hostfs: else root in the guest writes
/// the host's files.
fn bootable(kernel: Kernel) -> Result<Kernel, Failure> {
    if kernel.facts.seals_hostfs {
        return Ok(kernel);
    }
    let name = &kernel.name;
    let text = format!(
        "the guest kernel '{name}' is of an earlier fslab, and lets root in the guest write the \
         files of this machine"
    );
    Err(Failure::new(FailureKind::Unsupported, text)
        .hint("fslab lab build makes it anew; of a tree of yours, with --source and --name"))
}

/// The same, which must have the driver of simulated disks, too.
pub(crate) fn find_with_simdisk(name: Option<&str>) -> Result<Kernel, Failure> {
    let kernel = find_bootable(name)?;
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
    let binary = bootable(defaults::cache()?.find(key)?)?.binary;
    demand_trusted(&binary)?;
    Ok(binary)
}

/// A kernel is a program, and is run: no other user may have put it there.
pub(crate) fn demand_trusted(binary: &Path) -> Result<(), Failure> {
    let folder = binary.parent().unwrap_or(Path::new("/"));
    let name = binary.file_name().unwrap_or_default().to_string_lossy();
    let opened = TrustedFolder::open(folder).and_then(|folder| folder.open_file_to_read(&name));
    match opened {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let text = format!("refusing to run the guest kernel {}", binary.display());
            Err(Failure::new(FailureKind::Permission, text)
                .because(&error)
                .hint("as another user, set HOME or XDG_CACHE_HOME to a folder of that user's"))
        }
        // What else is wrong with it shows when it is run.
        _ => Ok(()),
    }
}

/// What the catalogue needs to know of a kernel; `None` where its configuration is not to be read.
pub(crate) fn for_probe(kernel: &Kernel) -> Option<GuestKernel> {
    let config = std::fs::read_to_string(kernel.config()).ok()?;
    let release = kernel.facts.release.clone();
    Some(GuestKernel::new(kernel.name.clone(), release, &config))
}
