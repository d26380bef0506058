//! What a place is, and what places demand of folders and privileges before they make anything.

use std::path::Path;

use fslab_model::{DeviceSpec, Facts, Failure, FailureKind};

use crate::guest::{Guest, Share};
use crate::lease::Belongings;

/// What a trial gets to work on. Dropped only after the trial's process is gone.
pub(crate) struct Prepared {
    pub(crate) device: DeviceSpec,
    pub(crate) facts: Facts,
    /// Holds a loop device open while the trial runs.
    pub(crate) holder: Option<fslab_sys::LoopDevice>,
    pub(crate) start: Start,
}

/// How the trial's process is started.
pub(crate) enum Start {
    /// As a process of this system.
    Here,
    /// As the first process of a guest, which shares a folder with us.
    InGuest(Guest, Share),
}

/// A place: it says what it is going to make, and then makes it.
pub(crate) trait Place: Send + Sync {
    /// What `prepare` will make for the trial `name`: it is leased first.
    fn belongings(&self, name: &str) -> Belongings;
    /// Makes it. What takes long asks `go_on` now and then, and ends as `Interrupted` where it must
    /// not.
    fn prepare(
        &self,
        belongings: &Belongings,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Prepared, Failure>;
}

/// Creates a folder for one trial, for this user alone.
pub(crate) fn create_folder(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(path)
        .map_err(|error| {
            Failure::new(
                FailureKind::Device,
                format!("cannot create the folder {}", path.display()),
            )
            .because(&error)
        })
}

/// Demands that `folder` is one in which this user can create files, by creating one.
pub(super) fn demand_writable(folder: &Path) -> Result<(), Failure> {
    let probe = folder.join(format!("fslab-probe-{}", std::process::id()));
    let tried = std::fs::File::create_new(&probe).and_then(|_| std::fs::remove_file(&probe));
    tried.map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                FailureKind::Permission
            }
            std::io::ErrorKind::StorageFull => FailureKind::NoSpace,
            _ => FailureKind::BadInput,
        };
        Failure::new(
            kind,
            format!("cannot write to the folder {}", folder.display()),
        )
        .because(&error)
        .hint("name another folder, one that exists and that you may write to")
    })
}

/// Demands `bytes` of room in `folder`.
pub(super) fn demand_room(folder: &Path, bytes: u64) -> Result<(), Failure> {
    use fslab_model::Bytes;
    let available = fslab_sys::available_bytes(folder).map_err(|error| {
        let text = format!("cannot ask how much room {} has", folder.display());
        Failure::new(FailureKind::Device, text).because(&error)
    })?;
    if available >= bytes {
        return Ok(());
    }
    let text = format!(
        "the folder {} has room for {}, and {} are needed",
        folder.display(),
        Bytes(available),
        Bytes(bytes)
    );
    Err(Failure::new(FailureKind::NoSpace, text).hint("make room, or take a smaller --size"))
}

pub(super) fn demand_superuser(venue: &str) -> Result<(), Failure> {
    if fslab_sys::is_superuser() {
        return Ok(());
    }
    let text = format!("the venue '{venue}' needs root: it attaches, formats and mounts devices");
    Err(Failure::new(FailureKind::Permission, text)
        .hint("run as root, or use --venue dir, which needs no privileges"))
}
