//! An interactive shell in a guest with the kernel and init of trials.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use fslab_fs::MountPlace;
use fslab_model::{Bytes, Failure, FailureKind, Subject};

use super::boot::{Clock, Guest};
use super::init::{DISK, GuestTask, MOUNT_POINT};
use super::settings::GuestSettings;
use super::share::Share;
use crate::lease::Leases;
use crate::leased_resources::LeasedResources;
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
    /// Mount the disk first, as a trial of this subject mounts it.
    pub mounted_as: Option<Subject>,
    /// Parent of the directory that guest and host share.
    pub folder: PathBuf,
    /// The directory of leases.
    pub leases: Leases,
}

/// Boots a guest with a shell on this terminal and waits until it powers off.
///
/// # Errors
/// A [`Failure`] if the directory cannot be made or the kernel cannot be started.
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
    let refusing = || {
        let text = format!("refusing to give {} to a guest", disk.display());
        Failure::new(FailureKind::BadInput, text)
    };
    match fslab_sys::file_in_use(disk) {
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
        let text = "the lease of a guest names no directory";
        return Err(Failure::new(FailureKind::BadInput, text));
    };
    make_marked_folder(folder, resources)?;
    let mut share = Share::new(folder, None);
    let start = request.mounted_as.as_ref().map(mount_line).transpose()?;
    let failed = |what: &'static str| {
        move |error: std::io::Error| Failure::new(FailureKind::Device, what).because(&error)
    };
    guest
        .provide(&share, None)
        .and_then(|()| match &request.disk {
            Some(disk) => fslab_sys::os::symlink(disk, share.image()),
            None => Ok(()),
        })
        .and_then(|()| share.write_spec(start.unwrap_or_default().as_bytes()))
        .map_err(failed("cannot prepare a guest's directory"))?;
    let mut command = guest.command(&share, GuestTask::Shell, None, 0, &|| true)?;
    let ended = command
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .status()
        .map_err(failed("cannot start the guest kernel"));
    share.remove_exchange();
    ended
}

/// Mounts the disk of a guest's shell as a trial of `subject` mounts it, in bash's language.
fn mount_line(subject: &Subject) -> Result<String, Failure> {
    let place = MountPlace {
        device: DISK,
        others: &[],
        mount_point: MOUNT_POINT,
        size: None,
    };
    let refused = |error| Failure::of_error(FailureKind::BadInput, &error);
    let entry = fslab_fs::find(subject.fs()).map_err(refused)?;
    let Some(mounting) = entry.mounting(&place, subject).map_err(refused)? else {
        return Ok(String::new());
    };
    let words: Vec<_> = mounting.words().iter().map(|it| quoted(it)).collect();
    let line = words.join(" ");
    Ok(format!("echo {}; {line}\n", quoted(&line)))
}

/// A word of bash's language.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_=/.,:+".contains(it);
    match word.chars().all(is_plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_mounts_as_a_trial_of_the_subject_does() {
        let subject = fslab_fs::parse_subject("ext4:data=journal").expect("a subject");
        let line = mount_line(&subject).expect("a command");
        let command = "mount -t ext4 -o data=journal /dev/ubda /tmp/mnt";
        assert_eq!(line, format!("echo '{command}'; {command}\n"));
    }

    #[test]
    fn a_word_of_a_shell_stays_one_word() {
        assert_eq!(quoted("size=10%"), "'size=10%'");
        assert_eq!(quoted("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(quoted(""), "''");
    }
}
