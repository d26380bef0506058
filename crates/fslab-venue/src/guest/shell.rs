//! An interactive shell in a guest with the kernel and init of trials.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use fslab_model::{Bytes, Failure, FailureKind};
use fslab_sys::DeviceNumber;

use super::boot::{Clock, Guest, GuestSettings};
use super::init::GuestTask;
use super::share::Share;
use crate::lease::{LeasedResources, Leases};
use crate::places::make_marked_folder;
use crate::undo::folder_of;

/// Settings of a shell.
#[derive(Clone, Debug)]
pub struct ShellRequest {
    /// The guest kernel.
    pub guest: GuestSettings,
    /// The guest's memory.
    pub memory: Bytes,
    /// Image used as the guest's disk; it is modified. `None` for no disk.
    pub disk: Option<PathBuf>,
    /// What the shell runs first, in bash's language; may be empty.
    pub start: String,
    /// Parent of the folder that guest and host share.
    pub folder: PathBuf,
    /// The folder of leases.
    pub leases: Leases,
}

/// Boots a guest with a shell on this terminal and waits until it powers off.
///
/// # Errors
/// A [`Failure`] if the folder cannot be made or the kernel cannot be started.
pub fn run_shell(request: &ShellRequest) -> Result<ExitStatus, Failure> {
    let guest = Guest::new(
        &request.guest,
        request.memory,
        Clock::Real { counter_hz: None },
    )?;
    request.disk.as_deref().map_or(Ok(()), ensure_unused)?;
    let name = format!("shell-{}", std::process::id());
    let resources = LeasedResources {
        scratch: Some(folder_of(&name, &request.folder)),
        ..LeasedResources::default()
    };
    let lease = request.leases.take(&name, resources)?;
    let ended = run_in(request, &guest, lease.resources());
    let undone = lease.undo();
    let ended = ended?;
    undone.map(|_| ended)
}

/// Checks that the disk is not in use, since the guest will write to it.
fn ensure_unused(disk: &Path) -> Result<(), Failure> {
    let user = match DeviceNumber::of(disk) {
        Ok(number) => number.in_use(disk),
        Err(_) => fslab_sys::image_in_use(disk),
    };
    let refusing = || {
        let text = format!("refusing to give {} to a guest", disk.display());
        Failure::new(FailureKind::BadInput, text)
    };
    match user {
        Ok(None) => Ok(()),
        Ok(Some(user)) => Err(refusing().because(&user).hint("release it first")),
        Err(error) => Err(refusing().because(&error)),
    }
}

fn run_in(
    request: &ShellRequest,
    guest: &Guest,
    resources: &LeasedResources,
) -> Result<ExitStatus, Failure> {
    let Some(folder) = &resources.scratch else {
        let text = "the lease of a guest names no folder";
        return Err(Failure::new(FailureKind::BadInput, text));
    };
    make_marked_folder(folder, resources)?;
    let mut share = Share::new(folder, None);
    let failed = |what: &'static str| {
        move |error: std::io::Error| Failure::new(FailureKind::Device, what).because(&error)
    };
    guest
        .provide(&share, None)
        .and_then(|()| match &request.disk {
            Some(disk) => fslab_sys::os::symlink(disk, share.image()),
            None => Ok(()),
        })
        .and_then(|()| share.write_spec(request.start.as_bytes()))
        .map_err(failed("cannot prepare a guest's folder"))?;
    let mut command = guest.command(&share, GuestTask::Shell, None, 0)?;
    let ended = command
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .status()
        .map_err(failed("cannot start the guest kernel"));
    share.remove_exchange();
    ended
}
