//! The interface of places, and their checks of directories and privileges.

use std::fs::File;
use std::path::Path;

use fslab_model::{Bytes, DeviceIdentity, DeviceSpec, Facts, Failure, FailureKind};
use fslab_sys::{ProcessLimit, WorkFolder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::guest::{Guest, Share};
use crate::leased_resources::LeasedResources;
use crate::time_limit::{bounded_by, limit_of, within_limit};

/// A prepared device. Dropped only after the trial's process has ended.
pub(crate) struct Prepared {
    pub(crate) device: DeviceSpec,
    pub(crate) facts: Facts,
    /// Keeps loop devices open while the trial runs.
    pub(crate) holders: Vec<fslab_sys::LoopDevice>,
    pub(crate) start: Start,
}

/// Where the trial's process is started.
pub(crate) enum Start {
    /// As a process of this system.
    Here,
    /// In a guest, with a shared directory.
    InGuest(Box<Guest>, Share),
}

/// Context of a preparation.
pub(crate) struct Preparing<'a> {
    /// The disks of the subject.
    pub(crate) disks: usize,
    /// The resources that the place has announced.
    pub(crate) resources: &'a LeasedResources,
    /// The lease's file, held by any process that may hang.
    pub(crate) lease: &'a File,
    /// False once the trial is cancelled.
    pub(crate) go_on: &'a dyn Fn() -> bool,
}

impl Preparing<'_> {
    /// Runs `work`, which accesses devices and directories, within a time limit; `what` names it in
    /// errors.
    pub(crate) fn bounded<T: Serialize + DeserializeOwned>(
        &self,
        what: &str,
        work: impl FnOnce(&dyn Fn()) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        bounded_by(&limit_of(self.lease, self.go_on), what, work)
    }
}

/// A place announces its resources, then makes them.
pub(crate) trait Place: Send + Sync {
    /// The resources that `prepare` will make for the trial `name` on `disks`; leased first.
    fn resources(&self, name: &str, disks: usize) -> LeasedResources;
    /// Makes the resources; long operations end with `Interrupted` if the trial is cancelled.
    fn prepare(&self, preparing: &Preparing) -> Result<Prepared, Failure>;
    /// Checks that the place still works. If not, no further trial can run.
    fn check(&self) -> Result<(), Failure> {
        Ok(())
    }
    /// The directory of the files that are the disks of trials; `None` if they have others.
    fn images(&self) -> Option<&Path> {
        None
    }
    /// Identity of the device; empty if each trial has a separate one.
    fn identity(&self) -> DeviceIdentity {
        DeviceIdentity::default()
    }
}

/// Makes the directory of a lease, accessible to this user alone, with the lease's mark.
pub(crate) fn make_marked_folder(path: &Path, resources: &LeasedResources) -> Result<(), Failure> {
    let mark = resources.mark.as_deref().unwrap_or_default();
    WorkFolder::make(path, mark)
        .map(drop)
        .map_err(|error| Failure::at(kind_of(&error), "create the directory", path, &error))
}

/// Makes a directory inside one that was made for a trial.
pub(crate) fn create_folder(path: &Path) -> Result<(), Failure> {
    use fslab_sys::os::DirBuilderExt;
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(path)
        .map_err(|error| Failure::at(kind_of(&error), "create the directory", path, &error))
}

fn kind_of(error: &std::io::Error) -> FailureKind {
    match error.kind() {
        std::io::ErrorKind::StorageFull => FailureKind::NoSpace,
        _ => FailureKind::Device,
    }
}

/// Checks that this user can create files in `folder`, that it has `bytes` free, and that it does
/// not hang.
pub(super) fn ensure_folder(folder: &Path, bytes: u64) -> Result<(), Failure> {
    within_limit(&format!("use the directory {}", folder.display()), |_| {
        ensure_writable(folder)?;
        ensure_room(folder, bytes)
    })
}

/// Checks only that `folder` does not hang: a trial may have filled it.
pub(super) fn ensure_answer(folder: &Path) -> Result<(), Failure> {
    match ensure_folder(folder, 0) {
        Err(failure) if failure.kind == FailureKind::Timeout => Err(failure),
        _ => Ok(()),
    }
}

/// Checks that this user can create files in `folder`, by creating one.
fn ensure_writable(folder: &Path) -> Result<(), Failure> {
    fslab_sys::try_create_in(folder).map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                FailureKind::Permission
            }
            std::io::ErrorKind::StorageFull => FailureKind::NoSpace,
            _ => FailureKind::BadInput,
        };
        Failure::at(kind, "write to the directory", folder, &error)
            .hint("name an existing directory that you can write to")
    })
}

/// Checks that `folder` has `bytes` free.
fn ensure_room(folder: &Path, bytes: u64) -> Result<(), Failure> {
    let available = fslab_sys::available_bytes(folder).map_err(|error| {
        let text = format!("cannot determine the free space of {}", folder.display());
        Failure::new(FailureKind::Device, text).because(&error)
    })?;
    if available >= bytes {
        return Ok(());
    }
    let text = format!(
        "the directory {} has {} free, but {} are needed",
        folder.display(),
        Bytes(available),
        Bytes(bytes)
    );
    Err(Failure::new(FailureKind::NoSpace, text).hint("free space, or use a smaller --size"))
}

/// What a venue needs of the limits on this process, which its trials inherit.
pub(super) struct NeededLimits {
    /// Bytes of the largest file.
    pub(super) file: Bytes,
    /// Bytes of the address space of a trial's process.
    pub(super) address_space: Bytes,
}

/// Open files with which a run of one trial at a time works.
const OPEN_FILES: u64 = 24;

/// Checks the limits on this process before any trial, which would fail with the kernel's errors.
pub(super) fn ensure_limits(needed: &NeededLimits) -> Result<(), Failure> {
    let limits = [
        (
            ProcessLimit::FileSize,
            needed.file.0,
            "bytes of a file",
            "ulimit -f unlimited",
        ),
        (
            ProcessLimit::AddressSpace,
            needed.address_space.0,
            "bytes of memory",
            "ulimit -v unlimited",
        ),
        (
            ProcessLimit::OpenFiles,
            OPEN_FILES,
            "open files",
            "ulimit -n 1024",
        ),
    ];
    for (limit, wanted, what, remedy) in limits {
        if let Some(most) = fslab_sys::process_limit(limit).filter(|most| *most < wanted) {
            let text =
                format!("the limit of this process is {most} {what}, but a trial needs {wanted}");
            return Err(Failure::new(FailureKind::Host, text).hint(format!("raise it: {remedy}")));
        }
    }
    Ok(())
}

pub(super) fn ensure_superuser(venue: &str) -> Result<(), Failure> {
    if fslab_sys::is_superuser() {
        return Ok(());
    }
    let text = format!("the venue '{venue}' needs root: it attaches, formats and mounts devices");
    Err(Failure::new(FailureKind::Permission, text)
        .hint("run as root, or use --venue dir, which needs no privileges"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The probe's name had been predictable.
    #[test]
    fn a_folder_is_probed_with_an_unpredictable_name_and_nothing_stays() {
        let folder = tempfile::tempdir().expect("a directory");
        let guessed = format!("fslab-probe-{}", std::process::id());
        fs::create_dir(folder.path().join(&guessed)).expect("in the way");
        ensure_folder(folder.path(), 1).expect("writable");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
        let refused = ensure_folder(&folder.path().join("none"), 1).expect_err("not there");
        assert_eq!(refused.kind, FailureKind::BadInput);
    }
}
